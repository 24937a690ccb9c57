"""The card of a bridge: the README.md in its folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from treebridge.bridge.space import cite

if TYPE_CHECKING:
    from treebridge.bridge.bridge import Bridge

Quality = Mapping[str, Any]
JUDGED = ("projected", "forecast", "calibration")  # what trees say; `judged_lines` has it
TRIED = ("choice", "tried")
FREQUENT = 10  # labels listed


def bridge_card(name: str, bridge: Bridge) -> str:
    """Describe a bridge and its quality, in Markdown."""
    target, into = bridge.target.origin(), bridge.into.origin()
    words = {k: v for k, v in bridge.quality.items() if k not in (*JUDGED, *TRIED, "profiles")}
    return "\n".join(
        [
            f"# {name}: a treebridge bridge",
            "",
            f"Maps vectors of {cite(target)} into the space of {cite(into)}.",
            "",
            *table(["data and settings", ""], bridge.made.items()),
            "",
            *table(["quality on held-out sentence pairs", ""], _rows(words)),
            "",
            *_tried_lines(bridge.quality),
            *judged_lines(bridge.quality),
        ]
    )


def judged_lines(quality: Quality) -> list[str]:
    """What trees say: agreement, forecast and calibration; nothing if there was no parser."""
    if not (projected := quality.get("projected")):
        return []
    lines = [
        "## Judged by trees",
        "",
        f"The parser {agreement_in_words(quality)}; {forecast_in_words(quality)}.",
        "",
        *table(
            ["label", "carried arcs", "found, %"],
            (
                (label, one["arcs"], one["LAS"])
                for label, one in list(projected["labels"].items())[:FREQUENT]
            ),
        ),
        "",
    ]
    heat = quality.get("calibration", {})
    if "reliability" in heat:
        lines += [
            f"Confidence is calibrated on the same arcs (temperature {heat['arc']:.2f} for arcs, "
            f"{heat['label']:.2f} for labels); its expected error is {heat['ECE']:.1f} % "
            f"({heat['ECE_before']:.1f} % before).",
            "",
            *table(
                ["confidence, %", "correct arcs, %", "arcs"],
                (
                    (100 * one["confidence"], 100 * one["accuracy"], one["arcs"])
                    for one in heat["reliability"]
                ),
            ),
            "",
        ]
    return lines


def agreement_in_words(quality: Quality) -> str:
    """How many of the carried arcs are found, in one sentence."""
    if not (found := quality.get("projected")):
        return "not judged: there was no parser, or too few held-out sentence pairs"
    return (
        f"finds {found['LAS']:.1f} % of the {found['arcs']:,} arcs carried over from held-out "
        f"source trees (95 % {found['LAS_low']:.1f} to {found['LAS_high']:.1f}; heads alone "
        f"{found['UAS']:.1f} %)"
    )


def forecast_in_words(quality: Quality) -> str:
    """The LAS to expect, in a few words."""
    if not (expected := quality.get("forecast")):
        return "none"
    text = expected["text"] or "text like the bitext"
    return f"expect LAS {expected['LAS']:.0f} ± {expected['error']:.0f} on {text}"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """A Markdown table; figures have one decimal."""
    cells = ([f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in r] for r in rows)
    return [_row(head), "|" + "---|" * len(head), *map(_row, cells)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _tried_lines(quality: Quality) -> list[str]:
    if not (tried := quality.get("tried")):
        return []
    rows = (
        (
            f"**{one['map']}**" if one["chosen"] else one["map"],
            "yes" if one["translation"] else "no",
            one["means"],
            one["LAS"],
            f"{one['gain']:+.1f} ({one['gain_low']:+.1f} to {one['gain_high']:+.1f})",
        )
        for one in tried
    )
    head = ["map", "translation", "target means", "carried arcs found, %", "gain (95 %)"]
    return ["## Maps tried", "", f"Chosen: {quality['choice']}.", "", *table(head, rows), ""]


def _rows(quality: Quality, prefix: str = "") -> list[tuple[str, str]]:
    """Nested figures as rows of a table."""
    rows: list[tuple[str, str]] = []
    for key, value in quality.items():
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            rows += _rows(value, f"{name}: ")
        else:
            rows.append((name, f"{value:.3f}" if isinstance(value, float) else str(value)))
    return rows
