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
    # Words that stand on both sides, such as names, say nothing.
    ours = [word for s, t in sample for word in _without(s, t)]
    theirs = [word for s, t in sample for word in _without(t, s)]
    if min(len(ours), len(theirs)) < ENOUGH:
        return
    here, there = _share(ours, known), _share(theirs, known)
    if _clearly_more(here, there):
        return
    if _clearly_more(there, here):
        raise TreebridgeError(
            f"source and target look swapped: common words of the treebank make up {here:.0%} of "
            f"the source side, but {there:.0%} of the target side; exchange the two sides, or turn "
            "off check_sides if they are right",
            file=file,
        )
    at_source = source.pieces(ours) / source.pieces(theirs)
    at_target = target.pieces(theirs) / target.pieces(ours)
    if min(at_source, at_target) >= EACH and at_source * at_target >= BOTH:
        raise TreebridgeError(
            f"source and target look swapped: the source encoder needs {at_source:.1f} times as "
            f"many pieces for the source side as for the target side, and the target encoder "
            f"{at_target:.1f} times as many for the target side; exchange the two sides or the two "
            "encoders, or turn off check_sides if they are right",
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
