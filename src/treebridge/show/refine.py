"""`treebridge refine`: from a bridged parser to a better one, with progress and a summary."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from treebridge.bridge.make import MakeSettings, Reports, find_links
from treebridge.bridge.sides import check_sides
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.sentence import Sentence
from treebridge.encode.encoder import EncoderSettings
from treebridge.encode.store import encode_into_store
from treebridge.errors import TreebridgeError
from treebridge.folders import check_free, is_finished
from treebridge.keys import digest_files, key_of
from treebridge.models import find_model
from treebridge.parse.batches import Examples
from treebridge.parse.carry import (
    CarrySettings,
    carry,
    choose_pairs,
    choose_sentences,
    own_beliefs,
)
from treebridge.parse.checkpoint import Metrics
from treebridge.parse.folder import KIND
from treebridge.parse.order import WordOrder, in_order
from treebridge.parse.parser import Parser
from treebridge.parse.projected import Projected
from treebridge.parse.refine import RefineSettings, Refining
from treebridge.parse.widen import new_labels, with_labels
from treebridge.show.parse import (
    Reading,
    load_parser,
    make_splitter,
    read_sentences,
)
from treebridge.show.progress import watch
from treebridge.show.train import Lines


@dataclass(frozen=True)
class Request:
    """What `treebridge refine` was asked for."""

    model: str
    bridge: str | None
    output: Path
    bitext: Bitext | None = None
    text: Sequence[str] = ()  # target text for self-training
    treebank: str | None = None  # source trees, so that the parser does not forget
    trees: str | None = None  # target trees of the user
    tagger: str | None = None
    language: str | None = None
    make: MakeSettings = field(default_factory=MakeSettings)
    carry: CarrySettings = field(default_factory=CarrySettings)
    refine: RefineSettings = field(default_factory=RefineSettings)
    passes: int = 1  # with more, what was refined fills what the links leave open, and so on
    force: bool = False  # replace a finished parser at the output


def refine_files(request: Request, encoding: EncoderSettings) -> None:
    """Refine and save one folder: parser, bridge and target encoder.

    The output's hidden neighbour holds checkpoints: an interrupted run goes on where it stopped.
    """
    check_free(request.output, KIND)
    bridged = load_parser(request.model, request.bridge, None, encoding)
    if bridged.bridge is None:
        raise TreebridgeError(
            "refining needs a bridge to the target language: name it with --bridge, or give a "
            "model that `treebridge build` has made",
            file=request.model,
        )
    if request.bitext is None and not request.text and request.trees is None:
        raise TreebridgeError(
            "give --bitext, --self TEXT or --trees: there is nothing to learn from"
        )
    if request.bitext is not None and request.bitext.language is None:  # the bridge's words
        bitext = replace(request.bitext, target_language=bridged.language)
        request = replace(request, bitext=bitext)
    trees = list(Treebank.read(request.trees)) if request.trees else []
    if request.trees and not trees:
        raise TreebridgeError("there is no tree in it to learn from", file=request.trees)
    key = _key(request)
    if is_finished(request.output, KIND, key, force=request.force):
        print(f"{request.output}: already refined from the same model, data and settings")
        return
    bridged = _with_their_labels(bridged, trees)
    teacher = replace(bridged, bridge=None, encoder=None, encoder_at=None)
    source = _source_trees(request, teacher)
    work = request.output.absolute().with_name(f".{request.output.name}.refining")
    refined = bridged
    for number in range(1, request.passes + 1):
        if request.passes > 1:
            print(f"pass {number} of {request.passes}", file=sys.stderr)
        projected, order = _learned_from(request, teacher, refined, encoding)
        refining = Refining(
            refined,
            projected,
            in_order(source, order) if source and request.refine.reorder else source,
            _target_trees(trees, refined),
            request.refine,
            Lines(),
            work / str(number),  # a pass that is over is not done again after an interruption
        )
        refined, history = _run(refining)
    refined.about = {**bridged.about, "refined": _how(request, len(refining.projected))}
    refined.save(request.output, key=key)
    shutil.rmtree(work, ignore_errors=True)
    print(f"{request.output}: {_summary(refining, history)}")


def _run(refining: Refining) -> tuple[Parser, list[Metrics]]:
    try:
        return refining.run()
    finally:
        refining.watcher.stop()


def _summary(refining: Refining, history: list[Metrics]) -> str:
    if not len(refining.projected):
        return "learned from your trees"
    first, best = history[0]["held_out"], min(entry["held_out"] for entry in history)
    return (
        f"learned from {len(refining.projected):,} sentences; loss on held-out ones {first:.3f} "
        f"before, {best:.3f} after"
    )


def _learned_from(
    request: Request, teacher: Parser, bridged: Parser, encoding: EncoderSettings
) -> tuple[Projected, WordOrder]:
    encoded = watch("sentences encoded")
    tagger = load_parser(request.tagger, None, None, encoding) if request.tagger else None
    if request.bitext is not None:
        if request.make.check_sides:  # before minutes of aligning
            encoders, known = (teacher.load_encoder(), bridged.load_encoder()), teacher.space.words
            check_sides(request.bitext, *encoders, known, file=request.bitext.paths[0])
        reports = Reports(pairs=watch("pairs"))
        links = find_links(request.bitext, request.make, reports)
        pairs = choose_pairs(zip(request.bitext, links, strict=False), request.carry)
        return carry(
            pairs, teacher, bridged, request.carry,
            tagger=tagger, watch=encoded, check_sides=False,
        )  # fmt: skip
    if request.text:
        words = _target_words(request, bridged.language)
        sentences = choose_sentences(words, request.carry)
        mine = own_beliefs(sentences, bridged, request.carry, tagger=tagger, watch=encoded)
        return mine, WordOrder()
    return Projected([], []), WordOrder()


def _target_words(request: Request, language: str | None) -> Iterator[list[str]]:
    splitter = make_splitter(Reading(request.language), language)
    for file in request.text:
        for sentence in read_sentences(file, splitter):
            yield list(sentence.forms)


def _source_trees(request: Request, teacher: Parser) -> Examples | None:
    if request.treebank is None:
        return None
    trees = Treebank.read(request.treebank)
    forms = [tree.forms for tree in trees]
    store = encode_into_store(teacher.load_encoder(), forms, watch=watch("sentences encoded"))
    return Examples.of(trees, store, teacher.space, teacher.labels, teacher.tags)


def _with_their_labels(bridged: Parser, trees: Sequence[Sentence]) -> Parser:
    """The parser, which can give every label of the user's trees."""
    labels = [label for tree in trees for label in tree.deprels]
    if further := new_labels(bridged, labels):
        print(f"labels that the source does not have, from your trees: {', '.join(further)}")
    return with_labels(bridged, labels)


def _target_trees(trees: Sequence[Sentence], bridged: Parser) -> Examples | None:
    if not trees:
        return None
    store = encode_into_store(bridged.load_encoder(), [tree.forms for tree in trees])
    assert bridged.bridge is not None
    return Examples.of(trees, store, bridged.bridge, bridged.labels, bridged.tags)


def _key(request: Request) -> str | None:
    """A hash of all that decides the outcome; None where standard input is part of it."""
    bitext, tagger = request.bitext, request.tagger and find_model(request.tagger)
    given = (request.bridge, *(bitext.paths if bitext else ()), request.make.links, *request.text,
             request.treebank, request.trees, tagger)  # fmt: skip
    files = [find_model(request.model), *(str(path) for path in given if path)]
    if "-" in files:
        return None
    text = [bitext.source_language, bitext.language, bitext.engine, bitext.contractions,
            bitext.limit] if bitext else []  # fmt: skip
    settings = [asdict(part) for part in (request.make, request.carry, request.refine)]
    return key_of("refine", digest_files(files), text, settings, request.language, request.passes)


def _how(request: Request, sentences: int) -> dict[str, object]:
    return {
        "sentences": sentences,
        "bitext": request.bitext and " + ".join(Path(p).name for p in request.bitext.paths),
        "self": [Path(file).name for file in request.text],
        "trees": request.trees and Path(request.trees).name,
        "treebank": request.treebank and Path(request.treebank).name,
        "epochs": request.refine.epochs,
        "passes": request.passes,
        "seed": request.refine.seed,
    }
