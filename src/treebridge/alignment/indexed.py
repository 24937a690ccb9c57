"""A bitext as flat arrays of word ids, the input of aligners."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treebridge.corpus.bitext import Pair, Walk
from treebridge.errors import TreebridgeError

MAX_WORDS = 32_767  # per sentence: positions are 16-bit numbers
UNKNOWN = -1  # the id of a word that a trained model has not seen

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]


class Vocabulary(dict[str, int]):
    """Word → id, in order of first occurrence; case is ignored.

    A growing vocabulary adds the words that are looked up. A closed one maps a missing word to the
    id of its prefix (`prefixes`), or else to UNKNOWN.
    """

    def __init__(self, words: Iterable[str] = (), *, growing: bool = True):
        super().__init__((word, number) for number, word in enumerate(words))
        self.growing = growing
        self.prefixes: dict[str, int] = {}
        self.letters = 0  # of a prefix

    def __missing__(self, word: str) -> int:
        lower = word.lower()
        if lower != word:
            return self[lower]  # only lower case is stored, which keeps the vocabulary small
        if not self.growing:
            longer = len(word) > self.letters
            return self.prefixes.get(word[: self.letters], UNKNOWN) if longer else UNKNOWN
        self[word] = len(self)
        return self[word]

    @property
    def size(self) -> int:
        """Number of ids."""
        return len(self) + len(self.prefixes)

    def grouped(self, seen: npt.NDArray[np.int64], rare: int, letters: int) -> Vocabulary:
        """Return a closed vocabulary in which words rarer than `rare` share an id by prefix.

        `seen[id]` is the frequency of each word; words no longer than the prefix keep their own id.
        """
        often = (seen >= rare).tolist()
        own = [word for word, k in self.items() if often[k] or len(word) <= letters]
        result = Vocabulary(own, growing=False)
        result.letters = letters
        for word in self:
            if word not in result:
                result.prefixes.setdefault(word[:letters], result.size)
        return result


class Side(NamedTuple):
    """All sentences of one language, concatenated; sentence n is words[at[n] : at[n + 1]].

    A tuple, because compiled functions accept those.
    """

    words: Ints
    at: Offsets

    def lengths(self) -> Offsets:
        """The number of words of every sentence."""
        return np.diff(self.at)


@dataclass
class IndexedPairs:
    """Sentence pairs as word ids, with their line numbers.

    `lines[n]` is the index of pair n among the `read` raw pairs, from 0.
    """

    source: Side
    target: Side
    source_words: Vocabulary
    target_words: Vocabulary
    lines: Offsets
    read: int

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def tokens(self) -> int:
        """Words on both sides."""
        return len(self.source.words) + len(self.target.words)

    def with_words(self, source_words: Vocabulary, target_words: Vocabulary) -> IndexedPairs:
        """Convert the pairs to the ids of other vocabularies."""
        sides = []
        for side, old, new in (
            (self.source, self.source_words, source_words),
            (self.target, self.target_words, target_words),
        ):
            ids = np.array([*(new[word] for word in old), UNKNOWN], np.int32)
            sides.append(Side(ids[side.words], side.at))
        return IndexedPairs(sides[0], sides[1], source_words, target_words, self.lines, self.read)

    @cached_property
    def cells(self) -> Offsets:
        """Where the word pairs of every sentence pair begin in a flat array."""
        at = np.zeros(len(self) + 1, np.int64)
        np.cumsum(self.source.lengths() * self.target.lengths(), out=at[1:])
        return at


class PairIndexer:
    """Collects pairs as word ids, in four bytes per word."""

    def __init__(
        self, source_words: Vocabulary | None = None, target_words: Vocabulary | None = None
    ):
        self._vocabularies = (
            Vocabulary() if source_words is None else source_words,
            Vocabulary() if target_words is None else target_words,
        )
        self._words = (array("i"), array("i"))
        self._at = (array("q", [0]), array("q", [0]))
        self._lines = array("q")

    def add(self, pair: tuple[Sequence[str], Sequence[str]], line: int) -> None:
        """Append a pair."""
        for side, sentence in enumerate(pair):
            if len(sentence) > MAX_WORDS:
                raise TreebridgeError(
                    f"pair {line + 1} has a sentence of {len(sentence):,} words; "
                    f"at most {MAX_WORDS:,} can be aligned"
                )
            self._words[side].extend(map(self._vocabularies[side].__getitem__, sentence))
            self._at[side].append(len(self._words[side]))
        self._lines.append(line)

    def take(self, walk: Walk, counted: Iterable[Pair]) -> int:
        """Append the pairs of a walk, as yielded by `counted`; return their number."""
        before = len(self._lines)
        for pair in counted:
            self.add(pair, walk.counts.read - 1)
        return len(self._lines) - before

    def done(self, read: int | None = None) -> IndexedPairs:
        """Return the collected pairs; `read` is the number of raw pairs they come from."""
        source, target = (
            Side(np.array(words, np.int32), np.array(at, np.int64))
            for words, at in zip(self._words, self._at, strict=True)
        )
        lines = np.array(self._lines, np.int64)
        read = len(lines) if read is None else read
        return IndexedPairs(source, target, *self._vocabularies, lines, read)


def index_bitext(walk: Walk) -> IndexedPairs:
    """Index the pairs of a bitext, `walk = iter(bitext)`."""
    indexer = PairIndexer()
    indexer.take(walk, walk)
    return indexer.done(walk.counts.read)


def index_pairs(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> IndexedPairs:
    """Index pairs of word lists."""
    indexer = PairIndexer()
    for number, pair in enumerate(pairs):
        indexer.add(pair, number)
    return indexer.done()
