"""Figure 3 of the paper, as pictures and as numbers."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from treebridge.corpus.files import write_text
from treebridge.errors import MissingExtra
from treebridge.experiment.anisotropy import PairOfCones

AFTER = 5  # iterations, as in the paper


def save_anisotropy(found: dict[str, PairOfCones], folder: Path) -> None:
    """Write the figures as pictures and numbers."""
    with write_text(folder / "anisotropy.json") as stream:
        json.dump({code: asdict(pair) for code, pair in found.items()}, stream, indent=1)
    pairs = {code: pair for code, pair in found.items() if pair.failed is None}
    for name, draw in (("anisotropy-pairs", draw_pairs), ("anisotropy-iterations", draw_rounds)):
        figure = draw(pairs)
        for ending in ("png", "svg"):
            figure.savefig(folder / f"{name}.{ending}", dpi=150)


def show_anisotropy(found: dict[str, PairOfCones]) -> None:
    """Print the anisotropy of both sides of every pair, before and after normalization."""
    console = Console(highlight=False)
    grid = Grid("pair", "side", "encoder", "before", f"after {AFTER} iterations", box=None)
    for code, pair in found.items():
        for cone in (pair.target, pair.source):
            if cone:
                before, after = cone.degrees[0], cone.degrees[AFTER]
                after = round(after, 4) + 0.0  # no negative zero
                grid.add_row(f"en-{code}", cone.name, cone.encoder, f"{before:.3f}", f"{after:.4f}")
    console.print(grid)
    for code, pair in found.items():
        if pair.failed:
            console.print(f"failed: en-{code}: {pair.failed}")


def figure_class() -> Any:
    """Matplotlib's Figure, which needs no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "plot", "a figure") from None
    return Figure


def draw_pairs(pairs: dict[str, PairOfCones]) -> Any:
    """Figure 3a: anisotropy of each language pair, both sides, before and after."""
    figure = figure_class()(figsize=(max(4.5, 1.5 + 1.1 * len(pairs)), 3.4), layout="constrained")
    axes = figure.subplots()
    bars = (
        ("target", 0, "C0", "target, before"),
        ("target", AFTER, "#a6cee3", "target, after"),
        ("source", 0, "C1", "English, before"),
        ("source", AFTER, "#fdd0a2", "English, after"),
    )
    width = 0.2
    for position, (side, iteration, colour, label) in enumerate(bars):
        heights = [getattr(pair, side).degrees[iteration] for pair in pairs.values()]
        at = [x + (position - 1.5) * width for x in range(len(pairs))]
        drawn = axes.bar(at, heights, width, color=colour, label=label)
        # Tiny negative values would push their labels below the axis.
        drawn.datavalues = [max(height, 0.0) for height in heights]
        axes.bar_label(drawn, fmt="%.2f", fontsize=7, padding=1)
    axes.set_xticks(range(len(pairs)), [f"en–{code}" for code in pairs])
    axes.set_ylabel("mean cosine of two random words")
    axes.axhline(0, color="black", linewidth=0.6)
    axes.margins(y=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    return figure


def draw_rounds(pairs: dict[str, PairOfCones]) -> Any:
    """Figure 3b: anisotropy by iteration, one line per language; on the right, in log scale."""
    figure = figure_class()(figsize=(8, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    cones = [pair.target for pair in pairs.values()] + [next(iter(pairs.values())).source]
    for cone in cones:
        if cone is None:
            continue
        style = "k--" if cone is cones[-1] else "-"
        for axes, values in ((left, cone.degrees), (right, [abs(x) for x in cone.degrees])):
            axes.plot(values, style, marker="o", markersize=3, label=cone.name)
    right.set_yscale("log")
    left.set_ylabel("mean cosine of two random words")
    right.set_ylabel("absolute value, log scale")
    for axes in (left, right):
        axes.axvline(AFTER, color="grey", linewidth=0.8, linestyle=":")
        axes.set_xlabel("iterations (5 in the paper)")
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, fontsize=8)
    return figure
