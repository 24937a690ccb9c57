"""What some pairs of a bitext tell about many: which words can be anchors, and how often."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.layout import Chooser
from treebridge.bridge.settings import CollectSettings
from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoder
from treebridge.errors import TreebridgeError

SIZE = 20_000  # pairs
LINKED = 0.78  # of the target words have a one-to-one link (docs/results.md: 76 to 80 %)
WORDS, TYPES = 25, 30_000  # of a sentence, of a language: assumed where there is no bitext
WHOLE = 0.85  # of the words of a text are whole: assumed where there is no encoder
READ, CHOOSE = 7e-5, 1e-4  # seconds for a pair: assumed where there is nothing to measure


@dataclass(frozen=True)
class Sample:
    """Pairs as the types of those target words that can be anchors once they are linked."""

    types: list[NDArray[np.int64]]  # of each pair
    words: float  # of both sides together, on average
    linked: float  # the chance that such a word has a link that counts
    read: float  # seconds for a pair: files, filters, words
    choose: float  # seconds for a pair: which words are whole
    pairs: list[Pair]  # a few of them, to encode

    @classmethod
    def of(
        cls, bitext: Iterable[Pair], source: Encoder, target: Encoder, settings: CollectSettings
    ) -> Sample:
        """From the beginning of a bitext; links are not known, so all target words are tried."""
        start = time.process_time()
        pairs = list(islice(bitext, SIZE))
        if not pairs:
            raise TreebridgeError("the bitext has no pairs to plan by")
        read = time.process_time() - start
        # A link to itself for every target word: the source side is counted apart.
        chooser = Chooser(target, target, settings)
        number_of: dict[str, int] = {}
        types = []
        start = time.process_time()
        for pair in pairs:
            alone = Pair(pair.target, pair.target)
            every = np.arange(len(pair.target)).repeat(2).reshape(-1, 2)
            found = [word for _, _, word in chooser.links(alone, every)]
            types.append(np.array([number_of.setdefault(w, len(number_of)) for w in found], int))
        choose = time.process_time() - start
        whole = 1.0
        if settings.anchor_words == "whole":
            whole = float(np.concatenate([source.whole(p.source) for p in pairs[:1000]]).mean())
        words = float(np.mean([len(p.source) + len(p.target) for p in pairs]))
        return cls(
            types, words, LINKED * whole, read / len(pairs), choose / len(pairs), pairs[:256]
        )

    @classmethod
    def drawn(cls) -> Sample:
        """Where there is no bitext: words by Zipf's law."""
        rng = np.random.default_rng(0)
        chance = 1 / (np.arange(TYPES) + 2.7)
        drawn = rng.choice(TYPES, (SIZE // 4, WORDS), p=chance / chance.sum())
        kept = rng.random(drawn.shape) < WHOLE
        types = [row[keep] for row, keep in zip(drawn, kept, strict=True)]
        return cls(types, 2 * WORDS, LINKED * WHOLE, READ, CHOOSE, [])
