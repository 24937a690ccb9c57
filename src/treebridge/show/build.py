"""Build results on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from treebridge.bridge.card import agreement_in_words, forecast_in_words
from treebridge.parse.verdict import bridge_verdict, parser_verdict
from treebridge.recipes.build import Built
from treebridge.show.advice import show_advice


def show_built(built: Built) -> None:
    """Print the steps with their times, the quality of the parser, and what to do next."""
    console = Console(highlight=False)
    if built.found:
        console.print(
            f"{built.folder}: already built from the same treebank, bitext, encoders and settings"
        )
        return
    grid = Table("step", "seconds", "share", "", box=None)
    for column in grid.columns[1:3]:
        column.justify = "right"
    total = sum(built.seconds.values())
    for name, spent in built.seconds.items():
        note = "reused" if built.reused(name) else ""
        grid.add_row(name, f"{spent:,.0f}", f"{100 * spent / total:.0f} %", note)
    grid.add_row("total", f"{total:,.0f}", "", "")
    console.print(grid)
    scores = built.parser.scores
    quality = built.parser.bridge.quality if built.parser.bridge else {}
    judged = [
        f"trees: {agreement_in_words(quality)}",
        f"forecast: {forecast_in_words(quality)}{_hint(quality)}",
    ]
    for fact in (
        f"\n{built.folder}: parser, bridge and encoder in one folder ({built.size / 1e6:,.0f} MB)",
        f"source trees: UAS {scores['UAS']:.2f}, LAS {scores['LAS']:.2f} on dev; expect less "
        "in the target language",
        *([f"parser: {verdict}"] if (verdict := parser_verdict(scores)) else []),
        f"bridge: {bridge_verdict(quality, scores)}",
        *([f"map: {quality['choice']}"] if "choice" in quality else []),
        *(judged if "projected" in quality else []),
        f"\n  treebridge parse --model {built.folder} text.txt",
        f"  treebridge evaluate --model {built.folder} gold.conllu\n",
    ):
        console.print(fact)
    show_advice(built.advice, console, built.folder, meaning=False)


def _hint(quality: Mapping[str, Any]) -> str:
    """How to get a forecast for another text."""
    given = (quality.get("forecast") or {}).get("text")
    return "" if given else "; --text FILE forecasts for your own"
