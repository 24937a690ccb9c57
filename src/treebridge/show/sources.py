"""The ranking of further treebanks on the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from treebridge.recipes.sources import Candidate, Ranking

_ADVICE = {True: "use it", False: "leave it out", None: ""}


def show_ranking(ranking: Ranking) -> None:
    """Print the candidates, the most useful first, and which of them to use."""
    console = Console(highlight=False)
    table = Table(
        "treebank",
        "sentences",
        "word order",
        "labels",
        "its bridge",
        "gain",
        "expect LAS",
        "",
        box=None,
    )
    for column in table.columns[1:7]:
        column.justify = "right"
    for one in ranking.candidates:
        table.add_row(
            one.source.name,
            f"{len(one.source.trees):,}",
            f"{one.order:.0f} %",
            f"{one.labels:.0f} %",
            "" if one.bridge is None else f"{one.bridge:.0f} %",
            _gain(one),
            "" if one.expected is None else f"{one.expected:.0f}",
            _ADVICE[one.helps],
        )
    console.print(table)
    how = (
        "gain: more carried arcs found in held-out target sentences after a short lesson (95 %)"
        if ranking.judged
        else "not tried out: --bitext measures what each would teach; --treebank compares the "
        "word order of the first treebank"
    )
    console.print(
        "word order: arcs of the target that point the same way in the treebank; labels: how much "
        f"they overlap; its bridge: carried arcs found across it; {how}"
    )
    used = [one for one in ranking.candidates if one.helps]
    if used:
        options = " ".join(f"--also {one.also.treebank}={one.also.bridge}" for one in used)
        console.print(f"\n  treebridge train … {options}", soft_wrap=True)
    elif all(one.helps is False for one in ranking.candidates):
        console.print("\nNone of them would help: train on the first treebank alone.")


def _gain(one: Candidate) -> str:
    if one.gain is None:
        return ""
    return f"{one.gain.gain:+.1f} ({one.gain.low:+.1f} to {one.gain.high:+.1f})"


def as_dict(ranking: Ranking) -> dict[str, Any]:
    """The figures for `--json`."""
    return {
        "target": ranking.target,
        "judged": ranking.judged,
        "sources": [
            {
                "treebank": str(one.also.treebank),
                "bridge": str(one.also.bridge),
                "language": one.source.bridge.made.get("target_language"),
                "licence": one.source.licence,
                "sentences": len(one.source.trees),
                "order": one.order,
                "labels": one.labels,
                "bridge_LAS": one.bridge,
                "gain": one.gain and one.gain.gain,
                "gain_low": one.gain and one.gain.low,
                "gain_high": one.gain and one.gain.high,
                "expected_LAS": one.expected,
                "helps": one.helps,
            }
            for one in ranking.candidates
        ],
    }
