"""What every engine is: trained on pairs, asked for the choice of every word, kept in a folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file, save_file

from treebridge import __version__
from treebridge.align.counting import Knowledge
from treebridge.align.encoded import Encoded, Vocabulary
from treebridge.align.table import PairTable
from treebridge.align.threads import Threads
from treebridge.errors import TreebridgeError

FORMAT = 1
NOTHING = -1  # what a word picks that has no translation
Report = Callable[[str, float], None]  # is told what is being done, and which share of it is ready


def quiet(stage: str, share: float) -> None:
    """Report to nobody."""


class Choices(NamedTuple):
    """What every word picks: a position on the other side of its pair, or NOTHING."""

    forward: npt.NDArray[np.int16]  # every target word picks a source word
    reverse: npt.NDArray[np.int16]  # every source word picks a target word

    @classmethod
    def none(cls, corpus: Encoded) -> Choices:
        """Nobody picks anything yet."""
        sides = (corpus.target.words, corpus.source.words)
        return cls(*(np.full(len(words), NOTHING, np.int16) for words in sides))


@dataclass
class Aligner(ABC):
    """A trained model of both directions."""

    engine: ClassVar[str]

    table: PairTable
    known: Knowledge
    source_words: Vocabulary
    target_words: Vocabulary
    settings: Any
    trained: dict[str, Any] = field(default_factory=dict)  # what training found, besides `known`
    made: dict[str, Any] = field(default_factory=dict)  # from how much, for the record

    @classmethod
    @abstractmethod
    def fit(
        cls, corpus: Encoded, threads: Threads, report: Report = quiet, settings: Any = None
    ) -> Aligner:
        """Train on a corpus."""

    @abstractmethod
    def choices(self, corpus: Encoded, threads: Threads, report: Report = quiet) -> Choices:
        """What every word of a corpus picks."""

    def own(self, corpus: Encoded) -> Encoded:
        """A corpus in the ids of this model."""
        if corpus.source_words is self.source_words and corpus.target_words is self.target_words:
            return corpus
        return corpus.with_words(self.source_words, self.target_words)

    def save(self, folder: str | Path) -> None:
        """Write a folder, whole or not at all; one that holds such a model already is replaced."""
        folder = Path(folder)
        if folder.exists() and not (folder / "config.json").is_file() and not _is_empty(folder):
            raise TreebridgeError("this is there already and no alignment model", file=folder)
        config = {
            "kind": "alignment model",
            "format": FORMAT,
            "treebridge": __version__,
            "engine": self.engine,
            "settings": asdict(self.settings),
            "trained": self.trained,
            "made": self.made,
        }
        vocabularies = {"source": self.source_words, "target": self.target_words}
        words = {
            side: {"words": list(v), "prefixes": list(v.prefixes), "letters": v.letters}
            for side, v in vocabularies.items()
        }
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            (new / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
            (new / "words.json").write_text(json.dumps(words, ensure_ascii=False), "utf-8")
            save_file({**self.table._asdict(), **self.known._asdict()}, new / "model.safetensors")
            new.chmod(0o755)
            (new / "model.safetensors").chmod(0o644)
            if folder.exists():
                shutil.rmtree(folder)
            new.replace(folder)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def read_config(folder: Path) -> dict[str, Any]:
    """What a model's folder says about itself; anything else is refused."""
    path = folder / "config.json"
    if not path.is_file():
        raise TreebridgeError("no alignment model is here: config.json is missing", file=folder)
    try:
        config: dict[str, Any] = json.loads(path.read_text("utf-8"))
        kind, version = config["kind"], int(config["format"])
    except (ValueError, KeyError, TypeError):
        raise TreebridgeError("this is no alignment model's config.json", file=path) from None
    if kind != "alignment model":
        raise TreebridgeError(f"this is a {kind}, not an alignment model", file=folder)
    if version > FORMAT:
        raise TreebridgeError(
            f"the model has format {version}, this treebridge reads up to {FORMAT}; "
            "install a newer treebridge",
            file=folder,
        )
    return config


def read_parts(folder: Path) -> tuple[PairTable, Knowledge, Vocabulary, Vocabulary]:
    """The large parts of a model."""
    try:
        words = json.loads((folder / "words.json").read_text("utf-8"))
        arrays = load_file(folder / "model.safetensors")
        table = PairTable(*(arrays[name] for name in PairTable._fields))
        known = Knowledge(*(arrays[name] for name in Knowledge._fields))
        source, target = (_vocabulary(**words[side]) for side in ("source", "target"))
        return table, known, source, target
    except Exception as error:  # safetensors has errors of its own
        raise TreebridgeError(
            f"the model cannot be read ({error}); copy or train it again", file=folder
        ) from None


def _vocabulary(words: list[str], prefixes: list[str], letters: int) -> Vocabulary:
    vocabulary = Vocabulary(words, growing=False)
    vocabulary.prefixes = {prefix: len(words) + k for k, prefix in enumerate(prefixes)}
    vocabulary.letters = letters
    return vocabulary
