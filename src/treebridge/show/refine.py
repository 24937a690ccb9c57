"""Results of refining on the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from treebridge.parse.cross_validate import ENOUGH, Validation
from treebridge.recipes.refine import Refined
from treebridge.show.advice import show_advice


def show_refined(refined: Refined) -> None:
    """Print the folder, what the parser learned from, and what to do next."""
    console = Console(highlight=False)
    console.print(f"{refined.folder}: {_summary(refined)}", soft_wrap=True)
    if refined.validation is not None:
        _show_validation(refined.validation, console)
    if refined.refinement is not None:
        show_advice(refined.advice, console, refined.folder, meaning=False)


def as_dict(refined: Refined) -> dict[str, Any]:
    """The figures for `--json`."""
    made, validation = refined.refinement, refined.validation
    return {
        "folder": str(refined.folder),
        "sentences": made.sentences if made else None,
        "new_labels": list(made.new_labels) if made else None,
        "tuned": made.tuned if made else None,
        "history": made.history if made else None,
        "validation": validation.figures() if validation else None,
    }


def _show_validation(found: Validation, console: Console) -> None:
    """What the user's trees are worth, judged by the trees themselves."""
    if not found.folds:
        return
    console.print(
        f"On your {found.trees} trees, each parsed after refining on others ({found.folds} folds):"
    )
    for name, gain in found.gains.items():
        ends = found.intervals.get(name)
        between = f"  (95 %: {ends[0]:+.1f} to {ends[1]:+.1f})" if ends else ""
        before, after = found.before[name], found.after[name]
        console.print(f"  {name:4}  {before:5.1f} → {after:5.1f}  {gain:+5.1f}{between}")
    if not found.intervals:
        console.print(f"  With {ENOUGH} trees there would be an interval.")


def _summary(refined: Refined) -> str:
    made = refined.refinement
    if made is None:
        return "already refined from the same model, data and settings"
    if not made.sentences:
        return f"refined{', the encoder too,' if made.tuned else ''} on your trees"
    if len(made.history) == 1:
        return (
            f"tags by form and features learned from {made.sentences:,} sentences, trees as before"
        )
    encoder = ", the encoder too" if made.tuned else ""
    learned = f"refined{encoder} on {made.sentences:,} sentences"
    if "agreement" in made.history[0]:
        first, best = made.history[0]["agreement"], max(e["agreement"] for e in made.history[1:])
        arcs = f"of the arcs carried over from held-out source trees ({first:.1f} % before)"
        return f"{learned}; finds {best:.1f} % {arcs}"
    first, best = made.history[0]["held_out"], min(entry["held_out"] for entry in made.history)
    change = "lower is better" if best < first else "refining did not help"
    return f"{learned}; held-out loss {first:.3f} before, {best:.3f} after ({change})"
