"""Is the source side of a bitext in the source language? Asked before anything is aligned.

A bitext whose sides are swapped aligns as well as any other and ends in a bridge that looks fair.
Two witnesses tell: the common words of the treebank, where they are known, and else the number of
pieces that each encoder needs for each side. As both sides say the same, an encoder needs fewer for
the language that it was made for. Where the witnesses are in doubt (one encoder for both languages,
encoders that share a vocabulary, a few sentences), nothing is refused.
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

PAIRS = 500  # that are looked at
ENOUGH = 50  # words of each side; fewer prove nothing
COMMON = 100  # words of a treebank; they make up about half of any text
UNLIKE, APART = 2.0, 0.1  # ratio and difference of two shares of common words
EACH, BOTH = 1.1, 1.5  # how many times the pieces: for each encoder, and for both multiplied
SAME = 0.9  # share of pairs with the same words on both sides that cannot be chance


def common_words(sentences: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The words that occur most often, in lower case, without numbers and punctuation."""
    counts = Counter(word for words in sentences for word in _bare(words))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(word for word, _ in ranked[:COMMON])


class Evidence(NamedTuple):
    """What the witnesses say of a bitext's two sides."""

    source_words: float  # share of common words on the source side
    target_words: float  # and on the target side
    source_pieces: float  # how many times as many the source encoder needs for the source side
    target_pieces: float  # and the target encoder for the target side

    @property
    def swapped(self) -> str | None:
        """Why the sides look swapped; None where they do not, or the witnesses are in doubt."""
        if _clearly_more(self.source_words, self.target_words):
            return None
        if _clearly_more(self.target_words, self.source_words):
            return (
                f"common words of the treebank make up {self.source_words:.0%} of the source side, "
                f"but {self.target_words:.0%} of the target side; exchange the two sides"
            )
        both = self.source_pieces * self.target_pieces
        if min(self.source_pieces, self.target_pieces) >= EACH and both >= BOTH:
            return (
                f"the source encoder needs {self.source_pieces:.1f} times as many pieces for the "
                f"source side as for the target side, and the target encoder "
                f"{self.target_pieces:.1f} times as many for the target side; exchange the two "
                "sides or the two encoders"
            )
        return None


def weigh_sides(
    sample: Sequence[Pair], source: Encoder, target: Encoder, known: Collection[str] = ()
) -> Evidence | None:
    """What `known` common source words and the two encoders say; None of too few words."""
    # Words that stand on both sides, such as names, say nothing.
    ours = [word for s, t in sample for word in _without(s, t)]
    theirs = [word for s, t in sample for word in _without(t, s)]
    if min(len(ours), len(theirs)) < ENOUGH:
        return None
    return Evidence(
        _share(ours, known),
        _share(theirs, known),
        source.pieces(ours) / source.pieces(theirs),
        target.pieces(theirs) / target.pieces(ours),
    )


def check_sides(
    pairs: Iterable[Pair],
    source: Encoder,
    target: Encoder,
    known: Collection[str] = (),
    *,
    file: str | Path | None = None,
) -> None:
    """Refuse pairs whose sides are swapped or the same; `known` are common source words."""
    sample = list(islice(pairs, PAIRS))
    _check_different(sample, file)
    evidence = weigh_sides(sample, source, target, known)
    if evidence and (why := evidence.swapped):
        raise TreebridgeError(
            f"source and target look swapped: {why}, or turn off check_sides if they are right",
            file=file,
        )


def _check_different(sample: Sequence[Pair], file: str | Path | None) -> None:
    same = sum(_lower(pair.source) == _lower(pair.target) for pair in sample)
    if sum(len(pair.source) for pair in sample) >= ENOUGH and same >= SAME * len(sample):
        raise TreebridgeError(
            f"source and target are the same text in {same:,} of {len(sample):,} pairs; give the "
            "translation as the target, or turn off check_sides if they are right",
            file=file,
        )


def _share(words: Sequence[str], known: Collection[str]) -> float:
    bare = _bare(words)
    return sum(word in known for word in bare) / max(1, len(bare))


def _clearly_more(one: float, other: float) -> bool:
    return one >= UNLIKE * other and one - other >= APART


def _without(words: Sequence[str], others: Sequence[str]) -> list[str]:
    shared = set(_lower(others))
    return [word for word in words if word.lower() not in shared]


def _bare(words: Iterable[str]) -> list[str]:
    return [word.lower() for word in words if any(letter.isalpha() for letter in word)]


def _lower(words: Iterable[str]) -> list[str]:
    return [word.lower() for word in words]
