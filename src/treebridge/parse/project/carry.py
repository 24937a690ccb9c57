"""Make training sentences for a bridged parser from a bitext and its links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge import sides
from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoder
from treebridge.encode.store import encode_into_store
from treebridge.errors import TreebridgeError
from treebridge.parse.distributions import distributions
from treebridge.parse.lexical import lexicon_limits
from treebridge.parse.padding import Indices, Rows
from treebridge.parse.parser import Parser
from treebridge.parse.project.projected import Filling, Projected, limited
from treebridge.parse.project.projection import LinkArray, Soft, density, mask, project
from treebridge.parse.settings import ProjectSettings
from treebridge.parse.word_order import WordOrder
from treebridge.progress import QUIET, Progress

T = TypeVar("T")


def choose_pairs(
    pairs: Iterable[tuple[Pair, LinkArray]], settings: ProjectSettings, seed: int = 1
) -> list[tuple[Pair, LinkArray]]:
    """Draw pairs of suitable length and link density uniformly, holding only those in memory."""

    def good(item: tuple[Pair, LinkArray]) -> bool:
        (source, target), links = map(len, item[0]), item[1]
        if not settings.shortest <= target <= settings.longest or source > 2 * settings.longest:
            return False
        return density(links, source, target) >= settings.density

    kept = _draw(filter(good, pairs), settings.sentences, seed)
    if len(kept) < 20:
        raise TreebridgeError(
            f"only {len(kept)} sentence pairs have {settings.shortest}–{settings.longest} target "
            f"words, at least {settings.density:.0%} of them aligned; give more parallel text"
        )
    return kept


def choose_sentences(
    sentences: Iterable[Sequence[str]], settings: ProjectSettings, seed: int = 1
) -> list[Sequence[str]]:
    """Draw sentences of suitable length uniformly."""
    good = (words for words in sentences if settings.shortest <= len(words) <= settings.longest)
    return _draw(good, settings.sentences, seed)


def _draw(items: Iterable[T], most: int, seed: int) -> list[T]:
    """Draw at most `most` items uniformly (reservoir sampling)."""
    rng = np.random.default_rng(seed)
    kept: list[T] = []
    for seen, item in enumerate(items, 1):
        if len(kept) < most:
            kept.append(item)
        elif (place := int(rng.integers(seen))) < most:
            kept[place] = item
    return kept


def carry(
    pairs: Sequence[tuple[Pair, LinkArray]],
    parser: Parser,
    bridged: Parser,
    settings: ProjectSettings,
    *,
    tagger: Parser | None = None,
    progress: Progress = QUIET,
    check_sides: bool = True,
) -> tuple[Projected, WordOrder]:
    """Parse the source sides, project the distributions over the links, keep confident sentences.

    The word order of the target is estimated from the same trees and links. A parser trained on
    gold tags needs a tagger: a parser in the same space that predicts tags. Raises an error if the
    sides look swapped, unless `check_sides` is false.
    """
    _check_tagger(tagger, parser)
    if check_sides:
        walk = (pair for pair, _ in pairs)
        known = parser.space.words
        sides.check_sides(walk, parser.load_encoder(), bridged.load_encoder(), known)
    projected, confidence, order = project_pairs(pairs, parser, tagger=tagger, progress=progress)
    targets = [pair.target for pair, _ in pairs]
    found = complete(
        targets, projected, confidence, bridged, settings, tagger=tagger, progress=progress
    )
    return found, order


def project_pairs(
    pairs: Sequence[tuple[Pair, LinkArray]],
    parser: Parser,
    *,
    tagger: Parser | None = None,
    progress: Progress = QUIET,
) -> tuple[list[Soft], NDArray[np.float64], WordOrder]:
    """The source parser's distributions for each target sentence, its confidence, the word order.

    Words without links have no probability mass.
    """
    source = _vectors(parser.load_encoder(), [p.source for p, _ in pairs], parser, progress)
    tags = _tags(tagger, source, parser)
    soft: list[Soft | None] = [None] * len(pairs)
    confidence = np.zeros(len(pairs))
    order = WordOrder()
    for index, predicted in distributions(parser.biaffine, source, tags, parser.device):
        pair, links = pairs[index]
        soft[index] = project(predicted, links, len(pair.target))
        order.add(predicted.arcs.argmax(1), predicted.labels.argmax(1), links)
        confidence[index] = predicted.confidence()
    return [part for part in soft if part is not None], confidence, order


def complete(
    targets: Sequence[Sequence[str]],
    carried: list[Soft],
    confidence: NDArray[np.float64],
    bridged: Parser,
    settings: ProjectSettings,
    *,
    tagger: Parser | None = None,
    progress: Progress = QUIET,
) -> Projected:
    """Keep confident sentences, fill or mask what links did not tell, and apply the lexicon."""
    least = np.quantile(confidence, 1 - settings.confident)
    keep = np.flatnonzero(confidence >= least).tolist()
    words = [targets[i] for i in keep]
    vectors = _vectors(bridged.load_encoder(), words, bridged, progress)
    kept = Projected(vectors, [carried[i].half() for i in keep], words)
    limits = None
    if bridged.lexicon:
        limits = lexicon_limits(bridged.lexicon, bridged.tags, bridged.labels)
    if not settings.fill:
        masked = [mask(part) for part in kept.soft]
        return replace(kept, soft=limited(masked, kept.words, limits))
    tags = _tags(tagger, kept.vectors, bridged)
    filling = Filling(kept.soft, settings.own_labels, tags, limits)
    return replace(kept, filling=filling).filled(bridged.biaffine, kept.vectors, bridged.device)


def own_distributions(
    sentences: Sequence[Sequence[str]],
    bridged: Parser,
    settings: ProjectSettings,
    *,
    tagger: Parser | None = None,
    progress: Progress = QUIET,
) -> Projected:
    """Self-training: the parser's own sharpened distributions, for its most confident sentences.

    `tagger` as in `carry`: trained on the source, it tags the target too.
    """
    if not any(sentences):
        raise TreebridgeError(
            f"no sentence has {settings.shortest}–{settings.longest} words; give more text"
        )
    _check_tagger(tagger, bridged)
    target = _vectors(bridged.load_encoder(), sentences, bridged, progress)
    tags = _tags(tagger, target, bridged)
    limits = None
    if bridged.lexicon:
        limits = lexicon_limits(bridged.lexicon, bridged.tags, bridged.labels)
    soft: dict[int, Soft] = {}
    confidence: dict[int, float] = {}
    for index, predicted in distributions(bridged.biaffine, target, tags, bridged.device):
        confidence[index] = predicted.confidence()
        if limits:
            words = sentences[index]
            predicted = predicted._replace(tags=limits.allowed(predicted.tags, words))
        soft[index] = Soft(*(_sharpen(part) for part in predicted)).half()
    least = np.quantile([*confidence.values()], 1 - settings.confident)
    keep = [index for index in sorted(soft) if confidence[index] >= least]
    return Projected(
        [target[i] for i in keep], [soft[i] for i in keep], [sentences[i] for i in keep]
    )


def _sharpen(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    squared = rows.astype(np.float32) ** 2
    return np.asarray(squared / np.maximum(squared.sum(1, keepdims=True), 1e-9), np.float32)


def _vectors(
    encoder: Encoder, sentences: Sequence[Sequence[str]], parser: Parser, progress: Progress
) -> list[Rows]:
    """Vectors of each sentence in the parser's space, in fp16."""
    store = encode_into_store(encoder, list(sentences), progress=progress)
    into = parser.bridge.transform if parser.bridge else parser.space.transform
    rows: list[Rows] = []
    for start in range(0, len(store), 1024):
        rows += [
            into(store[i]).astype(np.float16) for i in range(start, min(start + 1024, len(store)))
        ]
    return rows


def _check_tagger(tagger: Parser | None, parser: Parser) -> None:
    if parser.settings.tags != "gold":
        return
    if tagger is None:
        raise TreebridgeError(
            "the parser was trained on gold tags, which text does not have; give a tagger: a "
            "parser with the same encoder, trained with predicted tags"
        )
    if tagger.settings.tags != "predicted" or tagger.space.fingerprint != parser.space.fingerprint:
        raise TreebridgeError(
            "the tagger must be a parser trained with predicted tags and the same encoder"
        )


def _tags(tagger: Parser | None, vectors: Sequence[Rows], parser: Parser) -> list[Indices] | None:
    """The tagger's predictions as the parser's tag indices; None if the parser needs no tags."""
    if parser.settings.tags != "gold" or tagger is None:
        return None
    found: list[Indices] = [np.zeros(0, np.int64)] * len(vectors)
    for index, predicted in distributions(tagger.biaffine, vectors, device=tagger.device):
        names = tagger.tags.names(predicted.tags.argmax(1))
        found[index] = parser.tags.numbers(names)
    return found
