"""What scores mean and what to do next, on the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from treebridge.recipes.advice import Action, Advice

_COMMANDS: dict[Action, str] = {
    "refine": "treebridge refine --model {model} --bitext BITEXT --treebank TREEBANK "
    "-o {model}-refined",
    "trees": "treebridge refine --model {model} --trees corrected.conllu --treebank TREEBANK "
    "-o {model}-corrected",
}


def show_advice(
    advice: Advice, console: Console, model: str | Path | None = None, *, meaning: bool = True
) -> None:
    """Print the meaning and the next step; with `model`, also the command to type."""
    if meaning:
        console.print(f"This is {advice.meaning}.", highlight=False)
    console.print(f"Next: {advice.next}", highlight=False)
    if model is not None and advice.action in _COMMANDS:
        command = _COMMANDS[advice.action].format(model=model)
        console.print(f"\n  {command}", highlight=False, soft_wrap=True)
