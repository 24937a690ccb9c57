"""What an experiment is given: languages with their trees, encoders and parallel text."""

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

# What is a path, or must be fetched first, is read when a system needs it: what is missing then
# stops that system in that language and no other.
Trees = Sequence[Sentence] | Path | Callable[[], Path]
AnyEncoder = Encoder | str | Callable[[], Path]
AnyBitext = Bitext | Callable[[], Bitext]


@dataclass
class Language:
    """A column of the table; `encoders` by the role they play in a system."""

    code: str
    name: str
    gold: Trees  # what is scored
    encoders: Mapping[str, AnyEncoder] = field(default_factory=dict)

    def find_encoder(self, role: str, settings: EncoderSettings) -> Encoder:
        """The encoder of a role: `own`, `multilingual`, `vectors`, …; `blank` is always there."""
        if role == "blank":
            return BlankEncoder()
        if role not in self.encoders:
            hint = _HINTS[role.partition("-")[0]]
            raise TreebridgeError(hint.format(self.name, self.code))
        found = self.encoders[role]
        if isinstance(found, Encoder):
            return found
        return Encoder.load(found if isinstance(found, str) else found(), settings)


@dataclass
class Source(Language):
    """The language with a treebank."""

    train: Trees = ()
    dev: Trees | None = None  # chooses the best epoch; without it, every 20th of train does


@dataclass
class Target(Language):
    """A language that is parsed across a bridge; its trees are for scoring alone."""

    bitext: AnyBitext | None = None
    dictionary: Path | None = None  # source word, white space, target word

    def find_bitext(self) -> Bitext:
        """The parallel text."""
        if self.bitext is None:
            raise TreebridgeError(f"there is no parallel text for {self.name}")
        return self.bitext if isinstance(self.bitext, Bitext) else self.bitext()


def read_trees(trees: Trees) -> Sequence[Sentence]:
    """Trees given as such, by a path, or by what fetches a path."""
    if callable(trees):
        trees = trees()
    return Treebank.read(trees) if isinstance(trees, Path) else trees


_HINTS = {
    "own": "there is no encoder for {0}; give one with --encoder {1}=FOLDER",
    "multilingual": "there is no multilingual encoder; give one with --multilingual-encoder",
    "vectors": "there are no word vectors for {0}; give a file with --vectors {1}=FILE",
}
