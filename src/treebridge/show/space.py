"""A picture of a vector space: words of two languages as points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treebridge.show.svg import FAMILY, clean

WIDTH, HEIGHT, EDGE = 420, 320, 26
COLOURS = ("#c2562d", "#2f6fb0", "#3f8f4f", "#8a5aa8")  # one per translation
Rows = NDArray[np.floating]


@dataclass(frozen=True)
class Point:
    """An occurrence of a word, with its language, translation and sentence."""

    target: bool  # or a source word
    group: int  # index of its translation
    note: str


def flat(vectors: Rows) -> NDArray[np.float64]:
    """Project rows to two dimensions by PCA; signs are fixed, so that pictures are stable."""
    centred = vectors.astype(np.float64) - vectors.mean(0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[:2]
    axes = axes * np.where(np.abs(axes).max(1) == axes.max(1), 1, -1)[:, None]
    places = centred @ axes.T
    return np.pad(places, ((0, 0), (0, 2 - places.shape[1])))


def draw_space(vectors: Rows, points: Sequence[Point], title: str, names: Sequence[str]) -> str:
    """Draw rows as points: target words filled, source words as rings; `names` are translations."""
    places = flat(vectors)
    low, high = places.min(0), places.max(0)
    scale = (np.array([WIDTH, HEIGHT - 40]) - 2 * EDGE) / np.where(high > low, high - low, 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="space" role="img" '
        f'aria-label="{clean(title)}" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="{FAMILY}" '
        'fill="currentColor">'
        f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8" fill="none" '
        'stroke="currentColor" opacity=".25"/>'
        f'<text x="14" y="22" font-size="14" font-weight="600">{clean(title)}</text>'
    ]
    for (x, y), point in zip((places - low) * scale + EDGE, points, strict=True):
        colour = COLOURS[point.group % len(COLOURS)]
        kind = f'fill="{colour}"' if point.target else f'fill="none" stroke="{colour}"'
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y + 10:.1f}" r="4" stroke-width="1.6" opacity=".85" {kind}>'
            f"<title>{clean(point.note)}</title></circle>"
        )
    x = 14.0
    for group, name in enumerate(names):
        colour = COLOURS[group % len(COLOURS)]
        parts.append(
            f'<circle cx="{x:.1f}" cy="{HEIGHT - 16}" r="4" fill="{colour}"/>'
            f'<text x="{x + 9:.1f}" y="{HEIGHT - 12}" font-size="12">{clean(name)}</text>'
        )
        x += 30 + 7 * len(name)
    return "".join([*parts, "</svg>"])
