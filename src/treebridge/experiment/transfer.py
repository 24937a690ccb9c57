"""How the parser of a system gets from the source language to a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
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
from treebridge.errors import TreebridgeError
from treebridge.experiment.inputs import Target
from treebridge.experiment.lab import Lab
from treebridge.parse.parser import Parser


class Crossing(ABC):
    """What is done to a source parser so that it reads the target's vectors."""

    @abstractmethod
    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """The same parser, fed by the target's encoder."""

    def key(self, lab: Lab, target: Target, role: str) -> Any:
        """What decides the result, beside parser and encoders, without making it."""
        return type(self).__name__


class Straight(Crossing):
    """One encoder on both sides, and nothing between."""

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """The parser itself."""
        parser.space.check(lab.encoder(target, role))
        return parser


class Unmapped(Crossing):
    """Two encoders and no map: the target's numbers are read as if they were the source's."""

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Where dimensions differ, what is too much is cut, what is missing is zero."""
        encoder = lab.encoder(target, role)
        w = np.eye(parser.space.dim, encoder.dim)
        return parser.across(Bridge(Space.of(encoder), parser.space, w), encoder)


@dataclass(frozen=True)
class Fitted(Crossing):
    """A bridge; by default the product's own."""

    settings: BridgeSettings = field(default_factory=BridgeSettings)

    def key(self, lab: Lab, target: Target, role: str) -> Any:
        """Of bitext and settings."""
        return [
            lab.gathered_key(target, role, self.settings),
            asdict(self.settings.fit),
            lab.settings.isotropy_from,
        ]

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Across a bridge into the parser's space."""
        bridge = lab.bridge(target, role, parser.space, self.settings)
        if self.settings.fit.isotropy and lab.settings.isotropy_from == "input":
            means = Isotropy.fit(lab.vectors(target, role).vectors)
            bridge = replace(bridge, target=replace(bridge.target, isotropy=means))
        return parser.across(bridge, lab.encoder(target, role))


@dataclass(frozen=True)
class AnchorMean(Crossing):
    """Schuster et al. (2019): means over all contexts of a type, paired by a dictionary.

    No word is aligned: each side of the bitext serves as text of its language.
    """

    sentences: int = 20_000  # of each side

    def key(self, lab: Lab, target: Target, role: str) -> Any:
        """Of dictionary and text."""
        key = lab.gathered_key(target, role, BridgeSettings())
        return [key, self.sentences, _read_dictionary(target)]

    def cross(self, lab: Lab, target: Target, role: str, parser: Parser) -> Parser:
        """Across an orthogonal map of the means."""
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
                f"no pair of the dictionary occurs in the {target.name} text; is the source word "
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
            f"there is no dictionary for {target.name}; give one with "
            f"--dictionary {target.code}=FILE (a source word and a target word a line)"
        )
    pairs = []
    for number, line in read_lines(target.dictionary):
        words = line.lower().split()
        if len(words) == 2:
            pairs.append((words[0], words[1]))
        elif words:
            raise TreebridgeError(
                f"{len(words)} words; a source word and a target word are expected",
                file=target.dictionary,
                line=number,
            )
    return pairs


def _means(
    encoder: Encoder, text: Iterable[list[str]], wanted: set[str]
) -> dict[str, NDArray[np.float64]]:
    """The mean vector of every wanted word that occurs, in lower case."""
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
