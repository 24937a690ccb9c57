"""What people see of a refinement."""

from __future__ import annotations

from treebridge.recipes.refine import Refined


def show_refined(refined: Refined) -> None:
    """One line: where the parser is and what it learned from."""
    print(f"{refined.folder}: {_summary(refined)}")


def _summary(refined: Refined) -> str:
    made = refined.refinement
    if made is None:
        return "already refined from the same model, data and settings"
    if not made.sentences:
        return "learned from your trees"
    first, best = made.history[0]["held_out"], min(entry["held_out"] for entry in made.history)
    return (
        f"learned from {made.sentences:,} sentences; loss on held-out ones {first:.3f} before, "
        f"{best:.3f} after"
    )
