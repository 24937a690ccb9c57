"""Small SVG charts, so that a report needs no plotting package."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

COLOURS = ("#2b6cb0", "#dd8452", "#55a868", "#8172b3")
_TEXT = 'font-family="system-ui, sans-serif" font-size="12" fill="#222"'
Groups = Mapping[str, Mapping[str, float | None]]  # row → series → value


def bars(rows: Groups, unit: str = "", *, accent: Collection[str] = ()) -> str:
    """Horizontal bars, one group per row and one colour per series; None leaves a gap.

    Rows in `accent` have bold labels and full colour, the others are paler.
    """
    series = list(dict.fromkeys(name for row in rows.values() for name in row))
    values = [value for row in rows.values() for value in row.values() if value is not None]
    top = max([*values, 1e-9])
    label = 8 * max((len(name) for name in rows), default=0) + 12
    thick, gap, width = 14, 10, 420
    legend = len(series) > 1 or bool(unit)
    height = len(rows) * (thick * len(series) + gap) + 24 * legend
    parts = []
    y = 4
    for name, row in rows.items():
        middle = y + thick * len(series) / 2 + 4
        style = ' font-weight="bold"' if name in accent else ""
        shade = ' opacity=".5"' if accent and name not in accent else ""
        parts.append(
            f'<text x="{label - 8}" y="{middle}" text-anchor="end"{style}>{escape(name)}</text>'
        )
        for which, colour in zip(series, COLOURS, strict=False):
            value = row.get(which)
            if value is not None:
                long = width * max(value, 0) / top
                parts.append(
                    f'<rect x="{label}" y="{y + 1}" width="{long:.1f}" height="{thick - 2}" '
                    f'fill="{colour}"{shade}/><text x="{label + long + 5:.1f}" '
                    f'y="{y + thick - 3}"{style}>{value:.1f}</text>'
                )
            y += thick
        y += gap
    if legend:
        parts.append(_legend(series, label, height - 6, unit))
    return _svg(label + width + 60, height, parts)


def lines(series: Mapping[str, Sequence[tuple[float, float]]], x: str, y: str) -> str:
    """One line per series of points; axes start at zero."""
    points = [point for line in series.values() for point in line]
    right = max([*(p[0] for p in points), 1e-9])
    top = max([*(p[1] for p in points), 1e-9])
    left, width, height = 46, 460, 200

    def at(point: tuple[float, float]) -> str:
        return f"{left + width * point[0] / right:.1f},{8 + height * (1 - point[1] / top):.1f}"

    parts = [
        f'<path d="M{left},8 V{8 + height} H{left + width}" fill="none" stroke="#888"/>',
        f'<text x="{left - 6}" y="14" text-anchor="end">{top:.3g}</text>',
        f'<text x="{left - 6}" y="{8 + height}" text-anchor="end">0</text>',
        f'<text x="{left + width}" y="{height + 24}" text-anchor="end">{right:,.6g}</text>',
        f'<text x="{left}" y="{height + 24}">{escape(x)}</text>',
    ]
    for line, colour in zip(series.values(), COLOURS, strict=False):
        path = " ".join(map(at, line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{p.split(",")[0]}" cy="{p.split(",")[1]}" r="2.5" fill="{colour}"/>'
            for p in map(at, line)
        ]
    parts.append(_legend(list(series), left, height + 44, y))
    return _svg(left + width + 20, height + 54, parts)


def _legend(names: Sequence[str], x: float, y: float, unit: str) -> str:
    parts = []
    for name, colour in zip(names, COLOURS, strict=False):
        parts.append(
            f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
            f'<text x="{x + 14}" y="{y}">{escape(name)}</text>'
        )
        x += 30 + 7 * len(name)
    if unit:
        parts.append(f'<text x="{x}" y="{y}" fill="#777">{escape(unit)}</text>')
    return "".join(parts)


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" {_TEXT}>{"".join(parts)}</svg>'
    )
