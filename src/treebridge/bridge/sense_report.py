"""A readable record of the senses in a bridge, saved with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.memmap import release
from treebridge.corpus.bitext import Pair
from treebridge.records import field, read_records

if TYPE_CHECKING:  # reading a report needs no torch
    from treebridge.bridge.collect import Occurrences
    from treebridge.bridge.layout import LinkArray
    from treebridge.bridge.senses import Anchors

CONTEXTS, TRANSLATIONS, SIDE = 3, 5, 5
SENSES = "senses.jsonl"
_SENSE: dict[str, type] = {"word": str, "sense": int, "size": int, "source": dict, "contexts": list}


def describe_senses(
    occurrences: Occurrences,
    labels: NDArray[np.int8],
    found: Anchors,
    pairs: Iterable[tuple[Pair, LinkArray]],
) -> list[dict[str, Any]]:
    """Describe every anchor: word, size, most common translations and a few typical contexts."""
    offsets = occurrences.layout.offsets
    anchor_of = np.full(len(occurrences), -1, np.int32)
    typical: dict[int, int] = {}  # row → anchor, for the rows nearest to their anchor
    for a in range(len(found)):
        t = int(found.types[a])
        rows = np.arange(offsets[t], offsets[t + 1])[
            labels[offsets[t] : offsets[t + 1]] == found.senses[a]
        ]
        anchor_of[rows] = a
        vectors = np.asarray(occurrences.target[rows], np.float32)
        release(occurrences.target)
        nearest = rows[np.argsort(-(vectors @ vectors.mean(0)), kind="stable")[:CONTEXTS]]
        typical.update((int(row), a) for row in nearest)
    words: list[Counter[str]] = [Counter() for _ in range(len(found))]
    contexts: list[list[str]] = [[] for _ in range(len(found))]
    where = np.asarray(occurrences.where)  # indexing the memory map is several times slower
    order = np.argsort(where[:, 0], kind="stable")
    position = 0
    for number, (pair, _) in enumerate(pairs):
        while position < len(order) and where[order[position], 0] == number:
            row = int(order[position])
            _, i, j = where[row].tolist()
            a = int(anchor_of[row])
            words[a][intern(pair.source[i].lower())] += 1  # many anchors share a translation
            if row in typical:
                contexts[a].append(_context(pair.target, j))
            position += 1
        if position == len(order):
            break
    return [
        {
            "word": occurrences.layout.types[int(found.types[a])],
            "sense": int(found.senses[a]) + 1,
            "size": int(found.counts[a]),
            "source": dict(words[a].most_common(TRANSLATIONS)),
            "contexts": contexts[a],
        }
        for a in range(len(found))
    ]


def _context(words: list[str], at: int) -> str:
    before, after = words[max(0, at - SIDE) : at], words[at + 1 : at + 1 + SIDE]
    return " ".join([*before, f"[{words[at]}]", *after])


def write_senses(folder: Path, senses: list[dict[str, Any]]) -> None:
    """Write one JSON object per line."""
    lines = (json.dumps(sense, ensure_ascii=False) + "\n" for sense in senses)
    (folder / SENSES).write_text("".join(lines), encoding="utf-8")


def read_senses(folder: Path) -> list[dict[str, Any]]:
    """Read what `write_senses` wrote; an empty list if there is no file."""
    path = folder / SENSES
    if not path.exists():
        return []
    senses = read_records(path)
    for sense in senses:
        for name, kind in _SENSE.items():
            field(sense, name, kind, path)
    return senses
