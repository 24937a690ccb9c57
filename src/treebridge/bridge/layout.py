"""Pass one: choose which occurrences to keep and assign their rows, from links alone.

Links are known before any vector is, so types can be counted, sampled and laid out in blocks
without running an encoder. Memory grows with the number of types only, not with the corpus.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from treebridge.bridge.settings import CollectSettings
from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoder

LinkArray = NDArray[np.int64]  # [links, 2]: source and target position
_WORD = regex.compile(r"[\p{L}\p{M}'’\-·\u200c\u200d]+|\p{P}")  # no digits, no mixed punctuation


class Place(NamedTuple):
    """A kept link and the row its two vectors are written to."""

    row: int
    source: int  # index of the word in the source sentence
    target: int


@dataclass
class Layout:
    """One block of rows per target type: type t owns rows offsets[t] to offsets[t + 1]."""

    types: list[str]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]  # occurrences in the corpus; more than rows if sampled

    def __len__(self) -> int:
        return int(self.offsets[-1])


class Chooser:
    """Select the usable links of each sentence pair; every pass selects the same ones."""

    def __init__(self, source: Encoder, target: Encoder, settings: CollectSettings):

        self.source = source
        self.target = target
        self.settings = settings

    def is_held_out(self, pair: int) -> bool:
        """Whether this sentence pair is held out for evaluation."""
        return is_held_out(pair, self.settings)

    def links(self, pair: Pair, links: LinkArray) -> list[tuple[int, int, str]]:
        """The usable links: source index, target index and target type."""
        if not len(links):
            return []
        chosen = [(int(i), int(j)) for i, j in links if _WORD.fullmatch(pair.target[j])]
        if self.settings.anchor_words == "whole" and chosen:
            source, target = self.source.whole(pair.source), self.target.whole(pair.target)
            chosen = [(i, j) for i, j in chosen if source[i] and target[j]]
        return [(i, j, pair.target[j].lower()) for i, j in chosen]


def is_held_out(pair: int, settings: CollectSettings) -> bool:
    """Whether the sentence pair of this number is held out for evaluation."""
    return _chance(settings.seed, "held out", pair) < settings.held_out


def lay_out(pairs: Iterable[tuple[Pair, LinkArray]], chooser: Chooser) -> Layout:
    """Pass one: count types and give each frequent type a block of rows."""
    settings = chooser.settings
    counts: dict[str, int] = {}
    for number, (pair, links) in enumerate(pairs):
        if not chooser.is_held_out(number):
            for _, _, word in chooser.links(pair, links):
                counts[word] = counts.get(word, 0) + 1
    types = sorted(word for word, count in counts.items() if count >= settings.min_per_type)
    totals = np.array([counts[word] for word in types], np.int64)
    offsets = np.zeros(len(types) + 1, np.int64)
    np.cumsum(np.minimum(totals, settings.max_per_type), out=offsets[1:])
    return Layout(types, offsets, totals)


def places(
    pairs: Iterable[tuple[Pair, LinkArray]], chooser: Chooser, layout: Layout
) -> Iterator[tuple[int, Pair, list[Place]]]:
    """Pass two: for every sentence pair, the places of its kept links (possibly none).

    Types with too many occurrences are sampled uniformly: with t occurrences to come and k rows
    free, the next one is kept with probability k / t (Knuth's algorithm S).
    """
    number_of = {word: t for t, word in enumerate(layout.types)}
    left = layout.counts.copy()  # occurrences still to come
    free = np.diff(layout.offsets)  # rows still free
    seed = chooser.settings.seed
    for number, (pair, links) in enumerate(pairs):
        found = []
        if not chooser.is_held_out(number):
            for i, j, word in chooser.links(pair, links):
                t = number_of.get(word)
                if t is None:
                    continue
                if left[t] == free[t] or _chance(seed, word, int(left[t])) * left[t] < free[t]:
                    found.append(Place(int(layout.offsets[t + 1] - free[t]), i, j))
                    free[t] -= 1
                left[t] -= 1
        yield number, pair, found


def _chance(seed: int, what: str, number: int) -> float:
    """A pseudorandom number in [0, 1) determined by the arguments."""
    text = f"{seed} {number} {what}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "big") / 2**56
