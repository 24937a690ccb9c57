"""What the bridge does to a word: its occurrences in a bitext, in both languages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.bitext import Bitext, Pair
from treebridge.encode.contexts import Occurrence, word_contexts
from treebridge.encode.encoder import Encoder
from treebridge.errors import TreebridgeError
from treebridge.parse.parser import Parser
from treebridge.show.space import Point, draw_space

PAIRS = 20_000  # of the bitext that are kept in memory
MOST = 40  # occurrences of each translation that are drawn
SIDE = 5  # words of context on either side

Vectors = NDArray[np.float32]


class SpaceView:
    """Some pairs of a bitext, and the encoders of both sides."""

    def __init__(self, parser: Parser, bitext: Bitext, source: Encoder | None = None):
        if parser.bridge is None:
            raise TreebridgeError("--bitext shows what a bridge does, and this model has none")
        space = parser.space
        self.parser, self.bridge = parser, parser.bridge
        settings = replace(parser.encoder_settings, layers=space.layers or "last4")
        self.source = source or Encoder.load(space.encoder, settings)
        space.check(self.source)
        self.pairs = list(replace(bitext, limit=bitext.limit or PAIRS))
        self.pair_of = {id(pair.target): pair for pair in self.pairs}

    def of(self, word: str) -> dict[str, Any]:
        """Both pictures of a word."""
        word = word.strip()
        (found,) = word_contexts(self.pairs, self.parser.load_encoder(), [word])
        if not found.translations:
            raise TreebridgeError(
                f"“{word}” occurs {found.count} times in the parallel text, too few for a picture; "
                "try a commoner word"
            )
        points: list[Point] = []
        target: list[Vectors] = []
        source: list[Vectors] = []
        for group, translation in enumerate(found.translations):
            there = translation.occurrences[:MOST]
            target += list(translation.vectors[:MOST])
            points += [Point(True, group, _context(o)) for o in there]
        for group, translation in enumerate(found.translations):
            here = [
                _translated(self.pair_of[id(o.words)], translation.source)
                for o in translation.occurrences[:MOST]
            ]
            encoded = self.source.encode([o.words for o in here])
            source += [e.vectors[o.position] for e, o in zip(encoded, here, strict=True)]
            points += [Point(False, group, _context(o)) for o in here]
        left, right = np.array(target), np.array(source)
        names = [translation.source for translation in found.translations]
        after = np.vstack([self.bridge.transform(left), self.parser.space.transform(right)])
        return {
            "word": word,
            "translations": {t.source: t.total for t in found.translations},
            "before": draw_space(_side_by_side(left, right), points, "before the map", names),
            "after": draw_space(after, points, "after the map", names),
        }


def _translated(pair: Pair, word: str) -> Occurrence:
    """Where the translation stands in the source sentence."""
    words = [one.lower() for one in pair.source]
    return Occurrence(pair.source, words.index(word))


def _side_by_side(left: Vectors, right: Vectors) -> Vectors:
    """Vectors of two encoders in one array; their dimensions have nothing to do with each other."""
    dim = max(left.shape[1], right.shape[1])
    padded = [np.pad(rows, ((0, 0), (0, dim - rows.shape[1]))) for rows in (left, right)]
    return np.vstack(padded)


def _context(occurrence: Occurrence) -> str:
    words, at = occurrence.words, occurrence.position
    before, after = words[max(0, at - SIDE) : at], words[at + 1 : at + 1 + SIDE]
    return " ".join([*before, f"[{words[at]}]", *after])
