"""The aligner interface: train on pairs, choose a partner for every word, save in a folder."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from treebridge.alignment.counting import Knowledge
from treebridge.alignment.indexed import IndexedPairs, Vocabulary
from treebridge.alignment.table import PairTable
from treebridge.alignment.threads import Threads
from treebridge.artefact import read_tensors, write_config, write_tensors
from treebridge.errors import TreebridgeError
from treebridge.folders import new_folder
from treebridge.records import FIX, read_record

KIND, FORMAT = "alignment model", 1
WORDS, PARTS = "words.json", "model.safetensors"
NOTHING = -1  # the choice of a word without a translation
Report = Callable[[str, float], None]  # takes a stage and the share that is done


def quiet(stage: str, share: float) -> None:
    """Ignore the progress."""


class Choices(NamedTuple):
    """The choice of every word: a position on the other side of its pair, or NOTHING."""

    forward: npt.NDArray[np.int16]  # every target word picks a source word
    reverse: npt.NDArray[np.int16]  # every source word picks a target word

    @classmethod
    def none(cls, corpus: IndexedPairs) -> Choices:
        """Let every word pick NOTHING."""
        sides = (corpus.target.words, corpus.source.words)
        return cls(*(np.full(len(words), NOTHING, np.int16) for words in sides))


@dataclass
class Aligner(ABC):
    """A trained alignment model of both directions."""

    engine: ClassVar[str]

    table: PairTable
    known: Knowledge
    source_words: Vocabulary
    target_words: Vocabulary
    settings: Any
    trained: dict[str, Any] = field(default_factory=dict)  # trained parameters besides `known`
    made: dict[str, Any] = field(default_factory=dict)  # size of the training data

    @classmethod
    @abstractmethod
    def fit(
        cls, corpus: IndexedPairs, threads: Threads, report: Report = quiet, settings: Any = None
    ) -> Aligner:
        """Train on a corpus."""

    @abstractmethod
    def choices(self, corpus: IndexedPairs, threads: Threads, report: Report = quiet) -> Choices:
        """Choose a partner for every word of a corpus."""

    def own(self, corpus: IndexedPairs) -> IndexedPairs:
        """Convert a corpus to the word ids of this model."""
        if corpus.source_words is self.source_words and corpus.target_words is self.target_words:
            return corpus
        return corpus.with_words(self.source_words, self.target_words)

    def save(self, folder: str | Path) -> None:
        """Write a folder atomically, replacing an older alignment model."""
        vocabularies = {"source": self.source_words, "target": self.target_words}
        words = {
            side: {"words": list(v), "prefixes": list(v.prefixes), "letters": v.letters}
            for side, v in vocabularies.items()
        }
        with new_folder(folder, KIND) as made:
            config = {
                "engine": self.engine,
                "settings": asdict(self.settings),
                "trained": self.trained,
                "made": self.made,
            }
            (made / WORDS).write_text(json.dumps(words, ensure_ascii=False), "utf-8")
            write_tensors(made / PARTS, {**self.table._asdict(), **self.known._asdict()})
            write_config(made, KIND, FORMAT, config, [WORDS, PARTS])


def read_parts(folder: Path) -> tuple[PairTable, Knowledge, Vocabulary, Vocabulary]:
    """Read the arrays and vocabularies of a model."""
    words = read_record(folder / WORDS)
    arrays = read_tensors(folder / PARTS)
    try:
        table = PairTable(*(arrays[name] for name in PairTable._fields))
        known = Knowledge(*(arrays[name] for name in Knowledge._fields))
        source, target = (_vocabulary(**words[side]) for side in ("source", "target"))
        fits = _fit(table, known)
    except (ValueError, KeyError, TypeError, IndexError):
        fits = False
    if not fits:  # compiled code would read out of bounds
        raise TreebridgeError(f"{WORDS} and {PARTS} do not belong together; {FIX}", file=folder)
    return table, known, source, target


def _fit(table: PairTable, known: Knowledge) -> bool:
    starts, keys = table
    return bool(
        starts.dtype == np.int64
        and starts.ndim == keys.ndim == known.null_target.ndim == known.null_source.ndim == 1
        and (starts[0], starts[-1]) == (0, len(keys))
        and (np.diff(starts) >= 0).all()
        and known.pairs.shape == (len(keys), 2)
        and keys.max(initial=-1) < len(known.null_target)
        and len(starts) - 1 <= len(known.null_source)
    )


def _vocabulary(words: list[str], prefixes: list[str], letters: int) -> Vocabulary:
    vocabulary = Vocabulary(words, growing=False)
    vocabulary.prefixes = {prefix: len(words) + k for k, prefix in enumerate(prefixes)}
    vocabulary.letters = letters
    return vocabulary
