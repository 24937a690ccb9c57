"""Ways to transfer a parser from the source language to a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.mapping import Moments, orthogonal
from treebridge.bridge.settings import BridgeSettings
from treebridge.bridge.space import Space
from treebridge.corpus.files import read_lines
from treebridge.encode.encoder import Encoder
from treebridge.encode.store import encode_into_store
from treebridge.errors import TreebridgeError
from treebridge.experiment.inputs import Target
from treebridge.experiment.lab import Lab
from treebridge.parse.parser import Parser


class Crossing(ABC):
    """A way to make a source parser read the target's vectors."""

    @abstractmethod
    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Return the parser with the target's encoder as input."""

    def key(self, lab: Lab, target: Target, role: str) -> Any:
        """Everything besides parser and encoders that determines the result."""
        return type(self).__name__


class Straight(Crossing):
    """The same encoder on both sides, with no map."""

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Return the parser unchanged."""
        parser.space.check(lab.encoder(target, role))
        return parser


@dataclass(frozen=True)
class Normalized(Crossing):
    """The same encoder on both sides, with no map, but each language with means of its own."""

    sentences: int = 2000  # of the target side of the bitext, as monolingual text

    def key(self, lab: Lab, target: Target, role: str) -> Any:
        """The key of the text."""
        return [lab.gathered_key(target, role, BridgeSettings()), self.sentences]

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Normalize target vectors with the means of target text instead of the treebank's."""
        encoder = lab.encoder(target, role)
        parser.space.check(encoder)
        text = [pair.target for pair in islice(target.find_bitext(), self.sentences)]
        vectors = encode_into_store(encoder, text, progress=lab.progress).vectors
        means = Isotropy.fit(vectors, len(parser.space.isotropy.means))
        own = Space.of(encoder, means)
        return parser.across(Bridge(own, parser.space, np.eye(encoder.dim)), encoder)


class Unmapped(Crossing):
    """Two encoders and no map: target vectors are read as if they were source vectors."""

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Truncate or zero-pad the target vectors if dimensions differ."""
        encoder = lab.encoder(target, role)
        w = np.eye(parser.space.dim, encoder.dim)
        return parser.across(Bridge(Space.of(encoder), parser.space, w), encoder)


@dataclass(frozen=True)
class Fitted(Crossing):
    """A fitted bridge, by default with our settings."""

    settings: BridgeSettings = field(default_factory=BridgeSettings)

    def key(self, lab: Lab, target: Target, role: str) -> Any:
        """The key of the bitext and the settings."""
        return [
            lab.gathered_key(target, role, self.settings),
            asdict(self.settings.fit),
            lab.settings.isotropy_from,
        ]

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Cross a bridge into the parser's space."""
        bridge = lab.bridge(target, role, parser, self.settings)
        if self.settings.fit.isotropy and lab.settings.isotropy_from == "input":
            means = Isotropy.fit(lab.vectors(target, role).vectors)
            bridge = replace(bridge, target=replace(bridge.target, isotropy=means))
        return parser.across(bridge, lab.encoder(target, role))


@dataclass(frozen=True)
class AnchorMean(Crossing):
    """Schuster et al. (2019): mean vectors over all contexts of a type, paired by a dictionary.

    No words are aligned: the two sides of the bitext are used as monolingual text.
    """

    sentences: int = 20_000  # per side

    def key(self, lab: Lab, target: Target, role: str) -> Any:
        """The key of the dictionary and the text."""
        key = lab.gathered_key(target, role, BridgeSettings())
        return [key, self.sentences, _read_dictionary(target)]

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Cross an orthogonal map fitted on the means."""
        bridge = lab.keep_bridge(
            f"{target.code}-anchor-mean",
            parser.space,
            self.key(lab, target, role),
            lambda: self._bridge(lab, target, role, parser.space),
        )
        return parser.across(bridge, lab.encoder(target, role))

    def _bridge(self, lab: Lab, target: Target, role: str, into: Space) -> Bridge:
        pairs = _read_dictionary(target)
        bitext = replace(target.find_bitext(), limit=self.sentences)
        encoders = lab.encoder(lab.source, role), lab.encoder(target, role)
        means = []
        for side, encoder in enumerate(encoders):
            words = {pair[side] for pair in pairs}
            text = (pair[side] for pair in lab.progress.count(bitext, "pairs"))
            means.append(_means(encoder, text, words))
        both = [(s, t) for s, t in pairs if s in means[0] and t in means[1]]
        if not both:
            raise TreebridgeError(
                f"no dictionary entry occurs in the {target.name} bitext; is the source word "
                "in the first column?",
                file=target.dictionary,
            )
        moments = Moments(encoders[1].dim, encoders[0].dim)
        moments.add(
            np.array([means[1][t] for _, t in both]), np.array([means[0][s] for s, _ in both])
        )
        made = {"level": "dictionary", "pairs": len(both), "sentences": self.sentences}
        return Bridge(Space.of(encoders[1]), into, orthogonal(moments), made)


def _read_dictionary(target: Target) -> list[tuple[str, str]]:
    if target.dictionary is None:
        raise TreebridgeError(
            f"no dictionary for {target.name}; give a file with a source word and a target word "
            "per line"
        )
    pairs = []
    for number, line in read_lines(target.dictionary):
        words = line.lower().split()
        if len(words) == 2:
            pairs.append((words[0], words[1]))
        elif words:
            raise TreebridgeError(
                f"expected a source word and a target word, found {len(words)} words",
                file=target.dictionary,
                line=number,
            )
    return pairs


def _means(
    encoder: Encoder, text: Iterable[list[str]], wanted: set[str]
) -> dict[str, NDArray[np.float64]]:
    """Mean vector of every wanted word that occurs, in lower case."""
    sums: dict[str, NDArray[np.float64]] = {}
    counts: dict[str, int] = {}
    kept = [words for words in text if not wanted.isdisjoint(w.lower() for w in words)]
    for words, encoded in zip(kept, encoder.encode(kept), strict=True):
        for word, vector in zip(words, encoded.vectors, strict=True):
            word = word.lower()
            if word in wanted:
                sums[word] = sums.get(word, 0) + vector.astype(np.float64)
                counts[word] = counts.get(word, 0) + 1
    return {word: total / counts[word] for word, total in sums.items()}
