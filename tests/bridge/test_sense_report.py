"""The report on a word's senses."""

from __future__ import annotations

import numpy as np

from treebridge.bridge.collect import Occurrences
from treebridge.bridge.layout import Layout
from treebridge.bridge.sense_report import describe_senses
from treebridge.bridge.senses import anchors
from treebridge.corpus.bitext import Pair


def test_most_common_translations_and_typical_contexts() -> None:
    """A word with two senses, at position 6 of a sentence that begins with its number."""
    sources = [*["bank"] * 4, "Bank", "shore", "coast", "side", "edge", "rim", "seat", "seat"]
    labels = np.array([0] * 10 + [1] * 2, np.int8)
    n = len(sources)
    target = np.zeros((n, 3), np.float16)
    target[:10, 0], target[10:, 1] = 1, 1
    target[[0, 2, 3, 4, 5, 6, 8], 2] = 1  # most are off axis: typical of their sense …
    target[[2, 5, 8], 0] = 2  # … and these most of all
    where = np.array([[2 * row, 0, 6] for row in range(n)], np.int32)
    layout = Layout(["banco"], np.array([0, n]), np.array([n]))
    found = Occurrences(layout, target, target.copy(), where)
    before, after = "c d e f g".split(), "u v w x y z".split()
    pairs = [
        (Pair([sources[k // 2]], [str(k), *before, "Banco", *after]), np.array([[0, 6]]))
        for k in range(2 * n)
    ]
    senses = describe_senses(
        found, labels, anchors(target, target, layout.offsets, labels), iter(pairs)
    )
    assert [(s["word"], s["sense"], s["size"]) for s in senses] == [
        ("banco", 1, 10),
        ("banco", 2, 2),
    ]
    first = {"bank": 5, "shore": 1, "coast": 1, "side": 1, "edge": 1}
    assert [s["source"] for s in senses] == [first, {"seat": 2}]
    context = "c d e f g [Banco] u v w x y"
    assert [s["contexts"] for s in senses] == [[context] * 3, [context] * 2]


def test_contexts_are_those_nearest_to_the_anchor() -> None:
    target = np.array([[1, 0], [1, 0.9], [3, 1], [3, 0.9], [3, 1.1]], np.float16)
    layout = Layout(["a"], np.array([0, 5]), np.array([5]))
    found = Occurrences(layout, target, target, np.array([[k, 0, 0] for k in range(5)], np.int32))
    labels = np.zeros(5, np.int8)
    pairs = [(Pair(["x"], ["a", str(k)]), np.array([[0, 0]])) for k in range(5)]
    (sense,) = describe_senses(
        found, labels, anchors(target, target, layout.offsets, labels), iter(pairs)
    )
    assert sense["contexts"] == ["[a] 2", "[a] 3", "[a] 4"]
