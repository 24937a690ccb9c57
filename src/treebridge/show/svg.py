"""Trees as self-contained SVG: words in a row, arcs above them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from treebridge.corpus.drawing import shown_columns
from treebridge.corpus.sentence import Sentence
from treebridge.parse.confidence import LOW, Confidence, confidences

FORM_SIZE, TAG_SIZE, LABEL_SIZE = 16, 11, 12
NOTE_SIZE, NOTE_STEP = 10, 13  # of lemmas and features, and from line to line
GAP = 16  # minimum space between two words
MARGIN = 14
ROUND = 9  # radius of an arc's corners
DOUBT = "#d2601a"  # colour of uncertain arcs
FAMILY = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW, _BROAD = frozenset("iljtfrI.,:;'’|!()[]-"), frozenset("mwMWQO@%—…")


class Arc(NamedTuple):
    """An arc from a head to its dependent, both counted from 0, and its height."""

    head: int
    word: int
    level: int


def draw_svg(sentence: Sentence, *, low: float = LOW, columns: Sequence[str] = ()) -> str:
    """Draw a tree as SVG; arcs with a probability below `low` are dashed.

    `columns` (some of `lemma`, `xpos` and `feats`) are written below the tags.
    Right-to-left scripts are drawn from right to left.
    """
    arcs = _levels(sentence.heads)
    notes = _notes(sentence, columns)
    widths, gaps = _widths(sentence, notes), [GAP * 1.0] * max(0, len(sentence) - 1)
    _make_room(arcs, sentence.deprels, widths, gaps)
    centres = _centres(widths, gaps)
    right = (centres[-1] + widths[-1] / 2 if centres else 0) + MARGIN
    if _right_to_left(sentence.text):
        centres = [right - x for x in centres]
    step = 26.0 if len(arcs) < 40 else 20.0
    top = 2 * LABEL_SIZE + step * max((arc.level for arc in arcs), default=0)
    base = top + step / 2
    multiword = [token for token in sentence.tokens() if token[1] > token[0]]
    below = NOTE_STEP * max(map(len, notes), default=0)
    height = base + FORM_SIZE + TAG_SIZE + below + (34 if multiword else 16)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tree" role="img" '
        f'aria-label="{clean(sentence.text)}" width="{right:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {right:.0f} {height:.0f}" font-family="{FAMILY}" text-anchor="middle" '
        'fill="currentColor">'
    ]
    starts = _starts(arcs, centres, widths)
    sure = confidences(sentence)
    for arc in sorted(arcs, key=lambda arc: -arc.level):
        x, y = starts[arc], top - step * (arc.level - 1)
        parts.append(_arc(x, centres[arc.word], base, y, sentence.deprels[arc.word],
                          sure[arc.word], low))  # fmt: skip
    for index, head in enumerate(sentence.heads):
        if head == 0:
            y = float(LABEL_SIZE + 4)
            parts.append(_root(centres[index], base, y, sentence.deprels[index], sure[index], low))
    for x, form, tag in zip(centres, sentence.forms, sentence.upos, strict=True):
        y = base + FORM_SIZE + 2
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{FORM_SIZE}">{clean(form)}</text>')
        if tag != "_":
            parts.append(
                f'<text x="{x:.1f}" y="{y + TAG_SIZE + 5:.1f}" font-size="{TAG_SIZE}" '
                f'opacity=".6">{clean(tag)}</text>'
            )
    for x, lines in zip(centres, notes, strict=True):
        for number, line in enumerate(lines, 1):
            y = base + FORM_SIZE + TAG_SIZE + 7 + NOTE_STEP * number
            parts.append(
                f'<text x="{x:.1f}" y="{y:.1f}" font-size="{NOTE_SIZE}" opacity=".6">'
                f"{clean(line)}</text>"
            )
    for first, last, form, _ in multiword:
        ends = sorted(
            (centres[i] + side * widths[i] / 2) for i in (first - 1, last - 1) for side in (-1, 1)
        )
        y = base + FORM_SIZE + TAG_SIZE + below + 13
        parts.append(
            f'<path d="M{ends[0]:.1f} {y:.1f}v4H{ends[-1]:.1f}v-4" fill="none" '
            f'stroke="currentColor" opacity=".5"/><text x="{(ends[0] + ends[-1]) / 2:.1f}" '
            f'y="{y + 16:.1f}" font-size="{TAG_SIZE}" font-style="italic">{clean(form)}</text>'
        )
    return "".join([*parts, "</svg>"])


def clean(text: str) -> str:
    """Escape text for XML; characters that XML does not allow are replaced."""
    return escape(_NOT_XML.sub("\ufffd", text))


def text_width(text: str, size: float) -> float:
    """Approximate width of a string, since the font is unknown."""
    total = 0.0
    for char in text:
        if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn"):
            continue
        if unicodedata.east_asian_width(char) in "WF":
            total += 1.05
        elif char in _NARROW:
            total += 0.34
        else:
            total += 0.86 if char in _BROAD else 0.68 if char.isupper() else 0.57
    return total * size


def _notes(sentence: Sentence, columns: Sequence[str]) -> list[list[str]]:
    """The lines below each word: its lemma and XPOS, and one line for each feature."""
    cells = zip(*shown_columns(sentence, columns), strict=True) if columns else [()] * len(sentence)
    return [[line for cell in word if cell for line in cell.split("|")] for word in cells]


def _widths(sentence: Sentence, notes: Sequence[Sequence[str]]) -> list[float]:
    tags = (tag if tag != "_" else "" for tag in sentence.upos)
    widths = [
        max(
            text_width(form, FORM_SIZE),
            text_width(tag, TAG_SIZE),
            *(text_width(line, NOTE_SIZE) for line in lines),
            10.0,
        )
        for form, tag, lines in zip(sentence.forms, tags, notes, strict=True)
    ]
    for first, last, form, _ in sentence.tokens():
        if last > first:  # the surface token is drawn below its words
            words = slice(first - 1, last)
            missing = text_width(form, TAG_SIZE) - sum(widths[words])
            if missing > 0:
                widths[first - 1] += missing
    return widths


def _levels(heads: Sequence[int | None]) -> list[Arc]:
    """Every arc, as low as the arcs beneath it allow."""
    pairs = [(head - 1, word) for word, head in enumerate(heads) if head]
    pairs.sort(key=lambda pair: (abs(pair[0] - pair[1]), min(pair)))
    top = [0] * len(heads)  # highest arc so far above the gap after each word
    arcs = []
    for head, word in pairs:
        left, right = min(head, word), max(head, word)
        level = 1 + max(top[left:right], default=0)
        top[left:right] = [level] * (right - left)
        arcs.append(Arc(head, word, level))
    return arcs


def _make_room(
    arcs: Sequence[Arc], labels: Sequence[str], widths: Sequence[float], gaps: list[float]
) -> None:
    """Widen the gaps under arcs that are shorter than their labels."""
    for head, word, _ in arcs:
        left, right = min(head, word), max(head, word)
        there = sum(gaps[left:right]) + sum(widths[left + 1 : right])
        there += (widths[left] + widths[right]) / 2 - 2 * ROUND
        missing = text_width(labels[word], LABEL_SIZE) + 8 - there
        if missing > 0:
            for gap in range(left, right):
                gaps[gap] += missing / (right - left)


def _centres(widths: Sequence[float], gaps: Sequence[float]) -> list[float]:
    centres, x = [], float(MARGIN)
    for width, gap in zip(widths, [*gaps, 0.0], strict=False):
        centres.append(x + width / 2)
        x += width + gap
    return centres


def _starts(
    arcs: Sequence[Arc], centres: Sequence[float], widths: Sequence[float]
) -> dict[Arc, float]:
    """Where each arc leaves its head: next to the centre, the longest arc closest to it."""
    leaving: dict[tuple[int, bool], list[Arc]] = {}
    for arc in arcs:
        leaving.setdefault((arc.head, centres[arc.word] > centres[arc.head]), []).append(arc)
    starts = {}
    for (head, rightwards), group in leaving.items():
        group.sort(key=lambda arc: -abs(arc.word - arc.head))
        step = min(6.0, (widths[head] / 2 + 4) / len(group))
        for place, arc in enumerate(group, 1):
            starts[arc] = centres[head] + (place * step if rightwards else -place * step)
    return starts


def _arc(
    x: float, to: float, base: float, y: float, label: str,
    sure: Confidence | None, low: float,
) -> str:  # fmt: skip
    turn = min(ROUND, abs(to - x) / 2) * (1 if to > x else -1)
    size = abs(turn)
    path = (
        f"M{x:.1f} {base:.1f}V{y + size:.1f}q0 {-size:.1f} {turn:.1f} {-size:.1f}"
        f"H{to - turn:.1f}q{turn:.1f} 0 {turn:.1f} {size:.1f}V{base - 4:.1f}"
    )
    return _marked(path, to, base, (x + to) / 2, y - 4, label, sure, low)


def _root(x: float, base: float, y: float, label: str, sure: Confidence | None, low: float) -> str:
    path = f"M{x:.1f} {y + 4:.1f}V{base - 4:.1f}"
    return _marked(path, x, base, x, y, label, sure, low)


def _marked(
    path: str, to: float, base: float, x: float, y: float, label: str,
    sure: Confidence | None, low: float,
) -> str:  # fmt: skip
    """A line with its arrow head, label and tooltip."""
    doubtful = sure is not None and sure.both < low
    colour = DOUBT if doubtful else "currentColor"
    dash = ' stroke-dasharray="5 4"' if doubtful else ""
    note = f"{label}: arc {sure.arc:.0%}, label {sure.label:.0%}" if sure else label
    name = f' class="arc{" low" if doubtful else ""}"'
    return (
        f'<g{name} fill="{colour}"><title>{clean(note)}</title>'
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.4" opacity=".75"{dash}/>'
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="12" opacity="0" '
        'pointer-events="stroke"/>'
        f'<path d="M{to - 3.5:.1f} {base - 6:.1f}h7l-3.5 7z"/>'
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{LABEL_SIZE}">{clean(label)}</text></g>'
    )


def _right_to_left(text: str) -> bool:
    """Whether most letters are right-to-left."""
    kinds = [unicodedata.bidirectional(char) for char in text]
    return kinds.count("R") + kinds.count("AL") > kinds.count("L")
