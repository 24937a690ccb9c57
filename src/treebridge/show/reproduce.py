"""The steps of `reproduce --dry-run` on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as Grid

from treebridge.experiment.reproduce import Steps


def show_steps(steps: Steps) -> None:
    """Print the files and models needed, where they come from, and the steps to run."""
    console = Console(highlight=False)
    grid = Grid("name", "location", "licence", "size", box=None, title="Files and models needed",
                title_justify="left", title_style="bold")  # fmt: skip
    for need in steps.needs:
        if need.there:
            grid.add_row(need.what, f"found: {need.path}", need.licence, "")
        else:
            size = need.size()
            address = need.remote.url if need.remote else "the Hugging Face hub"
            shown = f"{size / 1e6:,.1f} MB" if size else "unknown"
            grid.add_row(need.what, f"to download: {address}", need.licence, shown)
    console.print(grid)
    console.print(
        f"\nSteps: {steps.parsers} parsers ({steps.spaces} input spaces, "
        f"{f'{steps.taggers} to tag text, ' if steps.taggers else ''}"
        f"seeds {', '.join(map(str, steps.seeds))}); align and collect {steps.languages} bitexts; "
        f"{steps.results} results."
    )
    for system in steps.systems:
        console.print(f"  {system.name:21} {system.about}")
