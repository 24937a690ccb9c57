"""Where the systems of a table are made; whatever two of them share is made once and kept."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.bridge import Bridge, BridgeSettings
from treebridge.bridge.layout import CollectSettings
from treebridge.bridge.make import Gathered, MakeSettings, Reports, gather, gathered_key
from treebridge.bridge.rounds import bridge_in_rounds
from treebridge.bridge.sides import common_words
from treebridge.bridge.space import Space
from treebridge.corpus.sentence import Sentence
from treebridge.encode.encoder import Encoder, EncoderSettings
from treebridge.encode.store import VectorStore, encode_into_store
from treebridge.errors import TreebridgeError
from treebridge.experiment.material import Language, Source, Target, digest_trees, read_trees
from treebridge.keys import key_of
from treebridge.locks import hold
from treebridge.parse.batches import Examples
from treebridge.parse.parser import Parser
from treebridge.parse.settings import ParserSettings
from treebridge.parse.train import Watcher

T = TypeVar("T")
ISOTROPY_FROM = ("bitext", "input")


@dataclass(frozen=True)
class LabSettings:
    """What all systems of a table have in common."""

    parser: ParserSettings = field(default_factory=ParserSettings)  # but isotropy and seed
    bridge: MakeSettings = field(default_factory=MakeSettings)  # but how the map is fitted
    encoding: EncoderSettings = field(default_factory=EncoderSettings)
    # Target means at test time: those saved with the bridge, or, as the authors' code has it, of
    # the very file being scored.
    isotropy_from: str = "bitext"

    def __post_init__(self) -> None:
        if self.isotropy_from not in ISOTROPY_FROM:
            known = " or ".join(ISOTROPY_FROM)
            raise TreebridgeError(f"--isotropy-from {self.isotropy_from}: take {known}")

    @property
    def collect(self) -> CollectSettings:
        """Which links become occurrences."""
        return self.bridge.collect


@dataclass
class Talk:
    """Who is told what goes on."""

    say: Callable[[str], None] = lambda text: None
    reports: Reports = field(default_factory=Reports)
    training: Callable[[], Watcher] = Watcher  # a new one for each training


class Lab:
    """Encoders, parsers, occurrences and bridges of an experiment, in memory and in a folder."""

    def __init__(
        self, source: Source, settings: LabSettings, folder: Path, talk: Talk | None = None
    ):
        self.source = source
        self.settings = settings
        self.folder = folder
        self.talk = talk or Talk()
        self._kept: dict[tuple[Any, ...], Any] = {}

    def encoder(self, language: Language, role: str) -> Encoder:
        """Load an encoder once."""
        load = lambda: language.find_encoder(role, self.settings.encoding)  # noqa: E731
        return self._once(("encoder", language.code, role), load)

    def trees(self, language: Language, part: str = "gold") -> Sequence[Sentence]:
        """Read trees once: `gold`, and `train` and `dev` of the source."""
        return self._once(
            ("trees", language.code, part), lambda: read_trees(getattr(language, part))
        )

    def trees_key(self, language: Language, part: str = "gold") -> str:
        """A hash of trees."""
        return self._once(
            ("digest", language.code, part), lambda: digest_trees(self.trees(language, part))
        )

    def vectors(self, language: Language, role: str) -> VectorStore:
        """The sentences that are scored, encoded; in the cache beyond this experiment."""
        sentences = [s.forms for s in self.trees(language)]
        encoder = self.encoder(language, role)
        return encode_into_store(encoder, sentences, watch=self.talk.reports.pairs)

    def parser_settings(self, isotropy: bool, seed: int, tags: str | None = None) -> ParserSettings:
        """How a parser of this table is trained; `tags` are the table's unless given."""
        settings = self.settings.parser
        iterations = (settings.isotropy or 5) if isotropy else 0
        return replace(settings, isotropy=iterations, seed=seed, tags=tags or settings.tags)

    def parser_key(self, role: str, isotropy: bool, seed: int, tags: str | None = None) -> str:
        """A hash of all that decides a source parser."""
        encoder = self.encoder(self.source, role).cache_key
        parts = ("train", "dev") if self.source.dev is not None else ("train",)
        trees = [self.trees_key(self.source, part) for part in parts]
        return key_of(encoder, self.parser_settings(isotropy, seed, tags).config(), trees)

    def parser(self, role: str, isotropy: bool, seed: int, tags: str | None = None) -> Parser:
        """The source parser of an input space: loaded, or trained and saved."""
        key = self.parser_key(role, isotropy, seed, tags)
        settings = self.parser_settings(isotropy, seed, tags)
        return self._once(("parser", key), lambda: self._parser(role, settings, key))

    def _parser(self, role: str, settings: ParserSettings, key: str) -> Parser:
        encoder = self.encoder(self.source, role)
        space = "isotropic" if settings.isotropy else "plain"
        kind = f"{role}-{space}-{settings.tags}-{settings.seed}"
        folder = self.folder / "parsers" / f"{kind}-{key[:8]}"
        with hold(folder, wait=True):  # another run that shares this lab may be training it
            if folder.exists():
                return Parser.load(folder, encoder, self.settings.encoding)
            return self._train(encoder, settings, kind, folder)

    def _train(self, encoder: Encoder, settings: ParserSettings, kind: str, folder: Path) -> Parser:
        self.talk.say(f"training a parser: {kind}")
        watcher = self.talk.training()
        work = folder.with_name(f".{folder.name}.training")
        try:
            parser = Parser.train(
                self.trees(self.source, "train"),
                encoder,
                self.trees(self.source, "dev") if self.source.dev is not None else None,
                settings,
                device=self.settings.encoding.device,
                work=work,
                watcher=watcher,
            )
        finally:
            watcher.stop()
        parser.save(folder)
        shutil.rmtree(work, ignore_errors=True)
        return parser

    def source_examples(self, parser: Parser, role: str) -> Examples:
        """The source's trees, as one of its parsers learns from them."""
        trees = self.trees(self.source, "train")
        forms = [tree.forms for tree in trees]
        store = encode_into_store(self.encoder(self.source, role), forms)
        return Examples.of(trees, store, parser.space, parser.labels, parser.tags)

    def gathered(self, target: Target, role: str) -> Gathered:
        """Links and occurrences between the source's encoder of a role and the target's."""

        def make() -> Gathered:
            known = common_words(tree.forms for tree in self.trees(self.source, "train"))
            settings, reports = self.settings.bridge, self.talk.reports
            return gather(*self._sides(target, role), settings, reports, known=known)

        return self._once(("gathered", target.code, role), make)

    def gathered_key(self, target: Target, role: str) -> str:
        """A hash of what `gathered` gives, its senses and rounds, without making it."""

        def make() -> str:
            first = gathered_key(*self._sides(target, role), self.settings.bridge)
            later = [getattr(self.settings.bridge, name) for name in ("senses", "rounds")]
            default = [getattr(MakeSettings, name) for name in ("senses", "rounds")]
            return first if later == default else key_of(first, later)

        return self._once(("gathered key", target.code, role), make)

    def _sides(self, target: Target, role: str) -> tuple[Any, Encoder, Encoder]:
        bitext = self._once(("bitext", target.code), target.find_bitext)
        return bitext, self.encoder(self.source, role), self.encoder(target, role)

    def bridge(
        self,
        target: Target,
        role: str,
        into: Space,
        fit: BridgeSettings,
        *,
        dossier: bool = False,
    ) -> Bridge:
        """A bridge into a parser's space: loaded, or fitted and saved."""
        name = f"{target.code}-{fit.level}-{'paper' if fit.paper else fit.map}"
        parts = [self.gathered_key(target, role), asdict(fit)]
        return self.keep_bridge(
            name,
            into,
            parts,
            lambda: bridge_in_rounds(
                self.gathered(target, role), into, fit, self.settings.bridge.rounds, dossier=dossier
            ),
        )

    def keep_bridge(self, name: str, into: Space, parts: Any, make: Callable[[], Bridge]) -> Bridge:
        """A bridge into a space that depends on `parts` and nothing else: loaded, or made."""
        means = hashlib.sha256(into.isotropy.means.tobytes()).hexdigest()
        key = key_of(parts, into.fingerprint, means)
        folder = self.folder / "bridges" / f"{name}-{key[:8]}"
        if folder.exists():
            return Bridge.load(folder)
        bridge = make()
        bridge.save(folder)
        return bridge

    def forget(self, language: Language) -> None:
        """Let go of what only this language needs in memory."""
        for key in [key for key in self._kept if language.code in key]:
            del self._kept[key]

    def _once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """Make something, or fail, once: what cannot be made is not tried again and again."""
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
    """The vectors of each sentence, as a parser takes them."""
    return [np.asarray(store[i], np.float32) for i in range(len(store))]
