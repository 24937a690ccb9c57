"""How well an encoder's vectors separate the senses of a word, measured on a bitext.

A word's occurrences are grouped by their translation; in a good encoder two occurrences with the
same translation are closer than two with different ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoder, Vectors

MAX_OCCURRENCES = 200  # of each translation
MAX_TRANSLATIONS = 3
MIN_SHARE = 0.03  # minimum share of a translation in a word's occurrences


@dataclass
class Occurrence:
    """A word in its sentence."""

    words: Sequence[str]
    position: int


@dataclass
class Translation:
    """The occurrences of a word with one translation, and their vectors."""

    source: str
    occurrences: list[Occurrence]
    total: int
    vectors: Vectors


@dataclass
class WordContexts:
    """A target word, its translations, and how well its vectors separate them."""

    word: str
    count: int
    translations: list[Translation]

    @property
    def same(self) -> float:
        """Mean cosine of two occurrences with the same translation."""
        cosines = []
        for t in self.translations:
            n = len(t.vectors)
            if n > 1:
                cosines.append((np.square(t.vectors.sum(0)).sum() - n) / (n * (n - 1)))
        return float(np.mean(cosines)) if cosines else float("nan")

    @property
    def different(self) -> float:
        """Mean cosine of two occurrences with different translations."""
        means = [t.vectors.mean(0) for t in self.translations]
        pairs = [float(a @ b) for i, a in enumerate(means) for b in means[:i]]
        return float(np.mean(pairs)) if pairs else float("nan")


def word_contexts(
    pairs: Iterable[Pair], encoder: Encoder, words: Sequence[str]
) -> Iterator[WordContexts]:
    """Find each word on the target side and compare its occurrences."""
    wanted = {word.lower(): word for word in words}
    found: dict[str, list[tuple[set[str], Occurrence]]] = {word: [] for word in wanted}
    frequency: Counter[str] = Counter()
    for pair in pairs:
        source = {word.lower() for word in pair.source if len(word) > 1 and word[0].isalpha()}
        frequency.update(source)
        for position, word in enumerate(pair.target):
            if (key := word.lower()) in found:
                found[key].append((source, Occurrence(pair.target, position)))
    for key, occurrences in found.items():
        groups = _translations(occurrences, frequency)
        yield WordContexts(
            wanted[key], len(occurrences), [_encode(encoder, s, group) for s, group in groups]
        )


def _translations(
    occurrences: list[tuple[set[str], Occurrence]], frequency: Counter[str]
) -> list[tuple[str, list[Occurrence]]]:
    """Choose greedily the source words that best match the remaining occurrences (Dice)."""
    left = occurrences
    chosen: list[str] = []
    while left and len(chosen) < MAX_TRANSLATIONS:
        together = Counter(word for source, _ in left for word in source)
        best = max(together, key=lambda w: (2 * together[w] / (len(left) + frequency[w]), w))
        if together[best] < max(5, MIN_SHARE * len(occurrences)):
            break
        chosen.append(best)
        left = [(source, occurrence) for source, occurrence in left if best not in source]
    return [
        (word, [o for source, o in occurrences if source & set(chosen) == {word}])
        for word in chosen
    ]


def _encode(encoder: Encoder, source: str, occurrences: list[Occurrence]) -> Translation:
    kept = occurrences[:MAX_OCCURRENCES]
    encoded = encoder.encode([occurrence.words for occurrence in kept])
    rows = [item.vectors[o.position] for item, o in zip(encoded, kept, strict=True)]
    vectors = np.array(rows, np.float32).reshape(len(rows), encoder.dim)
    return Translation(source, kept, len(occurrences), vectors)
