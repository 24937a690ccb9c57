"""Ablation results as a table, files and a learning curve."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from treebridge.corpus.files import write_text
from treebridge.experiment.ablation import Outcome

HEAD = ("group", "choice", "UAS", "LAS", "vs. default", "anchors", "held-out P@1")


def show_ablation(outcomes: Sequence[Outcome]) -> None:
    """Print the table of variants."""
    grid = Grid(*HEAD, box=None)
    for row in rows(outcomes):
        grid.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(grid)


def rows(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """The cells of each variant."""
    base = outcomes[0].mean("LAS") if outcomes[0].results else float("nan")
    out = []
    for outcome in outcomes:
        start = [outcome.variant.group, outcome.variant.choice]
        if outcome.failed is not None:
            out.append([*start, "failed", outcome.failed, "", "", ""])
            continue
        quality: dict[str, Any] = outcome.quality
        found = quality.get("target_to_source") or {}
        las = outcome.mean("LAS")
        out.append([
            *start, f"{outcome.mean('UAS'):.2f}", f"{las:.2f}", f"{las - base:+.2f}",
            f"{quality['anchors']:,}", f"{found['csls_p1']:.1f}" if found else "",
        ])  # fmt: skip
    return out


def save_ablation(outcomes: Sequence[Outcome], folder: Path, about: dict[str, Any]) -> None:
    """Write Markdown, JSON and, if several sizes were run, a learning curve."""
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(row) + " |" for row in rows(outcomes)]
    with write_text(folder / "ablation.md") as stream:
        stream.write("\n".join(lines) + "\n")
    data = [
        {"group": o.variant.group, "choice": o.variant.choice, "failed": o.failed,
         "scores": {str(r.seed): r.scores for r in o.results},
         "fit": asdict(o.variant.bridge.fit), "quality": o.quality}
        for o in outcomes
    ]  # fmt: skip
    with write_text(folder / "ablation.json") as stream:
        json.dump({"about": about, "variants": data}, stream, indent=1, ensure_ascii=False)
    sizes = [o for o in outcomes if o.variant.group == "pairs" and o.variant.pairs and o.results]
    if len(sizes) > 1:
        _draw_curve(sizes, folder)


def _draw_curve(sizes: Sequence[Outcome], folder: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return  # the numbers are in the table
    figure = Figure(figsize=(4.8, 3.2), layout="constrained")
    axes = figure.subplots()
    pairs = [o.variant.pairs or 0 for o in sizes]
    for metric in ("UAS", "LAS"):
        axes.plot(pairs, [o.mean(metric) for o in sizes], marker="o", label=metric)
    axes.set_xscale("log")
    axes.set_xticks(pairs, [o.variant.choice for o in sizes])
    axes.minorticks_off()
    axes.set(xlabel="sentence pairs", ylabel="percent")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    for ending in ("png", "svg"):
        figure.savefig(folder / f"learning-curve.{ending}", dpi=150)
