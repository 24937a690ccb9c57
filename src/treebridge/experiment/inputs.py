"""The inputs of an experiment: languages with their trees, encoders and parallel text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from treebridge.corpus.bitext import Bitext
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.sentence import Sentence
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.experiment.delexicalized import BlankEncoder

# Paths and downloads are read when a system first needs them, so that a missing file fails only
# that system in that language.
Trees = Sequence[Sentence] | Path | Callable[[], Path]
AnyEncoder = Encoder | str | Callable[[], Path]
AnyBitext = Bitext | Callable[[], Bitext]


@dataclass
class Language:
    """A column of the table, with its encoders by role."""

    code: str
    name: str
    gold: Trees  # trees to score against
    encoders: Mapping[str, AnyEncoder] = field(default_factory=dict)

    def find_encoder(self, role: str, settings: EncoderSettings) -> Encoder:
        """The encoder of a role (`own`, `multilingual`, `vectors`, …); `blank` always exists."""
        if role == "blank":
            return BlankEncoder()
        if role not in self.encoders:
            kind = _KINDS[role.partition("-")[0]]
            raise TreebridgeError(f"no {kind} given for {self.name}; give one")
        found = self.encoders[role]
        if isinstance(found, Encoder):
            return found
        return Encoder.load(found if isinstance(found, str) else found(), settings)


@dataclass
class Source(Language):
    """The language with a treebank."""

    train: Trees = ()
    dev: Trees | None = None  # selects the best epoch; default: every 20th sentence of train


@dataclass
class Target(Language):
    """A language parsed across a bridge; its trees are used for scoring only."""

    bitext: AnyBitext | None = None
    dictionary: Path | None = None  # per line: source word, white space, target word

    def find_bitext(self) -> Bitext:
        """The parallel text."""
        if self.bitext is None:
            raise TreebridgeError(f"no parallel text for {self.name}; give a bitext")
        return self.bitext if isinstance(self.bitext, Bitext) else self.bitext()


def read_trees(trees: Trees) -> Sequence[Sentence]:
    """Trees given directly, as a path, or as a function that downloads a path."""
    if callable(trees):
        trees = trees()
    return Treebank.read(trees) if isinstance(trees, Path) else trees


_KINDS = {"own": "encoder", "multilingual": "multilingual encoder", "vectors": "word vector file"}
