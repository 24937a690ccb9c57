"""Forecast the LAS of a bridged parser on a text, from its agreement with held-out source trees.

Agreement is measured on the bitext. A text with more unknown words or longer sentences is harder;
how much harder was fitted on six languages (`benchmarks/forecast.py`, docs/archive.md#forecast).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from treebridge.corpus.punctuation import is_only_punctuation

SENTENCES = 2000  # of a text that are looked at
# LAS − agreement = BASE + KNOWN · share of known words + LENGTH · log(length ratio)
BASE, KNOWN, LENGTH = -40.3, 62.5, -13.5
ERROR = 4.0  # LAS; 9 of 12 forecasts were within it, each of a language that was left out


class Profile(NamedTuple):
    """What a text is like, as far as it matters to a forecast."""

    known: float  # share of words that are frequent in the bitext: those with an anchor
    length: float  # mean number of words per sentence

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], types: Collection[str]) -> Profile | None:
        """The profile of a text, by its first sentences; None if it has no words."""
        sizes, known, words = [], 0, 0
        for sentence in islice(sentences, SENTENCES):
            spoken = [word.lower() for word in sentence if not is_only_punctuation(word)]
            sizes.append(len(sentence))
            words += len(spoken)
            known += sum(word in types for word in spoken)
        return cls(known / words, sum(sizes) / len(sizes)) if words else None


def forecast(
    agreement: float,
    bitext: Profile,
    text: Profile | None = None,
    *,
    name: str | None = None,
    source: float | None = None,
) -> dict[str, Any]:
    """The LAS to expect on a text or, without one, on text like the bitext.

    It never surpasses the agreement, nor `source`, the LAS of the source parser on its dev file.
    """
    there = text or bitext
    change = LENGTH * math.log(max(there.length, 1) / max(bitext.length, 1))
    expected = agreement + BASE + KNOWN * there.known + change
    most = min(agreement, 100.0 if source is None else source)
    return {
        "LAS": float(min(max(expected, 0.0), most)),
        "error": ERROR,
        "text": name if text else None,
    }
