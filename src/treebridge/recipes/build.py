"""Build a target-language parser from a treebank and a bitext."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.make import Gathered, gather, gathered_key
from treebridge.bridge.settings import BridgeSettings
from treebridge.bridge.sides import common_words
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.licence import licence_of
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.trees import digest_trees
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.folders import check_free, is_finished
from treebridge.keys import digest_files, key_of
from treebridge.locks import hold
from treebridge.parse.choose import fit_by_trees
from treebridge.parse.folder import KIND
from treebridge.parse.parser import Parser
from treebridge.parse.refinement import refine_parser
from treebridge.parse.settings import ParserSettings, RefineSettings
from treebridge.parse.several import Source
from treebridge.parse.shipped import folder_size
from treebridge.progress import QUIET, Progress
from treebridge.recipes.advice import Advice, advise
from treebridge.recipes.also import Also, also_key
from treebridge.recipes.keep import keep_bridge, keep_parser
from treebridge.recipes.sources import join
from treebridge.recipes.text import text_of
from treebridge.recipes.work import work_folder

REUSED = 1.0  # seconds; a step that took less reused an earlier result
_ALWAYS_QUICK = ("reading", "saving")


@dataclass(frozen=True)
class BuildSettings:
    """All settings of a build."""

    parser: ParserSettings = field(default_factory=ParserSettings)
    bridge: BridgeSettings = field(default_factory=BridgeSettings)
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    refine: RefineSettings | None = None  # None: do not refine


@dataclass(frozen=True)
class Built:
    """A target-language parser, and the seconds spent on each step."""

    parser: Parser
    folder: Path
    seconds: dict[str, float] = field(default_factory=dict)  # empty if the parser existed already
    size: int = 0  # of the folder, in bytes

    @property
    def found(self) -> bool:
        """Whether the same parser existed already."""
        return not self.seconds

    def reused(self, step: str) -> bool:
        """Whether a step reused the result of an earlier run."""
        return self.seconds[step] < REUSED and step not in _ALWAYS_QUICK

    @property
    def advice(self) -> Advice:
        """What the scores mean, and what would help most."""
        return advise(self.parser)


class Stopwatch(Progress):
    """Forwards all progress and records the seconds spent on each step."""

    def __init__(self, watched: Progress) -> None:
        self.seconds: dict[str, float] = {}
        self._watched = watched
        self._now: str | None = None
        self._since = 0.0
        for name in ("say", "count", "advance", "measured", "done"):
            setattr(self, name, getattr(watched, name))

    def step(self, what: str) -> None:
        """End the current step and start another."""
        self.stop()
        self._now, self._since = what, time.perf_counter()
        self._watched.step(what)

    def stop(self) -> None:
        """End the current step."""
        if self._now is not None:
            spent = time.perf_counter() - self._since
            self.seconds[self._now] = self.seconds.get(self._now, 0) + spent
        self._now = None


def build(
    treebank: str | Path,
    bitext: Bitext,
    source_encoder: str,
    target_encoder: str,
    output: str | Path,
    settings: BuildSettings | None = None,
    *,
    dev: str | Path | None = None,
    also: Sequence[Also] = (),
    weights: Sequence[float] | None = None,
    text: Sequence[str] = (),
    force: bool = False,
    progress: Progress = QUIET,
) -> Built:
    """Align, collect, train, bridge and optionally refine; save one folder.

    Finished steps are reused, so an interrupted build resumes. Intermediate results stay in a
    hidden folder next to the output, for later builds. Treebanks of other languages join with
    `also`, each as often in an epoch as `weights` say. The LAS is forecast for the files `text`
    or, without them, for text like the bitext.
    """
    output, settings = Path(output), settings or BuildSettings()
    with hold(output):
        check_free(output, KIND)
        watch = Stopwatch(progress)
        watch.step("reading")
        encoders = [Encoder.load(name, settings.encoder)
                    for name in (source_encoder, target_encoder)]  # fmt: skip
        trees = [Treebank.read(path) for path in (treebank, *([dev] if dev else []))]
        further = [one.load(settings.encoder) for one in also]
        job = _Build(
            trees, bitext, encoders[0], encoders[1], settings, watch, text, further, weights
        )
        key = job.key
        if is_finished(output, KIND, key, force=force):
            return Built(Parser.load(output, encoder_settings=settings.encoder), output)
        work = work_folder(output, "building")
        if not all(one.sure for one in also):
            job = job.for_target(work, also)
        built = job.run(work)
        built.about |= {
            "treebank": Path(treebank).name,
            "licence": licence_of(treebank),
            "dev": Path(dev).name if dev else "held out",
        }
        watch.step("saving")
        built.save(output, key=key)
        watch.stop()
    return Built(built, output, watch.seconds, folder_size(output))


@dataclass
class _Build:
    """The steps of one build, whose results are kept in a work folder."""

    trees: Sequence[Sequence[Sentence]]  # source trees: train and, if given, dev
    bitext: Bitext
    source: Encoder
    target: Encoder
    settings: BuildSettings
    progress: Progress
    text: Sequence[str] = ()
    also: Sequence[Source] = ()  # treebanks of other languages
    weights: Sequence[float] | None = None

    @property
    def key(self) -> str:
        """A hash of everything that affects the result."""
        refine = self.settings.refine and asdict(self.settings.refine)
        return key_of(self._training_key(self.settings.parser), *self._bridge_parts(), refine)

    def run(self, work: Path) -> Parser:
        """Run all steps, from word alignment to the finished parser."""
        settings = self.settings
        gathered = self._gathered()
        parser, bridge = self._bridged(work, gathered)
        bridged = parser.across(bridge, self.target)
        bridged.about = dict(parser.about)
        if settings.refine is None:
            return bridged
        self.progress.step("refining")
        tagger = None
        if settings.parser.tags == "gold":  # text has no tags
            tagger = self._parser(work, replace(settings.parser, tags="predicted"))
        refinement = refine_parser(
            bridged, settings.refine, pairs=gathered.pairs(), linking=settings.bridge,
            treebank=self.trees[0], also=self.also, weights=self.weights, teacher=parser,
            tagger=tagger,
            work=work / "refining" / self.key[:8], progress=self.progress,
        )  # fmt: skip
        refinement.parser.about["refined"] = {
            "bitext": bridge.made["bitext"],
            "tuned": refinement.tuned,
            "seed": settings.refine.seed,
        }
        return refinement.parser

    def for_target(self, work: Path, also: Sequence[Also]) -> _Build:
        """The same build with those treebanks of `also` that are near the target.

        The target's word order is known after a build from the first treebank alone.
        """
        alone = replace(self, also=(), weights=None)
        _, bridge = alone._bridged(work, alone._gathered())
        chosen, weights = join(also, self.also, self.weights, bridge, self.trees[0])
        names = ", ".join(source.name for source in chosen)
        self.progress.say(f"further treebanks: {names or 'none is near enough'}")
        return replace(self, also=chosen, weights=weights)

    def _gathered(self) -> Gathered:
        return gather(
            self.bitext, self.source, self.target, self.settings.bridge, self.progress,
            known=common_words(tree.forms for tree in self.trees[0]),
        )  # fmt: skip

    def _bridged(self, work: Path, gathered: Gathered) -> tuple[Parser, Bridge]:
        """The source parser, and the bridge into its space."""
        settings = self.settings
        self.progress.step("training")
        parser = self._parser(work, settings.parser)
        bridge = keep_bridge(
            work / "bridges", settings.bridge.fit.level, parser.space,
            [self._training_key(settings.parser), *self._bridge_parts()],
            lambda: fit_by_trees(
                gathered, parser, settings.bridge, text=text_of(self.text, self.bitext.language)
            ),
        )  # fmt: skip
        return parser, bridge

    def _parser(self, work: Path, settings: ParserSettings) -> Parser:
        return keep_parser(
            work / "parsers", f"{settings.tags}-{settings.seed}", self._training_key(settings),
            lambda: self.trees[0], lambda: self.trees[1] if len(self.trees) > 1 else None,
            self.source, settings, self.settings.encoder, self.progress, self.also, self.weights,
        )  # fmt: skip

    def _training_key(self, settings: ParserSettings) -> str:
        digests = [digest_trees(trees) for trees in self.trees]
        further = also_key(self.also, self.weights)
        return key_of(self.source.cache_key, settings.config(), digests, *further)

    def _bridge_parts(self) -> list[Any]:
        settings = self.settings.bridge
        gathered = gathered_key(self.bitext, self.source, self.target, settings)
        text = digest_files(self.text) if self.text else None
        return [gathered, asdict(settings.fit), settings.senses, settings.rounds, text]
