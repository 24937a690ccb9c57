"""Refine a bridged parser on files: bitext, raw text or the user's own trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from treebridge.artefact import kind_of_folder
from treebridge.bridge.settings import BridgeSettings
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.conllu import Treebank, read_conllu
from treebridge.corpus.edit.marks import as_decided
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.trees import has_annotation
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.folders import check_free, is_finished
from treebridge.keys import digest_files, key_of
from treebridge.locks import hold
from treebridge.parse.cross_validate import FOLDS, Validation, cross_validate
from treebridge.parse.folder import KIND
from treebridge.parse.parser import Parser
from treebridge.parse.refinement import Refinement, refine_parser
from treebridge.parse.settings import RefineSettings
from treebridge.parse.shipped import find_model
from treebridge.progress import QUIET, Progress
from treebridge.recipes.advice import Advice, advise
from treebridge.recipes.also import Also, also_key, load_bridge
from treebridge.recipes.sources import join
from treebridge.recipes.text import words_of
from treebridge.recipes.work import working


@dataclass(frozen=True)
class Refined:
    """A refined parser and the folder it was written to."""

    parser: Parser
    folder: Path
    refinement: Refinement | None = None  # None if the same parser existed already
    validation: Validation | None = None  # on the user's trees, if there are any

    @property
    def advice(self) -> Advice:
        """What the scores mean, and what would help most."""
        return advise(self.parser)


def refine(
    model: str,
    output: str | Path,
    settings: RefineSettings | None = None,
    encoding: EncoderSettings | None = None,
    *,
    bridge: str | None = None,
    bitext: Bitext | None = None,
    bitexts: Sequence[tuple[Bitext, str]] = (),
    text: Sequence[str] = (),
    treebank: str | Path | None = None,
    also: Sequence[Also] = (),
    weights: Sequence[float] | None = None,
    trees: str | Path | None = None,
    tagger: str | None = None,
    lexicon: str | Path | None = None,
    language: str | None = None,
    linking: BridgeSettings | None = None,
    validate: bool = True,
    force: bool = False,
    progress: Progress = QUIET,
) -> Refined:
    """Refine a parser and save it with its bridge and target encoder in one folder.

    Source trees are projected over the links of `bitext`, and of further `bitexts` of the same
    target, each with the parser of its own source language; `text` is for self-training;
    `treebank` holds source trees to mix in, so that the parser does not forget them, and `also`
    treebanks of other languages, each as often as `weights` say; `trees` are the user's own target
    trees, in which `_` is unknown, and so is what an annotator who marked anything in the file did
    not decide. `lexicon` limits the tags of its words and is saved with the model; `linking` sets
    how the bitext is aligned. With `validate`, cross-validation on `trees` says what they are
    worth. An interrupted run resumes from its last epoch.
    """
    output, settings = Path(output), settings or RefineSettings()
    linking = linking or BridgeSettings()
    with hold(output):
        check_free(output, KIND)
        bridged = Parser.load(model, encoder_settings=encoding, bridge=bridge, lexicon=lexicon)
        if bridged.bridge is None:
            raise TreebridgeError(
                "refining needs a bridge to the target language; give one, or a model made by "
                "`treebridge build`",
                file=model,
            )
        if bitext is not None and bitext.language is None:
            bitext = replace(bitext, target_language=bridged.language)
        own = as_decided(list(read_conllu(trees, trees="partial")) if trees else [], progress)
        if trees and not any(has_annotation(sentence) for sentence in own):
            raise TreebridgeError("no trees to learn from: no word has HEAD or UPOS", file=trees)
        files = (bridge, *(bitext.paths if bitext else ()), linking.links, *text, treebank, trees,
                 lexicon, tagger and find_model(tagger),
                 *(file for one, source in bitexts for file in (*one.paths, _place(source)))
                 )  # fmt: skip
        how = [bitext and _bitext_parts(bitext), asdict(linking), asdict(settings), language]
        source = Treebank.read(treebank) if treebank else None
        loaded = [one.load(encoding or EncoderSettings()) for one in also]
        target = None if all(one.sure for one in also) else bridged.bridge
        further, weights = join(also, loaded, weights, target, source or ())
        how += [*also_key(further, weights), *(_bitext_parts(one) for one, _ in bitexts)]
        key = _key([find_model(model), *(file for file in files if file)], how)
        if is_finished(output, KIND, key, force=force):
            return Refined(Parser.load(output, encoder_settings=encoding), output)
        with working(output, "refining") as work:
            validation = None
            if own:
                folds = partial(_fold, bridged, settings, source, work, progress)
                validation = cross_validate(bridged, own, folds if validate else None)
                if validation.uncorrected:
                    progress.say(_UNCORRECTED.format(validation.before["LAS"]))
            refinement = refine_parser(
                bridged,
                settings,
                bitext=bitext,
                bitexts=[_with_parser(one, source, bridged, encoding) for one, source in bitexts],
                linking=linking,
                sentences=words_of(text, language or bridged.language) if text else None,
                treebank=source,
                also=further,
                weights=weights,
                trees=own,
                tagger=Parser.load(tagger, encoder_settings=encoding) if tagger else None,
                work=work,
                progress=progress,
            )
            about = _about(refinement, settings, bitext, text, treebank, trees)
            if bitexts:
                about["bitexts"] = [" + ".join(Path(p).name for p in b.paths) for b, _ in bitexts]
            if further:
                about["also"] = [one.describe() for one in further]
            if validation is not None:
                about["validation"] = validation.figures()
                _calibrate(refinement.parser, validation)
            refinement.parser.about = {**bridged.about, "refined": about}
            refinement.parser.save(output, key=key)
    return Refined(refinement.parser, output, refinement, validation)


def _place(source: str) -> Path:
    """The folder of a model, or of a bridge."""
    return Path(source) if kind_of_folder(Path(source)) == "bridge" else find_model(source)


def _with_parser(
    bitext: Bitext, source: str, bridged: Parser, encoding: EncoderSettings | None
) -> tuple[Bitext, Parser]:
    """A bitext with the parser of its source language.

    `source` is a model, or a bridge: then it is the parser itself, across that bridge.
    """
    if kind_of_folder(Path(source)) == "bridge":
        bridge, encoder = load_bridge(Path(source), encoding or EncoderSettings())
        parser = replace(bridged, bridge=None, encoder=None, encoder_at=None)
        parser = parser.across(bridge, encoder)
    else:
        parser = Parser.load(source, encoder_settings=encoding)
    if parser.language:
        # UD trees split contractions, and the parser has learned from such trees.
        bitext = replace(bitext, source_language=parser.language, source_contractions=True)
    return bitext, parser


_UNCORRECTED = (
    "the trees look uncorrected: {:.1f} % of their labelled arcs are the parser's own; refining on "
    "its own output makes a parser worse"
)


def _fold(
    bridged: Parser,
    settings: RefineSettings,
    treebank: Treebank | None,
    work: Path,
    progress: Progress,
    trees: Sequence[Sentence],
    number: int,
) -> Parser:
    """Refine on some of the trees and on nothing else, for cross-validation."""
    progress.step(f"cross-validation, fold {number + 1} of {FOLDS}")
    folder = work / f"fold-{number + 1}"
    once = replace(settings, passes=1)
    return refine_parser(bridged, once, treebank=treebank, trees=trees, work=folder).parser


def _key(files: Sequence[str | Path], how: list[Any]) -> str | None:
    """A hash of everything that affects the result; None if that includes standard input."""
    return None if "-" in map(str, files) else key_of("refine", digest_files(files), how)


def _bitext_parts(bitext: Bitext) -> list[Any]:
    return [bitext.source_language, bitext.language, bitext.rules, bitext.limit]


def _about(
    refinement: Refinement,
    settings: RefineSettings,
    bitext: Bitext | None,
    text: Sequence[str],
    treebank: str | Path | None,
    trees: str | Path | None,
) -> dict[str, Any]:
    return {
        "sentences": refinement.sentences,
        "bitext": bitext and " + ".join(Path(path).name for path in bitext.paths),
        "self": [Path(file).name for file in text],
        "trees": trees and Path(trees).name,
        "treebank": treebank and Path(treebank).name,
        "epochs": settings.epochs,
        "passes": settings.passes,
        "tuned": refinement.tuned,
        "seed": settings.seed,
    }


def _calibrate(parser: Parser, validation: Validation) -> None:
    """Use the temperatures of cross-validation: a parser is too sure after learning a few trees."""
    if validation.temperatures is not None and parser.bridge is not None:
        parser.bridge.quality["calibration"] = validation.temperatures._asdict()
