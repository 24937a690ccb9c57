"""Results of refining on the terminal."""

from __future__ import annotations

from rich.console import Console

from treebridge.recipes.refine import Refined
from treebridge.show.advice import show_advice


def show_refined(refined: Refined) -> None:
    """Print the folder, what the parser learned from, and what to do next."""
    console = Console(highlight=False)
    console.print(f"{refined.folder}: {_summary(refined)}", soft_wrap=True)
    if refined.refinement is not None:
        show_advice(refined.advice, console, refined.folder, meaning=False)


def _summary(refined: Refined) -> str:
    made = refined.refinement
    if made is None:
        return "already refined from the same model, data and settings"
    if not made.sentences:
        return "refined on your trees"
    learned = f"refined on {made.sentences:,} sentences"
    if "agreement" in made.history[0]:
        first, best = made.history[0]["agreement"], max(e["agreement"] for e in made.history[1:])
        arcs = f"of the arcs carried over from held-out source trees ({first:.1f} % before)"
        return f"{learned}; finds {best:.1f} % {arcs}"
    first, best = made.history[0]["held_out"], min(entry["held_out"] for entry in made.history)
    change = "lower is better" if best < first else "refining did not help"
    return f"{learned}; held-out loss {first:.3f} before, {best:.3f} after ({change})"
