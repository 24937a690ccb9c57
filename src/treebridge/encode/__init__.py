"""Words → vectors."""
