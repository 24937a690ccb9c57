"""Refine a parser: prepare the training data, run the passes, return the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from treebridge.bridge.make import find_links
from treebridge.bridge.settings import BridgeSettings
from treebridge.bridge.sides import check_sides
from treebridge.corpus.bitext import Bitext, Pair
from treebridge.corpus.sentence import Sentence
from treebridge.encode.store import encode_into_store
from treebridge.errors import TreebridgeError
from treebridge.parse.agreement import Trial, without_held_out
from treebridge.parse.averaged_tags import with_tag_prior
from treebridge.parse.batches import Examples
from treebridge.parse.columns.refining import refine_columns
from treebridge.parse.given import check_given
from treebridge.parse.judge import judged
from treebridge.parse.metrics import Metrics
from treebridge.parse.new_labels import new_labels, with_labels
from treebridge.parse.parser import Parser
from treebridge.parse.project.carry import carry, choose_pairs, choose_sentences, own_distributions
from treebridge.parse.project.projected import Projected
from treebridge.parse.project.projection import LinkArray
from treebridge.parse.project.several import Lesson, carry_several
from treebridge.parse.refine import Refining
from treebridge.parse.settings import RefineSettings
from treebridge.parse.several import Source, with_others
from treebridge.parse.tuning import with_tuning
from treebridge.parse.word_order import WordOrder, in_order
from treebridge.progress import QUIET, Progress

LinkedPairs = Iterable[tuple[Pair, LinkArray]]


@dataclass(frozen=True)
class Refinement:
    """A refined parser, its history and its training data."""

    parser: Parser
    history: list[Metrics]  # of the last pass; the first entry is before training
    sentences: int  # projected or self-labelled
    new_labels: tuple[str, ...] = ()  # in the user's trees but not in the source treebank
    tuned: bool = False  # whether the encoder learned, too


def refine_parser(
    bridged: Parser,
    settings: RefineSettings,
    *,
    bitext: Bitext | None = None,
    linking: BridgeSettings | None = None,
    pairs: LinkedPairs | None = None,
    bitexts: Sequence[tuple[Bitext, Parser]] = (),
    sentences: Iterable[Sequence[str]] | None = None,
    treebank: Sequence[Sentence] | None = None,
    also: Sequence[Source] = (),
    weights: Sequence[float] | None = None,
    trees: Sequence[Sentence] = (),
    tagger: Parser | None = None,
    teacher: Parser | None = None,
    work: Path | None = None,
    progress: Progress = QUIET,
) -> Refinement:
    """Train a bridged parser on projected trees, its own most confident parses, or given trees.

    `pairs` is a bitext with its links, if already aligned; `teacher` is the source parser, if
    already loaded with its encoder. `bitexts` are further ones of the same target, each with the
    parser of its own source language. `also` are treebanks of other languages that are mixed in
    with `treebank`, `weights` say how often each of them is. Heads, labels and tags of `trees` may
    be unknown (`_`): these words are skipped by the loss.
    """
    if bridged.bridge is None:
        raise TreebridgeError("refining needs a parser with a bridge to the target language")
    if not any((bitext, pairs, bitexts, trees)) and sentences is None:
        raise TreebridgeError("nothing to learn from: give a bitext, target text or target trees")
    check_given(trees)
    if teacher is None and any(given is not None for given in (bitext, pairs, treebank)):
        teacher = source_parser(bridged)
    for source in also:
        source.check(bridged.space)
    if trees and treebank is None and not also:
        progress.say(
            "no source trees: with few trees of its own, the parser may forget more than it learns"
        )
    if bitext is not None and pairs is None:
        if bitext.language is None:
            bitext = replace(bitext, target_language=bridged.language)
        linking = linking or BridgeSettings()
        if linking.check_sides:  # before the slow alignment
            assert teacher is not None
            encoders = teacher.load_encoder(), bridged.load_encoder()
            check_sides(bitext, *encoders, bridged.space.words, file=bitext.paths[0])
        pairs = _linked(bitext, linking, progress)
    told = [*trees, *(tree for source in also for tree in source.trees)]
    labels = [label for tree in told for label in tree.deprels]
    further = new_labels(bridged, labels)
    if further:
        progress.say(f"new labels from your trees: {', '.join(further)}")
    bridged = with_labels(bridged, labels, trees)
    if teacher is not None and further:
        teacher = replace(teacher, model=bridged.biaffine, labels=bridged.labels)
    project = settings.project
    chosen, trial = None, None
    if pairs is not None and teacher is not None:
        held: list[tuple[Pair, LinkArray]] = []
        collected = (linking or BridgeSettings()).collect
        chosen = choose_pairs(without_held_out(pairs, collected, held), project, settings.seed)
        trial = Trial.prepare(held, teacher, bridged.load_encoder())
    more = [
        further_lesson(one, source, bridged, settings, linking or BridgeSettings(), progress)
        for one, source in bitexts
    ]
    text = None
    if chosen is None and not more and sentences is not None:
        text = choose_sentences(sentences, project, settings.seed)
    first = _examples(treebank, teacher, progress) if treebank is not None and teacher else None
    refined, learned, tuned = bridged, 0, False
    history: list[Metrics] = []
    for number in range(1, settings.passes + 1):
        if settings.passes > 1:
            progress.step(f"pass {number} of {settings.passes}")
        projected, order = Projected([], [], []), WordOrder()
        if more:
            main = [Lesson(chosen, teacher, _weight(trial, refined))] if chosen and teacher else []
            projected, order = carry_several(
                [*main, *more], refined, project, tagger=tagger, progress=progress
            )
        elif chosen is not None and teacher is not None:
            projected, order = carry(chosen, teacher, refined, project, tagger=tagger,
                                     progress=progress, check_sides=False)  # fmt: skip
        elif text is not None:
            projected = own_distributions(text, refined, project, tagger=tagger, progress=progress)
        mixed_in = in_order(first, order) if first and settings.reorder else first
        if also:  # their word order is their own
            names = refined.labels, refined.tags
            mixed_in = with_others(mixed_in, also, names, weights, progress)
        refining = Refining(
            refined,
            projected,
            mixed_in,
            _examples(trees, refined, progress) if trees else None,
            settings,
            progress,
            work and work / str(number),  # a finished pass is not repeated after an interruption
            None if trees else trial,  # what the user's trees teach may differ from the source
        )
        refining = with_tuning(refining)
        tuned = tuned or refining.tune
        refined, history = refining.run()
        if trial is not None and refining.tune:
            trial = trial.read_by(refined.load_encoder())
        learned = len(projected)
    lessons = [chosen or (), *(lesson.pairs for lesson in more)]
    words = [pair.target for pairs in lessons for pair, _ in pairs] or text or ()
    refined = with_tag_prior(refined, words, trees, progress)
    refined = replace(refined, columns=refine_columns(
        refined, teacher=teacher, pairs=chosen, treebank=treebank, trees=trees,
        seed=settings.seed, progress=progress,
    ))  # fmt: skip
    return Refinement(judged(refined, trial), history, learned, tuple(further), tuned)


def source_parser(bridged: Parser) -> Parser:
    """The parser without its bridge, for the source language, with its encoder."""
    source = replace(bridged, bridge=None, encoder=None, encoder_at=None)
    try:
        source.load_encoder()
    except TreebridgeError as error:
        raise TreebridgeError(
            f"a bitext or source trees need the source encoder {source.space.encoder!r}, which is "
            f"not part of this model ({error.problem}); refine the source parser across its "
            "bridge instead, or use target text or trees alone"
        ) from None
    return source


def further_lesson(
    bitext: Bitext,
    teacher: Parser,
    bridged: Parser,
    settings: RefineSettings,
    linking: BridgeSettings,
    progress: Progress,
) -> Lesson:
    """Align a further bitext, choose its pairs, and see how well its source agrees."""
    if bitext.language is None:
        bitext = replace(bitext, target_language=bridged.language)
    if linking.check_sides:
        known = () if teacher.bridge else teacher.space.words
        encoders = teacher.load_encoder(), bridged.load_encoder()
        check_sides(bitext, *encoders, known, file=bitext.paths[0])
    held: list[tuple[Pair, LinkArray]] = []
    pairs = without_held_out(_linked(bitext, linking, progress), linking.collect, held)
    chosen = choose_pairs(pairs, settings.project, settings.seed)
    trial = Trial.prepare(held, teacher, bridged.load_encoder())
    return Lesson(chosen, teacher, _weight(trial, bridged))


def _weight(trial: Trial | None, bridged: Parser) -> float:
    """How far a source is to be believed: its agreement with the bridged parser."""
    return trial.judge(bridged).las / 100 if trial is not None else 0.5


def _linked(bitext: Bitext, linking: BridgeSettings, progress: Progress) -> LinkedPairs:
    links = find_links(bitext, linking, progress)
    return zip(bitext, links, strict=False)


def _examples(trees: Sequence[Sentence], parser: Parser, progress: Progress) -> Examples:
    """Encode trees as training examples in the space the parser reads."""
    store = encode_into_store(
        parser.load_encoder(), [tree.forms for tree in trees], progress=progress
    )
    space = parser.bridge or parser.space
    return Examples.of(trees, store, space, parser.labels, parser.tags)
