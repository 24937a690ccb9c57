"""A sample of a bitext: which words can become anchors, and how often they occur."""

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
LINKED = 0.78  # share of target words with a one-to-one link (docs/results.md: 76 to 80 %)
WORDS, TYPES = 25, 30_000  # words per sentence and types, assumed without a bitext
WHOLE = 0.85  # share of whole words, assumed without an encoder
READ, CHOOSE = 7e-5, 1e-4  # seconds per pair, assumed without a bitext


@dataclass(frozen=True)
class Sample:
    """Sentence pairs, reduced to the types of target words that can become anchors."""

    types: list[NDArray[np.int64]]  # per pair
    words: float  # mean per pair, both sides together
    linked: float  # probability that such a word has a usable link
    read: float  # seconds per pair: reading, filtering, tokenizing
    choose: float  # seconds per pair: finding whole words
    pairs: list[Pair]  # a few pairs, to time encoding

    @classmethod
    def of(
        cls, bitext: Iterable[Pair], source: Encoder, target: Encoder, settings: CollectSettings
    ) -> Sample:
        """Sample the beginning of a bitext; links are unknown, so every target word is tried."""
        start = time.process_time()
        pairs = list(islice(bitext, SIZE))
        if not pairs:
            raise TreebridgeError("the bitext is empty; an estimate needs some sentence pairs")
        read = time.process_time() - start
        # Link every target word to itself; the source side is measured separately.
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
        """Draw words by Zipf's law, if there is no bitext."""
        rng = np.random.default_rng(0)
        chance = 1 / (np.arange(TYPES) + 2.7)
        drawn = rng.choice(TYPES, (SIZE // 4, WORDS), p=chance / chance.sum())
        kept = rng.random(drawn.shape) < WHOLE
        types = [row[keep] for row, keep in zip(drawn, kept, strict=True)]
        return cls(types, 2 * WORDS, LINKED * WHOLE, READ, CHOOSE, [])
