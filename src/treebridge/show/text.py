"""Trees as text, one word per line, so that a sentence of any length fits a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from treebridge.corpus.drawing import shown_columns
from treebridge.corpus.sentence import Sentence
from treebridge.parse.confidence import LOW, Confidence, confidences

# Sides on which lines leave a cell (up, down, left, right) → the character to draw.
_LINES = {
    "": " ", "ud": "│", "r": "─", "lr": "─", "dr": "╭", "ur": "╰",
    "udr": "├", "dlr": "┬", "ulr": "┴", "udlr": "┼", "udx": "╫",  # x: crosses an unrelated line
}  # fmt: skip


def draw_tree(sentence: Sentence, *, width: int | None = None, columns: Sequence[str] = ()) -> str:
    """Draw a tree: arcs on the left, then word, tag and label in columns.

    `columns` are further ones: some of `lemma`, `xpos` and `feats`.
    If the sentence has probabilities, they form a last column, and uncertain arcs are dotted.
    Lines are cut to `width` terminal columns.
    """
    heads = [head or 0 for head in sentence.heads]
    if not heads:
        return ""
    arcs = _draw_arcs(heads)
    cells_of: list[Sequence[str]] = [sentence.forms, sentence.upos, sentence.deprels]
    cells_of += shown_columns(sentence, columns)
    sure = confidences(sentence)
    if any(sure):
        cells_of.append([_percent(one) for one in sure])
        arcs = [
            _dotted(arc) if one and one.both < LOW else arc
            for arc, one in zip(arcs, sure, strict=True)
        ]
    widths = [max(map(_width, column)) for column in cells_of]
    rows = []
    for arc, *cells in zip(arcs, *cells_of, strict=True):
        padded = (
            _left_to_right(cell) + " " * (w - _width(cell))
            for cell, w in zip(cells, widths, strict=True)
        )
        row = f"{arc} {'  '.join(padded)}".rstrip()
        rows.append(row if width is None else _cut(row, width))
    return "\n".join(rows)


def _percent(sure: Confidence | None) -> str:
    if sure is None:
        return ""
    return f"{sure.both:4.0%}{' ?' if sure.both < LOW else ''}"


def _dotted(arc: str) -> str:
    line = arc[:-1].rstrip("─")
    return line + "┄" * (len(arc) - 1 - len(line)) + arc[-1]


def _left_to_right(cell: str) -> str:
    """Add marks around right-to-left text, so that the terminal keeps the columns in order."""
    mixed = any(unicodedata.bidirectional(char) in ("R", "AL") for char in cell)
    return f"\u200e{cell}\u200e" if mixed else cell


def _cut(row: str, width: int) -> str:
    while _width(row) > width:
        row = row[:-1]
    return row


def _draw_arcs(heads: Sequence[int]) -> list[str]:
    """One string per word; every head has a vertical line that reaches all its dependents."""
    n = len(heads)
    reach = {}  # word → first and last line of its vertical
    for word in range(1, n + 1):
        ends = [word, *(i for i, head in enumerate(heads, 1) if head == word)]
        if len(ends) > 1:
            reach[word] = (min(ends), max(ends))
    column = _columns(heads, reach)
    edge = max(column.values(), default=-1) + 1
    cells = [[""] * (edge + 1) for _ in range(n + 1)]  # sides on which lines leave each cell
    for word, (top, bottom) in reach.items():
        for line in range(top, bottom + 1):
            cells[line][column[word]] = "u" * (line > top) + "d" * (line < bottom)
    for word, head in enumerate(heads, 1):
        start = column[head] if head else -1  # from the head's vertical to the right edge
        for x in range(max(start, 0), edge + 1):
            foreign = "ud" in cells[word][x] and x not in (start, column.get(word))
            cells[word][x] += "x" if foreign else "l" * (x > start) + "r"
    return ["".join(map(_draw_cell, line))[:-1] + "╼" for line in cells[1:]]


def _draw_cell(sides: str) -> str:
    # Combinations missing from the table occur only if the heads do not form a tree.
    return _LINES.get(sides, "│") + ("─" if sides[-1:] in ("r", "x") else " ")


def _columns(heads: Sequence[int], reach: dict[int, tuple[int, int]]) -> dict[int, int]:
    """A column for every vertical: to the right of its head's, and free of overlaps."""
    column: dict[int, int] = {}
    taken: list[tuple[int, int, int]] = []
    for word in sorted(reach, key=lambda w: _depth(heads, w)):
        top, bottom = reach[word]
        x = column.get(heads[word - 1], -1) + 1
        while any(c == x and top <= b and a <= bottom for c, a, b in taken):
            x += 1
        column[word] = x
        taken.append((x, top, bottom))
    return column


def _depth(heads: Sequence[int], word: int) -> int:
    depth = 0
    while word and depth <= len(heads):
        word, depth = heads[word - 1], depth + 1
    return depth


def _width(text: str) -> int:
    """Terminal columns of a string: wide letters take two, combining marks none."""
    return sum(
        0 if _is_zero_width(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def _is_zero_width(char: str) -> bool:
    return unicodedata.combining(char) > 0 or unicodedata.category(char) in ("Mn", "Me", "Cf")
