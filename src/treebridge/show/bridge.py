"""Bridge quality and senses on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.card import agreement_in_words, forecast_in_words


def as_dict(bridge: Bridge) -> dict[str, Any]:
    """Settings, quality, agreement and forecast, as printed by `--json`."""
    judged = {name: bridge.quality.get(name) for name in ("projected", "forecast")}
    return {"made": bridge.made, "quality": bridge.quality, **judged}


def show_bridge(bridge: Bridge, path: str | Path) -> None:
    """Print the quality of a bridge."""
    q = bridge.quality
    console = Console()
    table = Table(
        title=Text(f"{path}: bridge", "bold"), title_justify="left", box=None, show_header=False
    )
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    rows = {
        "from": bridge.target.encoder,
        "into": bridge.into.encoder,
        "links": f"{q['links']:,}, on {100 * q['linked_target_words']:.0f} % of the target words",
        "occurrences kept": f"{q['occurrences']:,}, of {q['types']:,} word types",
        "anchors": f"{q['anchors']:,}; {q['types_with_several_senses']:,} with several senses",
        "anisotropy, target": _change(q["anisotropy"], "target"),
        "anisotropy, source": _change(q["anisotropy"], "source"),
        "cosine of anchors": f"{q['anchor_cosine']:.3f}",
        "held-out cosine": f"{q['cosine_unmapped']:.3f} unmapped → {q['cosine']:.3f}",
        "target → source": _retrieval(q["target_to_source"]),
        "source → target": _retrieval(q["source_to_target"]),
        "unmapped": _retrieval(q["unmapped"]),
        "map": q.get("choice", describe_map(bridge)),
        "verdict": q.get("verdict", "unknown, because no sentence pairs were held out"),
    }
    if "projected" in q:
        rows |= {"trees": agreement_in_words(q), "forecast": forecast_in_words(q)}
    for name, value in rows.items():
        table.add_row(name, value)
    console.print(table)


def describe_map(bridge: Bridge) -> str:
    """The map of a bridge that was not chosen by trees."""
    translation = " with a translation" if bridge.translation.any() else ""
    return f"{bridge.made.get('map', 'unknown')}{translation}"


def _change(figures: dict[str, float], side: str) -> str:
    return f"{figures[side]:.3f} → {figures[f'{side}_isotropic']:.4f}"


def _retrieval(figures: dict[str, float]) -> str:
    if not figures:
        return "not comparable (different dimensions)"
    return (
        f"P@1 {figures['nn_p1']:.1f} %, P@5 {figures['nn_p5']:.1f} %; "
        f"with CSLS {figures['csls_p1']:.1f} % and {figures['csls_p5']:.1f} %"
    )


def show_word(word: str, senses: list[dict[str, Any]], bridge: Bridge) -> None:
    """Print the senses of a word in a bridge."""
    console = Console()
    if not senses:
        console.print(f"[bold]{word}[/] is not an anchor of this bridge: {_why_none(bridge)}")
        return
    table = Table("sense", "size", "source words", "typical contexts", box=None, header_style="dim")
    for sense in senses:
        sources = ", ".join(f"{w} {n}" for w, n in sense["source"].items())
        table.add_row(
            str(sense["sense"]), f"{sense['size']:,}", sources, Text("\n".join(sense["contexts"]))
        )
    console.print(f"[bold]{word}[/]")
    console.print(table)


def _why_none(bridge: Bridge) -> str:
    """Why a word may be missing, given the settings of the bridge."""
    reasons = f"it has fewer than {bridge.made.get('collect_min_per_type', 5)} links"
    if bridge.made.get("collect_anchor_words") == "whole":
        reasons += ", or is not a single piece of the vocabulary"
    return reasons
