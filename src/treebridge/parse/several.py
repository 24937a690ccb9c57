"""Trees of several languages in one space: the first treebank, and others through their bridges.

A parser lives in one space, and a bridge leads from any language into it, so trees of every
language that has a bridge can join the training.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.space import Space
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.trees import digest_trees
from treebridge.encode.encoder import Encoder
from treebridge.encode.store import VectorStore, encode_into_store
from treebridge.errors import TreebridgeError
from treebridge.keys import key_of, key_of_bytes
from treebridge.parse.batches import Examples
from treebridge.parse.biaffine import Batch
from treebridge.parse.padding import Indices
from treebridge.parse.settings import ParserSettings
from treebridge.parse.vocab import Names
from treebridge.progress import QUIET, Progress

AGAIN = 10_000  # more epochs than any training has, so that no repetition is shuffled as another
COLUMNS = ("tags", "heads", "labels", "words")
SAME = 0.1  # relative distance of isotropy means up to which two spaces count as one


@dataclass(frozen=True)
class Source:
    """A further treebank, and the bridge from its language into the parser's space."""

    trees: Sequence[Sentence]
    bridge: Bridge
    encoder: Encoder
    name: str = "a further treebank"  # for messages and the model card
    licence: str | None = None

    def check(self, space: Space) -> None:
        """Raise an error unless the bridge leads into this space."""
        into = self.bridge.into
        if into.fingerprint != space.fingerprint:
            raise TreebridgeError(
                f"the bridge of {self.name} leads into the space of {into.encoder!r}, but the "
                f"parser is trained in that of {space.encoder!r}; fit the bridge into a parser "
                "with this encoder"
            )
        if not same_means(into, space):
            raise TreebridgeError(
                f"the bridge of {self.name} leads into the space of a parser that was trained on "
                "other trees; fit it into a parser of the first treebank"
            )
        self.bridge.check(self.encoder)

    @property
    def key(self) -> str:
        """A hash of trees, encoder and bridge."""
        means = self.bridge.target.isotropy.means
        arrays = (self.bridge.w, self.bridge.translation, means)
        parts = (array.tobytes() for array in arrays)
        return key_of(digest_trees(self.trees), self.encoder.cache_key, key_of_bytes(parts))

    def describe(self) -> dict[str, Any]:
        """What a model card says about it."""
        return {
            "treebank": self.name,
            "licence": self.licence,
            "language": self.bridge.made.get("target_language"),
            "bitext": self.bridge.made.get("bitext"),
            "sentences": len(self.trees),
            "words": sum(map(len, self.trees)),
        }

    def store(self, progress: Progress = QUIET) -> VectorStore:
        """The vectors of its words, encoded once and cached."""
        return encode_into_store(self.encoder, [s.forms for s in self.trees], progress=progress)

    def examples(self, labels: Names, tags: Names, progress: Progress = QUIET) -> Examples:
        """Its trees as training examples in the parser's space."""
        return Examples.of(self.trees, self.store(progress), self.bridge, labels, tags)


def same_means(one: Space, other: Space) -> bool:
    """Whether two spaces of one encoder have nearly the same isotropy."""
    a, b = one.isotropy.means, other.isotropy.means
    if a.shape != b.shape:
        return False
    return bool(np.linalg.norm(a - b) <= SAME * max(float(np.linalg.norm(b)), 1e-9))


def names_in(treebanks: Sequence[Sequence[Sentence]]) -> tuple[Names, Names]:
    """All labels and tags of some treebanks, joined by name."""
    labels = Names.collect(label for trees in treebanks for s in trees for label in s.deprels)
    return labels, Names.collect(tag for trees in treebanks for s in trees for tag in s.upos)


def automatic_weights(words: Sequence[int], nearness: Sequence[float] | None = None) -> list[float]:
    """How often each treebank is seen in an epoch: the first once, smaller ones more often.

    The share of a treebank grows with the root of its size, as is usual where languages are mixed.
    `nearness` of the further ones to the target, 0 to 1, scales that down.
    """
    first = max(words[0], 1)
    near = nearness if nearness is not None else [1.0] * (len(words) - 1)
    further = zip(words[1:], near, strict=True)
    return [1.0, *(share * (first / max(size, 1)) ** 0.5 for size, share in further)]


class Mixture(Examples):
    """Examples of several treebanks as one; a weight says how often a treebank is in an epoch.

    Vectors are read from the store of each treebank and go through its own bridge.
    """

    def __init__(self, parts: Sequence[Examples], weights: Sequence[float]):
        if len(parts) != len(weights):
            raise TreebridgeError(
                f"{len(weights)} weights for {len(parts)} treebanks; give one for each, the first "
                "included"
            )
        if min(weights) < 0 or not any(weights):
            raise TreebridgeError("weights must not be negative, and one of them must be positive")
        super().__init__(
            parts[0].store,
            parts[0].space,
            *([row for part in parts for row in getattr(part, column)] for column in COLUMNS),
        )
        self.parts, self.weights = list(parts), [float(weight) for weight in weights]
        self._first = np.cumsum([0, *(len(part.heads) for part in parts)])  # index of each part

    @property
    def lengths(self) -> Indices:
        """Words of each sentence of all treebanks."""
        return np.concatenate([part.lengths for part in self.parts])

    def epoch(self, settings: ParserSettings, epoch: int) -> list[Indices]:
        """The batches of an epoch, each with sentences of one treebank."""
        batches: list[Indices] = []
        for number, (part, weight) in enumerate(zip(self.parts, self.weights, strict=True)):
            rounds = int(np.ceil(weight))
            for again in range(rounds):
                # Each repetition is shuffled anew; the last one may be a part of the treebank.
                plan = part.epoch(settings, epoch + AGAIN * again)
                share = min(1.0, weight - again)
                batches += [here + self._first[number] for here in plan[: round(share * len(plan))]]
        rng = np.random.default_rng([settings.seed, epoch, 2])
        return [batches[i] for i in rng.permutation(len(batches))]

    def batches(self, epoch: Sequence[Indices]) -> Iterator[Batch]:
        """Read batches from the disk, each through the bridge of its treebank."""
        for indices in epoch:
            number = int(np.searchsorted(self._first, indices[0], side="right")) - 1
            yield from self.parts[number].batches([indices - self._first[number]])

    def describe(self, also: Sequence[Source]) -> dict[str, Any]:
        """What a parser's config.json says about the further treebanks."""
        both = zip(also, self.weights[1:], strict=True)
        sources = [{**source.describe(), "weight": weight} for source, weight in both]
        return {"weight": self.weights[0], "sources": sources}

    def digest(self) -> str:
        """A hash of all that training depends on."""
        digest = hashlib.sha256(repr(self.weights).encode())
        for part in self.parts:
            digest.update(part.digest().encode())
            if isinstance(part.space, Bridge):
                digest.update(part.space.w.tobytes() + part.space.translation.tobytes())
        return digest.hexdigest()


def with_others(
    first: Examples | None,
    also: Sequence[Source],
    names: tuple[Names, Names],
    weights: Sequence[float] | None = None,
    progress: Progress = QUIET,
) -> Mixture:
    """The first treebank's examples, if any, with those of others; `names` are labels and tags."""
    others = [source.examples(*names, progress) for source in also]
    parts = [first, *others] if first is not None else others
    words = [int(part.lengths.sum()) for part in parts]
    if weights is None:
        weights = automatic_weights(words)
    elif first is None:
        weights = weights[1:]
    return Mixture(parts, weights)
