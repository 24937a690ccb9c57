"""Several parsers vote: the mean of their distributions, decoded as those of one parser.

Each parser reads the same words through its own encoder and bridge, so the vectors of a word are
put side by side, and each network looks at its own part of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.space import Space
from treebridge.encode.encoder import Encoded, Encoder, Words
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.network import Floats, Numbers, Scored
from treebridge.parse.parser import Parser
from treebridge.parse.predict import log_softmax
from treebridge.parse.settings import TagsFrom
from treebridge.parse.vocab import Names


def load_parsers(
    models: Sequence[str | Path],
    encoder: str | None = None,
    settings: EncoderSettings | None = None,
    bridge: str | Path | None = None,
    lexicon: str | Path | None = None,
    columns: Sequence[str] | None = None,
) -> Parser:
    """Load a model, or several that vote; `bridge` is for those that have none."""
    if len(models) == 1:
        return Parser.load(models[0], encoder, settings, bridge, lexicon, columns)
    parsers = [Parser.load(model, encoder_settings=settings) for model in models]
    if bridge is not None:
        parsers = [one if one.bridge else one.across(Bridge.load(bridge)) for one in parsers]
    if encoder is not None:
        raise TreebridgeError("several models cannot share a moved encoder; name one model")
    return voting(parsers).writing(columns).with_lexicon(lexicon)


def voting(parsers: Sequence[Parser]) -> Parser:
    """One parser whose distributions are the mean of several; it predicts trees and tags."""
    languages = {parser.language for parser in parsers} - {None}
    if len(languages) > 1:
        raise TreebridgeError(
            f"these models are for different languages ({', '.join(sorted(map(str, languages)))}), "
            "so they cannot vote on one text"
        )
    encoders: list[Encoder] = []
    places: list[slice] = []  # the part of a word's vectors that each parser reads
    for parser in parsers:
        own = parser.load_encoder()
        known = [one.cache_key for one in encoders]
        if own.cache_key not in known:
            encoders.append(own)
            known.append(own.cache_key)
        number = known.index(own.cache_key)
        start = sum(one.dim for one in encoders[:number])
        places.append(slice(start, start + own.dim))
    joint = JointEncoder(encoders)
    labels = Names.collect(label for parser in parsers for label in parser.labels)
    tags = Names.collect(tag for parser in parsers for tag in parser.tags)
    plain = Space.of(joint)
    voted = Parser(
        Vote(parsers, labels, tags),
        JointSpace(**vars(plain), parsers=tuple(parsers), places=tuple(places)),
        labels,
        tags,
        about={"language": next(iter(languages), None)},
        encoder=joint,
    )
    for parser in parsers:
        voted = voted.with_lexicon(parser.lexicon)
    return voted


class JointEncoder(Encoder):
    """The vectors of several encoders side by side."""

    def __init__(self, encoders: Sequence[Encoder]):
        self.encoders = list(encoders)
        self.name = " + ".join(encoder.name for encoder in encoders)
        self.dim = sum(encoder.dim for encoder in encoders)

    @property
    def fingerprint(self) -> str:
        """A hash of all fingerprints."""
        parts = "\n".join(encoder.fingerprint for encoder in self.encoders)
        return hashlib.sha256(parts.encode()).hexdigest()

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        """Yield the vectors of each sentence in order; the sentences are held in memory."""
        words = list(sentences)
        for parts in zip(*(encoder.encode(words) for encoder in self.encoders), strict=True):
            whole = np.all([part.whole for part in parts], axis=0)
            yield Encoded(np.concatenate([part.vectors for part in parts], 1), whole)

    def whole(self, words: Words) -> NDArray[np.bool_]:
        """Which of these words are whole for all encoders."""
        return np.asarray(np.all([encoder.whole(words) for encoder in self.encoders], axis=0))


@dataclass(frozen=True)
class JointSpace(Space):
    """The spaces of several parsers side by side."""

    parsers: tuple[Parser, ...] = ()
    places: tuple[slice, ...] = ()

    def transform(self, vectors: NDArray[np.floating]) -> NDArray[np.float32]:
        """Each part of the vectors as its parser wants it."""
        return np.concatenate([
            (parser.bridge or parser.space).transform(vectors[:, place])
            for parser, place in zip(self.parsers, self.places, strict=True)
        ], 1)  # fmt: skip


class Vote:
    """A network that averages the probabilities of several."""

    def __init__(self, parsers: Sequence[Parser], labels: Names, tags: Names):
        self.parsers = list(parsers)
        self.labels, self.tags = labels, tags
        self.at_once = min(parser.model.at_once for parser in parsers)
        self.batch_words = min(parser.model.batch_words for parser in parsers)
        kinds = {parser.settings.tags for parser in parsers}  # needed if any parser needs them
        order: tuple[TagsFrom, ...] = ("gold", "predicted", "none")
        kind = next(kind for kind in order if kind in kinds)
        self.settings = replace(parsers[0].settings, tags=kind)
        self._own_labels = [labels.numbers(parser.labels) for parser in parsers]
        self._own_tags = [tags.numbers(parser.tags) for parser in parsers]
        self._ends = np.cumsum([parser.space.dim for parser in parsers])[:-1]

    def score(
        self, vectors: Floats, lengths: Numbers, tags: Numbers, added: Floats | None = None
    ) -> Scored:
        """Score a padded batch whose vectors are those of all parsers side by side."""
        parts = np.split(vectors, self._ends, axis=-1)
        scored = []
        for parser, own, part in zip(self.parsers, self._own_tags, parts, strict=True):
            to_own = np.full(len(self.tags) + 1, -1)  # the last is for −1
            to_own[own] = np.arange(len(own))
            limited = None if added is None else np.ascontiguousarray(added[..., own])
            known = to_own[tags]
            scored.append(parser.model.score(np.ascontiguousarray(part), lengths, known, limited))
        heats = [parser.temperatures for parser in self.parsers]
        both = list(zip(scored, heats, strict=True))

        def labels(heads: Numbers) -> Floats:
            found = [_softmax(one.labels(heads), heat.label) for one, heat in both]
            return _mean(found, self._own_labels, len(self.labels))

        tagged = [
            (_softmax(one.tags), own)
            for one, own in zip(scored, self._own_tags, strict=True)
            if one.tags is not None
        ]
        everywhere = [np.arange(scored[0].arcs.shape[-1])] * len(scored)
        arcs = [_softmax(one.arcs, heat.arc) for one, heat in both]
        return Scored(
            _mean(arcs, everywhere, len(everywhere[0])),
            _mean([t for t, _ in tagged], [own for _, own in tagged], len(self.tags))
            if tagged
            else None,
            labels,
        )


def _softmax(scores: Floats, heat: float = 1.0) -> Floats:
    return np.exp(log_softmax(scores / np.float32(heat)))


def _mean(parts: Sequence[Floats], columns: Sequence[Numbers], size: int) -> Floats:
    """Logarithms of mean probabilities; part k has the columns `columns[k]` of `size`."""
    total = np.zeros((*parts[0].shape[:-1], size), np.float32)
    for part, own in zip(parts, columns, strict=True):
        total[..., own] += part / len(parts)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total), np.float32)
