"""Make the systems of a table; everything they share is made once and cached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from treebridge.alignment.settings import AlignerName
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.make import Gathered, gather, gathered_key
from treebridge.bridge.rounds import bridge_in_rounds
from treebridge.bridge.settings import AnchorWords, BridgeSettings, FitSettings
from treebridge.bridge.sides import common_words
from treebridge.bridge.space import Space
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.trees import digest_trees
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.encode.store import VectorStore, encode_into_store
from treebridge.experiment.inputs import Language, Source, Target, read_trees
from treebridge.keys import key_of
from treebridge.parse.choose import fit_by_trees
from treebridge.parse.parser import Parser
from treebridge.parse.settings import ParserSettings, TagsFrom
from treebridge.progress import QUIET, Progress
from treebridge.recipes.keep import keep_bridge, keep_parser
from treebridge.settings import check_choices

T = TypeVar("T")


@dataclass(frozen=True)
class LabSettings:
    """Settings shared by all systems of a table."""

    parser: ParserSettings = field(default_factory=ParserSettings)  # except isotropy and seed
    aligner: AlignerName = BridgeSettings.aligner
    anchor_words: AnchorWords | None = None  # None: each system's own setting
    encoding: EncoderSettings = field(default_factory=EncoderSettings)
    # Target means at test time: those saved with the bridge or, as in the authors' code, those of
    # the file being scored.
    isotropy_from: Literal["bitext", "input"] = "bitext"

    def __post_init__(self) -> None:
        check_choices(self)


class Lab:
    """Encoders, parsers, occurrences and bridges of an experiment, cached in memory and on disk."""

    def __init__(
        self, source: Source, settings: LabSettings, folder: Path, progress: Progress = QUIET
    ):
        self.source = source
        self.settings = settings
        self.folder = folder
        self.progress = progress
        self._kept: dict[tuple[Any, ...], Any] = {}

    def encoder(self, language: Language, role: str) -> Encoder:
        """Load an encoder once."""
        load = lambda: language.find_encoder(role, self.settings.encoding)  # noqa: E731
        return self._once(("encoder", language.code, role), load)

    def trees(self, language: Language, part: str = "gold") -> Sequence[Sentence]:
        """Read trees once: `gold`, or the source's `train` and `dev`."""
        return self._once(
            ("trees", language.code, part), lambda: read_trees(getattr(language, part))
        )

    def trees_key(self, language: Language, part: str = "gold") -> str:
        """A hash of a language's trees."""
        return self._once(
            ("digest", language.code, part), lambda: digest_trees(self.trees(language, part))
        )

    def vectors(self, language: Language, role: str) -> VectorStore:
        """Vectors of the sentences to score, from the cache shared by all experiments."""
        sentences = [s.forms for s in self.trees(language)]
        encoder = self.encoder(language, role)
        return encode_into_store(encoder, sentences, progress=self.progress)

    def parse(self, parser: Parser, language: Language, role: str) -> list[Sentence]:
        """Parse the sentences to score; they are encoded anew if the parser's encoder learned."""
        gold = self.trees(language)
        if self.encoder(language, role).has_fingerprint(parser.reads.fingerprint):
            found = parser.parse_vectors(gold, rows_of(self.vectors(language, role)), retag=True)
        else:
            found = list(parser.parse(gold, retag=True))
        return [one.sentence for one in found]

    def parser_settings(
        self, isotropy: bool, seed: int, tags: TagsFrom | None = None
    ) -> ParserSettings:
        """Training settings of a parser; `tags` overrides the table's setting."""
        settings = self.settings.parser
        iterations = (settings.isotropy or 5) if isotropy else 0
        return replace(settings, isotropy=iterations, seed=seed, tags=tags or settings.tags)

    def parser_key(self, role: str, isotropy: bool, seed: int, tags: TagsFrom | None = None) -> str:
        """A hash of everything that determines a source parser."""
        encoder = self.encoder(self.source, role).cache_key
        parts = ("train", "dev") if self.source.dev is not None else ("train",)
        trees = [self.trees_key(self.source, part) for part in parts]
        return key_of(encoder, self.parser_settings(isotropy, seed, tags).config(), trees)

    def parser(self, role: str, isotropy: bool, seed: int, tags: TagsFrom | None = None) -> Parser:
        """Load the source parser of an input space, or train and save it."""
        key = self.parser_key(role, isotropy, seed, tags)
        settings = self.parser_settings(isotropy, seed, tags)
        return self._once(("parser", key), lambda: self._parser(role, settings, key))

    def _parser(self, role: str, settings: ParserSettings, key: str) -> Parser:
        space = "isotropic" if settings.isotropy else "plain"
        return keep_parser(
            self.folder / "parsers",
            f"{role}-{space}-{settings.tags}-{settings.seed}",
            key,
            lambda: self.trees(self.source, "train"),
            lambda: self.trees(self.source, "dev") if self.source.dev is not None else None,
            self.encoder(self.source, role),
            settings,
            self.settings.encoding,
            self.progress,
        )

    def bridge_settings(self, settings: BridgeSettings) -> BridgeSettings:
        """A system's bridge settings, combined with those of the whole table."""
        common = {"anchor_words": words} if (words := self.settings.anchor_words) else {}
        return settings.changed(aligner=self.settings.aligner, **common)

    def gathered(self, target: Target, role: str, settings: BridgeSettings) -> Gathered:
        """Links and occurrences between the source and target encoders of a role."""
        settings = self.bridge_settings(settings)
        key = ("gathered", target.code, self.gathered_key(target, role, settings))

        def make() -> Gathered:
            known = common_words(tree.forms for tree in self.trees(self.source, "train"))
            return gather(*self._sides(target, role), settings, self.progress, known=known)

        return self._once(key, make)

    def gathered_key(self, target: Target, role: str, settings: BridgeSettings) -> str:
        """A hash of `gathered` with its senses and rounds, computed without gathering."""
        settings = replace(self.bridge_settings(settings), fit=FitSettings())

        def make() -> str:
            first = gathered_key(*self._sides(target, role), settings)
            return key_of(first, settings.senses, settings.rounds)

        return self._once(("gathered key", target.code, role, key_of(asdict(settings))), make)

    def _sides(self, target: Target, role: str) -> tuple[Any, Encoder, Encoder]:
        bitext = self._once(("bitext", target.code), target.find_bitext)
        return bitext, self.encoder(self.source, role), self.encoder(target, role)

    def bridge(self, target: Target, role: str, parser: Parser, settings: BridgeSettings) -> Bridge:
        """Load a bridge into a parser's space, or fit and save it; map `auto` is chosen by trees.

        A parser with gold tags cannot parse the bitext: one with predicted tags chooses for it.
        """
        fit, trained = settings.fit, parser.settings
        auto = fit.map == "auto"
        seed, isotropic = trained.seed, bool(trained.isotropy)
        parts = [self.gathered_key(target, role, settings), asdict(fit)]
        if auto:
            parts.append(self.parser_key(role, isotropic, seed, "predicted"))

        def make() -> Bridge:
            gathered = self.gathered(target, role, settings)
            if not auto:
                return bridge_in_rounds(
                    gathered, parser.space, fit, settings.rounds, sense_report=False
                )
            judge = parser
            if trained.tags == "gold":
                judge = self.parser(role, isotropic, seed, "predicted")
            return fit_by_trees(gathered, parser, settings, judge=judge, sense_report=False)

        name = f"{target.code}-{fit.level}-{'paper' if fit.paper else fit.map}"
        return self.keep_bridge(name, parser.space, parts, make)

    def keep_bridge(self, name: str, into: Space, parts: Any, make: Callable[[], Bridge]) -> Bridge:
        """Load the bridge determined by `parts` and the space it maps into, or make it."""
        return keep_bridge(self.folder / "bridges", name, into, parts, make)

    def forget(self, language: Language) -> None:
        """Free the memory used only for this language."""
        for key in [key for key in self._kept if language.code in key]:
            del self._kept[key]

    def _once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """Cache the result of `make`, or its exception."""
        if key not in self._kept:
            try:
                self._kept[key] = make()
            except Exception as error:
                self._kept[key] = error
        found = self._kept[key]
        if isinstance(found, Exception):
            raise found
        return found  # type: ignore[no-any-return]


def rows_of(store: VectorStore) -> list[NDArray[np.float32]]:
    """The vectors of each sentence in fp32, as the parser expects."""
    return [np.asarray(store[i], np.float32) for i in range(len(store))]
