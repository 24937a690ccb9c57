"""Detect a bitext whose sides are swapped, before anything is aligned.

A swapped bitext aligns as well as any other and gives a bridge that looks fair. There are two
kinds of evidence: the common words of the treebank, if known, and otherwise the number of pieces
each encoder needs for each side. Both sides say the same thing, so an encoder needs fewer pieces
for its own language. Inconclusive evidence (one encoder for both languages, a shared vocabulary,
very few sentences) is never an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoder
from treebridge.errors import TreebridgeError

PAIRS = 500  # examined
MIN_WORDS = 50  # words per side; fewer are inconclusive
COMMON = 100  # most common words of a treebank; they make up about half of any text
MIN_RATIO, MIN_DIFFERENCE = 2.0, 0.1  # between the two shares of common words
EACH, BOTH = 1.1, 1.5  # minimum piece ratio of each encoder, and their minimum product
SAME = 0.9  # share of identical pairs above which the two sides are the same text


def common_words(sentences: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The most frequent words, in lower case, without numbers and punctuation."""
    counts = Counter(word for words in sentences for word in _bare(words))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(word for word, _ in ranked[:COMMON])


class Evidence(NamedTuple):
    """Evidence on which side of a bitext is in the source language."""

    source_words: float  # share of common source words on the source side
    target_words: float  # share of common source words on the target side
    source_pieces: float  # source encoder: pieces for the source side / for the target side
    target_pieces: float  # target encoder: pieces for the target side / for the source side

    @property
    def swapped(self) -> str | None:
        """Why the sides look swapped; None if they do not or the evidence is inconclusive."""
        if _clearly_more(self.source_words, self.target_words):
            return None
        if _clearly_more(self.target_words, self.source_words):
            return (
                f"common words of the treebank make up {self.source_words:.0%} of the source side "
                f"but {self.target_words:.0%} of the target side; swap the two sides"
            )
        both = self.source_pieces * self.target_pieces
        if min(self.source_pieces, self.target_pieces) >= EACH and both >= BOTH:
            return (
                f"the source encoder needs {self.source_pieces:.1f} times as many pieces for the "
                f"source side as for the target side, and the target encoder "
                f"{self.target_pieces:.1f} times as many for the target side; swap the two "
                "sides or the two encoders"
            )
        return None


def weigh_sides(
    sample: Sequence[Pair], source: Encoder, target: Encoder, known: Collection[str] = ()
) -> Evidence | None:
    """Weigh the evidence; None if there are too few words. `known` are common source words."""
    # Words found on both sides, such as names, are not evidence.
    source_only = [word for s, t in sample for word in _without(s, t)]
    target_only = [word for s, t in sample for word in _without(t, s)]
    if min(len(source_only), len(target_only)) < MIN_WORDS:
        return None
    return Evidence(
        _share(source_only, known),
        _share(target_only, known),
        source.pieces(source_only) / source.pieces(target_only),
        target.pieces(target_only) / target.pieces(source_only),
    )


def check_sides(
    pairs: Iterable[Pair],
    source: Encoder,
    target: Encoder,
    known: Collection[str] = (),
    *,
    file: str | Path | None = None,
) -> None:
    """Raise an error if the sides are swapped or identical; `known` are common source words."""
    sample = list(islice(pairs, PAIRS))
    _check_different(sample, file)
    evidence = weigh_sides(sample, source, target, known)
    if evidence and (why := evidence.swapped):
        raise TreebridgeError(
            f"source and target look swapped: {why}, or turn off check_sides if they are correct",
            file=file,
        )


def _check_different(sample: Sequence[Pair], file: str | Path | None) -> None:
    same = sum(_lower(pair.source) == _lower(pair.target) for pair in sample)
    if sum(len(pair.source) for pair in sample) >= MIN_WORDS and same >= SAME * len(sample):
        raise TreebridgeError(
            f"source and target are the same text in {same:,} of {len(sample):,} pairs; give the "
            "translation as the target, or turn off check_sides if this is intended",
            file=file,
        )


def _share(words: Sequence[str], known: Collection[str]) -> float:
    bare = _bare(words)
    return sum(word in known for word in bare) / max(1, len(bare))


def _clearly_more(one: float, other: float) -> bool:
    return one >= MIN_RATIO * other and one - other >= MIN_DIFFERENCE


def _without(words: Sequence[str], others: Sequence[str]) -> list[str]:
    shared = set(_lower(others))
    return [word for word in words if word.lower() not in shared]


def _bare(words: Iterable[str]) -> list[str]:
    return [word.lower() for word in words if any(letter.isalpha() for letter in word)]


def _lower(words: Iterable[str]) -> list[str]:
    return [word.lower() for word in words]
