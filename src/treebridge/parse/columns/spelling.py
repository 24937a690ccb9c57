"""What the spelling of words says of their features: votes of endings and of whole words.

Vectors know little of the endings of rare words; trees of a language show what its endings mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treebridge.parse.padding import Indices

LONGEST = 4  # characters of an ending
MOST = 6000  # keys that one source of words adds


def keys_of(form: str, tag: int) -> list[str]:
    """The keys of a word: its endings alone and with its tag's number, and the word itself."""
    lower = form.lower()
    endings = [lower[-size:] for size in range(1, min(LONGEST, len(lower)) + 1)]
    return [*(f"-{x}" for x in endings), *(f"{tag}-{x}" for x in endings), f"{tag}={lower}"]


@dataclass(frozen=True)
class Spelling:
    """Keys, and what each adds to the scores of the classifiers."""

    keys: dict[str, int]
    votes: NDArray[np.float32]  # [keys, width]

    @classmethod
    def of(
        cls,
        forms: Sequence[Sequence[str]],
        tags: Sequence[Indices],
        width: int,
        known: Spelling | None = None,
    ) -> Spelling:
        """Room for the most frequent keys of sentences, behind known ones; they add nothing yet."""
        pairs = zip(forms, tags, strict=True)
        words = (word for each, own in pairs for word in zip(each, own.tolist(), strict=True))
        counts = Counter(key for form, tag in words for key in keys_of(form, tag))
        old = known.keys if known else {}
        chosen = sorted(counts.keys() - old.keys(), key=lambda key: (-counts[key], key))[:MOST]
        votes = np.zeros((len(old) + len(chosen), width), np.float32)
        if known:
            votes[: len(old)] = known.votes
        return cls({key: number for number, key in enumerate([*old, *chosen])}, votes)

    def numbers(
        self, forms: Sequence[Sequence[str]], tags: Sequence[Indices]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The known keys of the words of sentences, and the word that each belongs to."""
        found: list[int] = []
        words: list[int] = []
        word = 0
        for sentence, numbers in zip(forms, tags, strict=True):
            for form, tag in zip(sentence, numbers.tolist(), strict=True):
                known = [self.keys[key] for key in keys_of(form, tag) if key in self.keys]
                found += known
                words += [word] * len(known)
                word += 1
        return np.array(found, np.int64), np.array(words, np.int64)

    def add_to(
        self, scores: NDArray[np.float32], forms: Sequence[Sequence[str]], tags: Sequence[Indices]
    ) -> None:
        """Add the votes of all keys to the scores [words, width]."""
        keys, words = self.numbers(forms, tags)
        np.add.at(scores, words, self.votes[keys])
