"""Links → bridge."""
