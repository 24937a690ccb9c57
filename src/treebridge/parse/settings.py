"""Settings of a parser, of refining and of choosing sentences to annotate, and presets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from dataclasses import field as field_
from pathlib import Path
from typing import Any, Literal

from treebridge.encode.settings import TuneSettings
from treebridge.errors import TreebridgeError
from treebridge.records import FIX, field
from treebridge.seeds import check_seed
from treebridge.settings import check_choices

ParserPreset = Literal["default", "small", "paper"]
Tune = Literal["auto", "encoder", "map"]  # what learns in refining
TuneSource = Literal["parser", "encoder"]  # what learns in training
TagsFrom = Literal["gold", "none", "predicted"]


@dataclass(frozen=True)
class ParserSettings:
    """Network sizes and training; the defaults are the preset `default`."""

    tags: TagsFrom = "predicted"  # gold: taken from the input
    isotropy: int = 5  # iterations; 0 uses the encoder's raw vectors
    layers: int = 3  # of the BiLSTM
    hidden: int = 256  # size of the BiLSTM per direction
    arc: int = 400
    label: int = 100
    tag: int = 100  # size of a tag embedding
    tagger: int = 400  # hidden size of the tagger
    neighbours: int = 1  # words on each side seen by the tagger
    dropout: float = 0.33
    batch_words: int = 700  # per batch; 0 for no limit
    batch_sentences: int = 0  # per batch; 0 for no limit
    epochs: int = 10
    patience: int = 0  # epochs without a better LAS before stopping; 0 for never
    learning_rate: float = 2e-3
    schedule: Literal["cosine", "constant"] = "cosine"  # of the learning rate
    betas: tuple[float, float] = (0.9, 0.95)
    max_norm: float = 5.0  # of the gradient
    seed: int = 1
    tune: TuneSource = "parser"  # encoder: it learns together with the parser

    def __post_init__(self) -> None:
        check_choices(self)
        for name in ("layers", "hidden", "arc", "label", "tag", "tagger", "epochs"):
            if getattr(self, name) < 1:
                raise TreebridgeError(f"{name} is {getattr(self, name)}, but must be at least 1")
        if self.neighbours < 0:
            raise TreebridgeError(f"neighbours is {self.neighbours}, but must be at least 0")
        if not 0 <= self.dropout < 1:
            raise TreebridgeError(f"dropout is {self.dropout}, but must be at least 0 and below 1")
        if self.batch_words < 1 and self.batch_sentences < 1:
            raise TreebridgeError("a batch needs a limit; set batch_words or batch_sentences")
        check_seed(self.seed)

    @classmethod
    def preset(cls, name: str = "default", **changes: Any) -> ParserSettings:
        """A preset, with changes."""
        if name not in PRESETS:
            raise TreebridgeError(f"unknown preset {name!r}; choose from {', '.join(PRESETS)}")
        return replace(PRESETS[name], **changes)

    @property
    def limits(self) -> tuple[int, int]:
        """How many words and how many sentences a batch has at most; 0 is no limit."""
        return self.batch_words, self.batch_sentences

    def config(self) -> dict[str, Any]:
        """The settings as saved in config.json."""
        return {**asdict(self), "betas": list(self.betas)}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], file: str | Path = "config.json"
    ) -> ParserSettings:
        """Restore saved settings; fields added by later versions keep their defaults."""
        known = {setting.name: type(setting.default) for setting in fields(cls)}
        chosen = {
            name: field(config, name, list if kind is tuple else kind, file)
            for name, kind in known.items()
            if name in config
        }
        chosen.setdefault("neighbours", 0)  # what taggers used before the setting existed
        betas = tuple(chosen.get("betas", cls.betas))
        if len(betas) != 2 or not all(isinstance(beta, float) for beta in betas):
            raise TreebridgeError(f"damaged: 'betas' should be two numbers; {FIX}", file=file)
        try:
            return cls(**{**chosen, "betas": betas})
        except TreebridgeError as error:
            raise TreebridgeError(f"damaged: {error}; {FIX}", file=file) from None


PRESETS = {
    # The best that trains within an hour on two cores.
    "default": ParserSettings(),
    # Trains in minutes; good enough to try things out.
    "small": ParserSettings(hidden=150, arc=200, tagger=200, epochs=5),
    # Table 2 of the paper; otherwise as in the authors' code.
    "paper": ParserSettings(
        tags="gold",
        hidden=500,
        arc=500,
        dropout=0.3,
        batch_words=0,
        batch_sentences=128,
        epochs=200,
        patience=25,
        learning_rate=8e-4,
        schedule="constant",
        betas=(0.9, 0.9),
    ),
}


@dataclass(frozen=True)
class ProjectSettings:
    """Which sentence pairs to project trees over, and how to treat unlinked words."""

    sentences: int = 15000  # at most
    shortest: int = 4  # words
    longest: int = 40
    density: float = 0.7  # minimum share of linked target words; of source words, half of it
    confident: float = 0.8  # share of sentences to keep, the most confident first
    fill: bool = True  # use the bridged parser's predictions for unlinked words
    own_labels: float = 0.5  # weight of the bridged parser's own label predictions


@dataclass(frozen=True)
class RefineSettings:
    """How a parser is refined on projected trees."""

    epochs: int = 3
    learning_rate: float = 5e-4
    source_share: float = 0.5  # words of source trees per target word in an epoch
    reorder: bool = True  # put source trees into the target's word order, estimated from links
    change_map: bool = True  # train the bridge's map too
    tune: Tune = "auto"  # what else to train: the encoder, the map alone, or what agrees better
    tuning: TuneSettings = field_(default_factory=TuneSettings)  # how the encoder learns
    trees_times: int = 25  # repetitions of each of the user's trees per epoch, at most
    trees_enough: int = 120_000  # words of the user's trees in an epoch, repetitions included
    # Few trees need many and large steps, if source trees keep the parser from forgetting.
    trees_words: int = 250  # of the user's trees in a batch, at most
    trees_rate: float = 1e-3  # learning rate
    patience: int = 2  # epochs without a lower held-out loss before stopping
    refill: bool = True  # predict unlinked words anew before each epoch
    passes: int = 1  # each pass fills unlinked words with the parser of the one before
    seed: int = 1
    project: ProjectSettings = field_(default_factory=ProjectSettings)

    def __post_init__(self) -> None:
        check_choices(self)
        check_seed(self.seed)


@dataclass(frozen=True)
class NextSettings:
    """How many sentences to choose, and from which."""

    count: int = 20
    shortest: int = 5  # words; shorter sentences teach little
    longest: int = 40  # words; longer ones are hard to annotate
    candidates: int = 3000  # sentences to parse, drawn from the text if it has more
    seed: int = 1

    def __post_init__(self) -> None:
        check_seed(self.seed)
        for name in ("count", "shortest", "candidates"):
            if getattr(self, name) < 1:
                raise TreebridgeError(f"{name} is {getattr(self, name)}, but must be at least 1")
        if self.longest < self.shortest:
            raise TreebridgeError(
                f"longest is {self.longest}, but must be at least shortest, {self.shortest}"
            )
