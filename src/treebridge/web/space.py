"""Plots of a word's occurrences in a bitext, before and after the bridge's map."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.bitext import Bitext, Pair
from treebridge.encode.encoder import Encoder
from treebridge.errors import TreebridgeError
from treebridge.parse.parser import Parser
from treebridge.show.space import Point, draw_space

PAIRS = 20_000  # sentence pairs kept in memory
GROUPS, FEWEST = 3, 5  # translations shown; occurrences that each needs
MOST = 30  # occurrences drawn per translation
SIDE = 5  # words of context on either side

Vectors = NDArray[np.float32]


class SpaceView:
    """Sentence pairs of a bitext with the encoders of both sides."""

    def __init__(self, parser: Parser, bitext: Bitext, source: Encoder | None = None):
        if parser.bridge is None:
            raise TreebridgeError("parallel text is only used with a bridge; this model has none")
        space = parser.space
        self.parser, self.bridge = parser, parser.bridge
        settings = replace(parser.encoder_settings, layers=space.layers or "last4")
        self.source = source or Encoder.load(space.encoder, settings)
        space.check(self.source)
        self.places: dict[str, list[tuple[Pair, int]]] = {}  # target word → occurrences
        self.frequency: Counter[str] = Counter()  # number of pairs with each source word
        for pair in replace(bitext, limit=bitext.limit or PAIRS):
            self.frequency.update(_words(pair))
            for position, word in enumerate(pair.target):
                self.places.setdefault(word.lower(), []).append((pair, position))

    def of(self, word: str) -> dict[str, Any]:
        """Plot a word before and after the map."""
        word = word.strip()
        places = self.places.get(word.lower(), [])
        groups = self._translations(places)
        if not groups:
            raise TreebridgeError(
                f"“{word}” occurs {len(places)} times in the parallel text, too few to plot; "
                "try a more frequent word"
            )
        points: list[Point] = []
        here: list[tuple[list[str], int]] = []
        there: list[tuple[list[str], int]] = []
        for group, (translation, found) in enumerate(groups.items()):
            for pair, position in found[:MOST]:
                there.append((pair.target, position))
                lower = [one.lower() for one in pair.source]
                here.append((pair.source, lower.index(translation)))
                points.append(Point(True, group, _context(*there[-1])))
        points += [
            Point(False, point.group, _context(*place))
            for point, place in zip(points, here, strict=True)
        ]
        left = _encode(self.parser.load_encoder(), there)
        right = _encode(self.source, here)
        names, before = list(groups), _side_by_side(left, right)
        after = np.vstack([self.bridge.transform(left), self.parser.space.transform(right)])
        return {
            "word": word,
            "translations": {name: len(found) for name, found in groups.items()},
            "before": draw_space(before, points, "before the map", names),
            "after": draw_space(after, points, "after the map", names),
        }

    def _translations(self, places: list[tuple[Pair, int]]) -> dict[str, list[tuple[Pair, int]]]:
        """Pick translations greedily by their Dice score with the remaining occurrences."""
        groups: dict[str, list[tuple[Pair, int]]] = {}
        left = places
        while len(groups) < GROUPS:
            together = Counter(word for pair, _ in left for word in _words(pair))
            if not together:
                break
            best = max(
                together, key=lambda w: (2 * together[w] / (len(left) + self.frequency[w]), w)
            )
            if together[best] < FEWEST:
                break
            groups[best] = [place for place in left if best in _words(place[0])]
            left = [place for place in left if best not in _words(place[0])]
        return groups


def _words(pair: Pair) -> set[str]:
    """Source words of a pair that could be translations."""
    return {word.lower() for word in pair.source if len(word) > 1 and word[0].isalpha()}


def _encode(encoder: Encoder, places: list[tuple[list[str], int]]) -> Vectors:
    encoded = encoder.encode([words for words, _ in places])
    rows = [one.vectors[at] for one, (_, at) in zip(encoded, places, strict=True)]
    return np.array(rows, np.float32)


def _side_by_side(left: Vectors, right: Vectors) -> Vectors:
    """Stack the vectors of two encoders, padded to the same width."""
    dim = max(left.shape[1], right.shape[1])
    padded = [np.pad(rows, ((0, 0), (0, dim - rows.shape[1]))) for rows in (left, right)]
    return np.vstack(padded)


def _context(words: list[str], at: int) -> str:
    before, after = words[max(0, at - SIDE) : at], words[at + 1 : at + 1 + SIDE]
    return " ".join([*before, f"[{words[at]}]", *after])
