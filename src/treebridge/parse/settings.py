"""All that can be chosen about a parser, and named choices."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from dataclasses import field as field_
from pathlib import Path
from typing import Any, Literal

from treebridge.errors import TreebridgeError
from treebridge.records import FIX, field
from treebridge.seeds import check_seed
from treebridge.settings import check_choices

ParserPreset = Literal["default", "small", "paper"]
TagsFrom = Literal["gold", "none", "predicted"]


@dataclass(frozen=True)
class ParserSettings:
    """The size of the network, and how it is trained; `default` of PRESETS stands here."""

    tags: TagsFrom = "predicted"  # gold ones come with the input
    isotropy: int = 5  # iterations; 0 takes the encoder's vectors as they are
    layers: int = 3  # of the BiLSTM
    hidden: int = 256  # its size in each direction
    arc: int = 400
    label: int = 100
    tag: int = 100  # size of a tag's embedding
    tagger: int = 400  # hidden size of the network that predicts tags
    neighbours: int = 1  # words on each side that this network sees
    dropout: float = 0.33
    batch_words: int = 700  # words in a batch; 0 for no limit
    batch_sentences: int = 0  # sentences in a batch; 0 for no limit
    epochs: int = 10
    patience: int = 0  # epochs without a better LAS before training ends; 0 for never
    learning_rate: float = 2e-3
    schedule: Literal["cosine", "constant"] = (
        "cosine"  # down to nothing in the last epoch, or constant
    )
    betas: tuple[float, float] = (0.9, 0.95)
    max_norm: float = 5.0  # of the gradient
    seed: int = 1

    def __post_init__(self) -> None:
        check_choices(self)
        for name in ("layers", "hidden", "arc", "label", "tag", "tagger", "epochs"):
            if getattr(self, name) < 1:
                raise TreebridgeError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.neighbours < 0:
            raise TreebridgeError(f"neighbours is {self.neighbours}; it cannot be below 0")
        if not 0 <= self.dropout < 1:
            raise TreebridgeError(f"dropout is {self.dropout}; it must be from 0 to below 1")
        if self.batch_words < 1 and self.batch_sentences < 1:
            raise TreebridgeError("a batch needs a limit, in words or in sentences")
        check_seed(self.seed)

    @classmethod
    def preset(cls, name: str = "default", **changes: Any) -> ParserSettings:
        """A named choice, with changes."""
        if name not in PRESETS:
            raise TreebridgeError(f"preset {name!r} is not known; choose from {', '.join(PRESETS)}")
        return replace(PRESETS[name], **changes)

    @property
    def limits(self) -> tuple[int, int]:
        """How many words and how many sentences a batch has at most; 0 is no limit."""
        return self.batch_words, self.batch_sentences

    def config(self) -> dict[str, Any]:
        """For a config.json."""
        return {**asdict(self), "betas": list(self.betas)}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], file: str | Path = "config.json"
    ) -> ParserSettings:
        """Settings that were saved; what a later version has added is at its default."""
        known = {setting.name: type(setting.default) for setting in fields(cls)}
        chosen = {
            name: field(config, name, list if kind is tuple else kind, file)
            for name, kind in known.items()
            if name in config
        }
        chosen.setdefault("neighbours", 0)  # taggers saw none when this was not written down
        betas = tuple(chosen.get("betas", cls.betas))
        if len(betas) != 2 or not all(isinstance(beta, float) for beta in betas):
            raise TreebridgeError(f"damaged: 'betas' should be two numbers; {FIX}", file=file)
        try:
            return cls(**{**chosen, "betas": betas})
        except TreebridgeError as error:
            raise TreebridgeError(f"damaged: {error}; {FIX}", file=file) from None


PRESETS = {
    # What trains best within an hour on two cores.
    "default": ParserSettings(),
    # Minutes; good enough to see whether the rest works.
    "small": ParserSettings(hidden=150, arc=200, tagger=200, epochs=5),
    # Table 2 of the paper; where it is silent, what its authors ran.
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
    """Which sentence pairs carry trees over, and what becomes of words without a link."""

    sentences: int = 15000  # at most
    shortest: int = 4  # words
    longest: int = 40
    density: float = 0.7  # share of linked words, on the side that has fewer
    confident: float = 0.8  # share of sentences that is kept, the most confident first
    fill: bool = True  # words without a link get the parser's own prediction, else nothing
    own_labels: float = 0.5  # share of every label that is the bridged parser's own prediction


@dataclass(frozen=True)
class RefineSettings:
    """How long and how fast a parser learns from projected trees."""

    epochs: int = 3
    learning_rate: float = 5e-4
    source_share: float = 0.5  # words of source trees in an epoch, for each word of the target
    reorder: bool = True  # source trees in the target's word order, as far as links tell it
    change_map: bool = True  # the bridge's map learns, too
    trees_times: int = 25  # how often an epoch sees each of the user's own trees
    patience: int = 2  # epochs without a lower held-out loss
    passes: int = 1  # with more, the refined parser fills what links leave open, and so on
    seed: int = 1
    project: ProjectSettings = field_(default_factory=ProjectSettings)

    def __post_init__(self) -> None:
        check_seed(self.seed)
