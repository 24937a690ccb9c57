"""The encoder interface: one vector for each word of a sentence."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError, require_train
from treebridge.progress import QUIET, Progress

if TYPE_CHECKING:
    from treebridge.encode.pretrain.settings import PretrainSettings

# Characters of a word that an encoder reads; longer "words" are data and waste time and memory.
MAX_LETTERS = 1000
Words = Sequence[str]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Encoded:
    """The vectors of a sentence, each of unit length, and which of its words are whole."""

    vectors: Vectors  # [words, dim]
    whole: NDArray[np.bool_]  # a single piece of the encoder's vocabulary


class Encoder(ABC):
    """Turns the words of a sentence into one vector each."""

    name: str
    dim: int
    commit: str = ""  # of the Hugging Face hub, if the encoder comes from there

    @staticmethod
    def load(name: str | Path, settings: EncoderSettings | None = None) -> Encoder:
        """Load a Hugging Face checkpoint (hub name or folder) or a file of static vectors.

        `name@revision` pins a hub name to a branch, tag or commit.
        """
        settings = settings or EncoderSettings()
        if Path(name).is_file():
            from treebridge.encode.static import StaticEncoder

            return StaticEncoder(Path(name))
        from treebridge.encode.transformer import TransformerEncoder

        return TransformerEncoder.from_name(str(name), settings)

    @staticmethod
    def pretrain(
        text: str | Path | Sequence[str | Path],
        folder: str | Path,
        settings: PretrainSettings | None = None,
        *,
        side: str | None = None,
        device: str = "auto",
        progress: Progress = QUIET,
    ) -> Encoder:
        """Make a small BERT from files of raw text, or from one `side` of a bitext, and load it."""
        require_train("pre-training")
        from treebridge.encode.pretrain.make import pretrain_encoder
        from treebridge.encode.pretrain.settings import PretrainSettings

        files = [text] if isinstance(text, str | Path) else text
        folder = Path(folder)
        work = folder.absolute().with_name(f".{folder.name}.pretraining")
        pretrain_encoder(files, folder, settings or PretrainSettings(), work, side=side,
                         device=device, progress=progress)  # fmt: skip
        shutil.rmtree(work, ignore_errors=True)
        return Encoder.load(folder)

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of everything that determines the vectors: weights, tokenizer, layers."""

    def has_fingerprint(self, fingerprint: str) -> bool:
        """Whether a fingerprint saved with a model is this encoder's."""
        return fingerprint == self.fingerprint

    @property
    def cache_key(self) -> str:
        """The fingerprint and the precision, which caches distinguish."""
        return self.fingerprint

    @abstractmethod
    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        """Yield the vectors of each sentence in order; memory does not grow with their number."""

    @abstractmethod
    def whole(self, words: Words) -> NDArray[np.bool_]:
        """Which of these words are whole, without running the encoder."""

    def pieces(self, words: Words) -> int:
        """Total number of pieces of these words; an unknown word has one per letter."""
        whole = self.whole(words)
        return sum(1 if known else len(word) for word, known in zip(words, whole, strict=True))

    def save(self, folder: Path) -> None:
        """Copy the files that `load` needs into a new folder."""
        raise TreebridgeError(f"{self!r} cannot be copied into a folder")

    def __call__(self, sentence: Words) -> Vectors:
        """The vectors of one sentence."""
        return next(self.encode([sentence])).vectors

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dim} dimensions)"
