"""Alignment results on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from treebridge.recipes.align import FIGURES, Alignment


def show_alignment(alignment: Alignment, console: Console) -> None:
    """Print one line of figures; with gold links, also the scores of every symmetrization."""
    figures = alignment.as_dict()
    console.print(
        f"{alignment.aligner}: {alignment.counts}; {alignment.links.total:,} links, "
        f"{alignment.seconds:.1f} s, {figures['words_per_second']:,} words per second",
        highlight=False,
        soft_wrap=True,
    )
    if not alignment.scores:
        return
    table = Table("symmetrization", "", "precision", "recall", "AER", "links", box=None)
    for column in table.columns[2:]:
        column.justify = "right"
    for row in alignment.scores:
        cells = (f"{row[key]:.1f}" for key in FIGURES)
        kind = "one-to-one" if row["one_to_one"] else ""
        table.add_row(row["links"], kind, *cells, f"{row['number']:,}")
    console.print(table)
