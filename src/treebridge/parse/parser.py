"""A parser: a biaffine model over the vectors of its space. An artefact on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.space import Space
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.edit.marks import as_decided
from treebridge.corpus.lexicon import Lexicon
from treebridge.corpus.sentence import Sentence
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import require_train
from treebridge.parse.calibration import UNCHANGED, Temperatures
from treebridge.parse.chunking import CHUNK, Item, chunks_of, sentences_of
from treebridge.parse.columns.columns import Columns, chosen_columns
from treebridge.parse.facts import facts_of
from treebridge.parse.given import check_given
from treebridge.parse.lexical import lexicon_limits
from treebridge.parse.metrics import Metrics
from treebridge.parse.network import Network
from treebridge.parse.onnx_network import OnnxNetwork
from treebridge.parse.own_encoder import check_bridge, encoder_of
from treebridge.parse.padding import check_lengths
from treebridge.parse.parsed import Floats, Parsed
from treebridge.parse.parsing import check_tags, parse_vectors
from treebridge.parse.score import Scores, score
from treebridge.parse.settings import ParserSettings, RefineSettings
from treebridge.parse.shipped import find_model
from treebridge.parse.tag_prior import TagPrior
from treebridge.parse.vocab import Names
from treebridge.progress import QUIET, Progress

if TYPE_CHECKING:
    from treebridge.bridge.settings import BridgeSettings
    from treebridge.parse.biaffine import Biaffine
    from treebridge.parse.choose import Text
    from treebridge.parse.several import Source


@dataclass(repr=False)
class Parser:
    """Vectors of a space in, trees out; call it with text or with sentences."""

    model: Network
    space: Space
    labels: Names
    tags: Names
    history: list[Metrics] = field(default_factory=list)  # of its training
    about: dict[str, Any] = field(default_factory=dict)  # how it was made
    encoder: Encoder | None = None  # loaded when it is needed
    encoder_settings: EncoderSettings = field(default_factory=EncoderSettings)
    bridge: Bridge | None = None
    encoder_at: str | None = None  # where the encoder is now, if not where its space says
    folder: Path | None = None  # where it was loaded from
    card: dict[str, Any] = field(default_factory=dict)  # of a shipped model
    columns: Columns | None = None  # XPOS, FEATS and LEMMA; older models have none
    tag_prior: TagPrior | None = None  # what forms say of tags
    lexicon: Lexicon | None = None  # what is known of words
    writes: tuple[str, ...] | None = None  # the columns to write: upos, xpos, feats, lemma
    _loading: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    @property
    def settings(self) -> ParserSettings:
        """How it was trained."""
        return self.model.settings

    @property
    def reads(self) -> Space:
        """The space of the encoder that it reads: the bridge's other side, or its own."""
        return self.bridge.target if self.bridge else self.space

    @property
    def biaffine(self) -> Biaffine:
        """The network in torch, to learn on; that of a packed parser is unpacked for it."""
        network: Any = self.model
        model: Biaffine = network.unpacked if isinstance(network, OnnxNetwork) else network
        return model

    @property
    def temperatures(self) -> Temperatures:
        """What calibrates its probabilities, if that was fitted with its bridge."""
        fitted = self.bridge.quality.get("calibration") if self.bridge else None
        return Temperatures(fitted["arc"], fitted["label"]) if fitted else UNCHANGED

    @property
    def device(self) -> str:
        """Where the model computes."""
        return str(getattr(self.model, "device", "cpu"))

    def __repr__(self) -> str:
        """What it is, in one line.

        >>> from treebridge import Parser
        >>> Parser.load("es")
        Parser(es, from en, LAS 73.6, 10 MB)
        """
        return f"Parser({', '.join(facts_of(self))})"

    @property
    def language(self) -> str | None:
        """Code of the language that it reads, if it is known."""
        known = (
            self.bridge.made.get("target_language") if self.bridge else self.about.get("language")
        )
        return str(known) if known else None

    @classmethod
    def train(
        cls,
        treebank: Sequence[Sentence],
        encoder: Encoder,
        dev: Sequence[Sentence] | None = None,
        settings: ParserSettings | None = None,
        *,
        also: Sequence[Source] = (),
        weights: Sequence[float] | None = None,
        start: Parser | None = None,
        device: str = "auto",
        work: Path | None = None,
        progress: Progress = QUIET,
    ) -> Parser:
        """Train on trees; without `dev` every 20th sentence is kept back to choose the best epoch.

        Treebanks of other languages join with `also`; `weights` say how often each, the first
        included, is seen in an epoch (default: small ones more often). Training starts from the
        weights and the space of the parser `start`, if given. With `work`, a folder for
        checkpoints, an interrupted training goes on where it stopped.
        """
        require_train("training a parser")
        from treebridge.parse.train import train_on

        for trees in (treebank, dev or (), *(source.trees for source in also)):
            check_lengths(map(len, trees))
        trained = train_on(
            treebank, encoder, dev, settings or ParserSettings(), device, work, progress,
            also, weights, start,
        )  # fmt: skip
        return cls(*trained[:-1], columns=trained.columns)

    @property
    def scores(self) -> Metrics:
        """Of the best epoch on dev, by convention `paper`."""
        return max(self.history, key=lambda entry: entry["LAS"], default={})

    def save(self, folder: str | Path, *, key: str | None = None) -> None:
        """Write a folder, whole or not at all; across a bridge, with bridge and encoder in it.

        `key` stands for all that the parser is made of, so that it is not made twice.
        """
        from treebridge.parse.folder import save_parser

        save_parser(self, folder, key=key)

    @classmethod
    def load(
        cls,
        model: str | Path,
        encoder: Encoder | str | None = None,
        encoder_settings: EncoderSettings | None = None,
        bridge: Bridge | str | Path | None = None,
        lexicon: Lexicon | str | Path | None = None,
        columns: Sequence[str] | None = None,
    ) -> Parser:
        """Load a shipped model by its name, or a folder, across a bridge if one is given.

        The encoder is loaded when it is first needed; `encoder` is one at hand, or says where it
        is now. `encoder_settings` say how it computes, and on which device the parser does too.
        `lexicon` limits the tags of words; `columns` are those to write (default: all it has).
        """
        from treebridge.parse.folder import read_parser

        settings = encoder_settings or EncoderSettings()
        parser = read_parser(find_model(model), settings)
        if bridge is not None:
            parser = parser.across(bridge if isinstance(bridge, Bridge) else Bridge.load(bridge))
        if isinstance(encoder, str):
            layers = parser.reads.layers or settings.layers
            encoder = Encoder.load(encoder, replace(settings, layers=layers))
        if encoder is not None:
            parser.reads.check(encoder)
            parser.encoder = encoder
        return parser.writing(columns).with_lexicon(lexicon)

    def with_lexicon(self, lexicon: Lexicon | str | Path | None) -> Parser:
        """The parser with a lexicon, which adds to the one that it has."""
        if lexicon is None:
            return self
        given = lexicon if isinstance(lexicon, Lexicon) else Lexicon.read(lexicon)
        both = self.lexicon.updated(given) if self.lexicon else given
        lexicon_limits(both, self.tags, self.labels)  # says at once what the model does not know
        return replace(self, lexicon=both)

    def writing(self, columns: Sequence[str] | None) -> Parser:
        """The parser that writes only these of upos, xpos, feats and lemma."""
        return self if columns is None else replace(self, writes=chosen_columns(columns))

    @property
    def predicts(self) -> tuple[str, ...]:
        """The columns beside the tree that it predicts: some of upos, xpos, feats and lemma."""
        tags = ("upos",) if self.settings.tags == "predicted" else ()
        return (*tags, *(self.columns.names if self.columns else ()))

    def across(self, bridge: Bridge, encoder: Encoder | None = None) -> Parser:
        """The zero-shot parser: the same model, fed by another encoder through a bridge."""
        check_bridge(bridge, self.space)
        if encoder is not None:
            bridge.target.check(encoder)
        columns = self.columns.across() if self.columns else None
        return Parser(self.model, self.space, self.labels, self.tags, self.history, self.about,
                      encoder, self.encoder_settings, bridge, columns=columns)  # fmt: skip

    def fit_bridge(
        self,
        bitext: Bitext,
        target: Encoder,
        settings: BridgeSettings | None = None,
        *,
        text: Text | None = None,
        progress: Progress = QUIET,
    ) -> Bridge:
        """A bridge from the target encoder into this parser's space, chosen and judged by trees.

        The LAS is forecast for `text` or, without it, for text like the bitext.
        """
        require_train("fitting a bridge")
        from treebridge.bridge.make import gather
        from treebridge.bridge.settings import BridgeSettings as Settings
        from treebridge.parse.choose import fit_by_trees

        settings = (settings or Settings()).changed(isotropy=bool(len(self.space.isotropy.means)))
        source = self.load_encoder()
        gathered = gather(bitext, source, target, settings, progress, known=self.space.words)
        return fit_by_trees(gathered, self, settings, text=text)

    def evaluate(
        self,
        treebank: Sequence[Sentence],
        convention: str = "paper",
        *,
        names: tuple[str, str] = ("gold", "parser"),
        progress: Progress = QUIET,
    ) -> Scores:
        """Parse the sentences of a treebank and score the trees; `names` are for messages."""
        parsed = self.parse(progress.count(treebank, "sentences"), retag=True)
        scores = score(treebank, (one.sentence for one in parsed), convention, names=names)
        scores.columns.keep(self.predicts)
        return scores

    def refine(
        self,
        *,
        bitext: Bitext | None = None,
        bitexts: Sequence[tuple[Bitext, Parser]] = (),
        text: str | Iterable[str] | None = None,
        trees: Sequence[Sentence] = (),
        treebank: Sequence[Sentence] | None = None,
        also: Sequence[Source] = (),
        weights: Sequence[float] | None = None,
        tagger: Parser | None = None,
        lexicon: Lexicon | str | Path | None = None,
        settings: RefineSettings | None = None,
        work: Path | None = None,
        progress: Progress = QUIET,
    ) -> Parser:
        """A better parser: learn from trees projected over a bitext, from text, or from trees.

        `bitexts` are further ones, each with the parser of its own source language. `trees` are
        target trees of your own; `treebank` holds source trees, so that the parser does not
        forget, and `also` treebanks of other languages, each seen as often as `weights` say;
        `lexicon` limits the tags of its words. With `work`, a folder for checkpoints, an
        interrupted run resumes.
        """
        require_train("refining a parser")
        from treebridge.parse.refinement import refine_parser

        texts = [text] if isinstance(text, str) else text
        words = (
            None if texts is None else (list(s.forms) for s in sentences_of(texts, self.language))
        )
        return refine_parser(
            self.with_lexicon(lexicon),
            settings or RefineSettings(),
            bitext=bitext,
            bitexts=bitexts,
            sentences=words,
            trees=as_decided(trees, progress),
            treebank=treebank,
            also=also,
            weights=weights,
            tagger=tagger,
            work=work,
            progress=progress,
        ).parser

    def __call__(self, sentences: str | Iterable[Item]) -> list[Sentence]:
        """Trees of a text or several, of sentences, or of lists of words."""
        return [parsed.sentence for parsed in self.parse(sentences)]

    def parse(
        self,
        sentences: str | Iterable[Item],
        *,
        retag: bool = False,
        keep_heads: bool = False,
        keep_tags: bool = False,
        at_once: int = CHUNK,
    ) -> Iterator[Parsed]:
        """The same one by one, with probabilities; memory does not grow with their number.

        Tags that are there are kept unless `retag` has them replaced by the parser's own. With
        `keep_tags` they also guide the tree. With `keep_heads`, heads and labels that are there are
        kept, with probability 1, and the tree is the best one that has them. The first few
        sentences do not wait for the others; later ones go `at_once`, which is faster.
        """
        items = [sentences] if isinstance(sentences, str) else sentences
        wanted = sentences_of(items, self.language)
        for before, chunk in chunks_of(wanted, at_once):
            yield from self.parse_chunk(
                chunk, before, retag=retag, keep_heads=keep_heads, keep_tags=keep_tags
            )

    def parse_chunk(
        self,
        chunk: Sequence[Sentence],
        before: int = 0,
        *,
        retag: bool = False,
        keep_heads: bool = False,
        keep_tags: bool = False,
    ) -> list[Parsed]:
        """Trees of some sentences at once; `before` them there were so many, for messages."""
        check_lengths(map(len, chunk), before)
        check_tags(self, chunk, before)
        if keep_heads:
            check_given(chunk, before)
        encoder = self.load_encoder()
        vectors = [item.vectors for item in encoder.encode([s.forms for s in chunk])]
        return self.parse_vectors(
            chunk, vectors, retag=retag, keep_heads=keep_heads, keep_tags=keep_tags
        )

    def parse_vectors(
        self,
        sentences: Sequence[Sentence],
        vectors: Sequence[Floats],
        *,
        retag: bool = False,
        keep_heads: bool = False,
        keep_tags: bool = False,
    ) -> list[Parsed]:
        """Trees for sentences whose words were encoded already, by the encoder as it stands."""
        return parse_vectors(
            self, sentences, vectors, retag=retag, keep_heads=keep_heads, keep_tags=keep_tags
        )

    def load_encoder(self) -> Encoder:
        """The encoder of the space, or of the bridge's other side; threads load it once."""
        space = self.reads
        with self._loading:
            self.encoder = encoder_of(space, self.encoder, self.encoder_at, self.encoder_settings)
        return self.encoder

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_loading"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _loading=Lock())  # a lock cannot be copied
