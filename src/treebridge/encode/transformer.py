"""Any Hugging Face encoder as one vector per word.

A vector is the mean over layers, then over the word's pieces, cut to unit length (DESIGN 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.chunks import take
from treebridge.encode.encoder import Encoded, Encoder, Vectors, Words
from treebridge.encode.onnx import OnnxModel, is_packed, load_packed
from treebridge.encode.pieces import Pieces, Window, windows
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import require_train

if TYPE_CHECKING:
    from treebridge.encode.models import Model

Ids = NDArray[np.int64]  # [windows, pieces]
CHUNK, CHUNK_WORDS = 2048, 1 << 17  # sentences, and words, that are sorted by length together


class TransformerEncoder(Encoder):
    """A pre-trained encoder, frozen."""

    folder: Path  # where it was loaded from
    home: TemporaryDirectory[str] | None = None  # that folder, if it goes with the encoder

    def __init__(
        self, name: str, pieces: Pieces, model: Model | OnnxModel, settings: EncoderSettings
    ):
        self.name = name
        self.settings = settings
        self.dim = model.dim
        self.model = model
        self.cutter = pieces
        self._batch_pieces = settings.batch_pieces or model.batch_pieces

    @classmethod
    def from_name(cls, name: str, settings: EncoderSettings) -> TransformerEncoder:
        """Load from a folder or the hub."""
        from treebridge.encode.hub import check_encoder, commit_of, find_encoder

        folder = find_encoder(name, offline=settings.offline)
        check_encoder(folder)
        if is_packed(folder):
            packed = cls(name, *load_packed(folder, settings.layers), settings)
            packed.folder = folder
            return packed
        require_train("an encoder that is not packed")
        from treebridge.encode.models import load_model
        from treebridge.encode.tokenizer import check_vocabulary, load_tokenizer

        tokenizer, model = load_tokenizer(folder), load_model(folder, settings)
        check_vocabulary(tokenizer, model.vocabulary, folder)
        pieces = Pieces.of_tokenizer(tokenizer, model.max_pieces)
        encoder = cls(name, pieces, model, settings)
        encoder.folder = folder
        if not Path(name).is_dir():
            encoder.commit = commit_of(folder)
        return encoder

    @property
    def fingerprint(self) -> str:
        """Of weights, tokenizer and layers, in whatever precision they are computed."""
        return self.model.fingerprint

    def has_fingerprint(self, fingerprint: str) -> bool:
        """Whether this is its fingerprint, or the one it had before special tokens counted."""
        return fingerprint in (self.model.fingerprint, self.model.older_fingerprint)

    @property
    def cache_key(self) -> str:
        """With precision and backend, where they make a difference that can be seen."""
        return self.model.fingerprint + self.model.coarseness

    def save(self, folder: Path) -> None:
        """Copy configuration, tokenizer and weights; nothing else that lies beside them."""
        from treebridge.encode.hub import copy_encoder

        copy_encoder(self.folder, folder)

    def whole(self, words: Words) -> NDArray[np.bool_]:
        """Which words are a single piece of the vocabulary."""
        (pieces,) = self.cutter.cut([words])
        return np.array([self.cutter.is_whole(word) for word in pieces], dtype=bool)

    def pieces(self, words: Words) -> int:
        """How many pieces these words take in all; of a word that is not known, every letter."""
        (cut,) = self.cutter.cut([words])
        return sum(
            len(pieces) if self.cutter.is_known(pieces) else max(len(pieces), len(word))
            for word, pieces in zip(words, cut, strict=True)
        )

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        """Vectors in order; inside, chunks are sorted by length and cut into full batches."""
        sentences = iter(sentences)
        with ThreadPoolExecutor(1) as ahead:  # pieces of the next chunk while this one is encoded
            plan = None
            while chunk := take(sentences, CHUNK, CHUNK_WORDS):
                following = ahead.submit(self._plan, chunk)
                if plan is not None:
                    yield from self._run(plan.result())
                plan = following
            if plan is not None:
                yield from self._run(plan.result())

    def _plan(self, chunk: Sequence[Words]) -> tuple[list[list[list[int]]], list[list[Window]]]:
        """The pieces of each sentence, and batches of windows, longest first."""
        cut = self.cutter.cut(chunk)
        parts = [
            window
            for index, pieces in enumerate(cut)
            if pieces
            for window in windows(index, pieces, self.cutter.room, self.cutter.specials)
        ]
        parts.sort(key=lambda window: -window.size)
        return cut, list(_batches(parts, self._batch_pieces, pad=self.model.pads))

    def _run(self, plan: tuple[list[list[list[int]]], list[list[Window]]]) -> Iterator[Encoded]:
        cut, batches = plan
        out = [np.zeros((len(pieces), self.dim), np.float32) for pieces in cut]
        for batch, vectors in self._encode_batches(batches):
            position = 0
            for window in batch:
                start = position + window.keep_from - window.first
                stop = position + window.keep_to - window.first
                out[window.sentence][window.keep_from : window.keep_to] = vectors[start:stop]
                position += len(window.pieces)
        for pieces, vectors in zip(cut, out, strict=True):
            whole = np.array([self.cutter.is_whole(word) for word in pieces], dtype=bool)
            yield Encoded(vectors, whole)

    def _encode_batches(
        self, batches: list[list[Window]]
    ) -> Iterator[tuple[list[Window], Vectors]]:
        if self.model.at_once > 1 and len(batches) > 1:
            with ThreadPoolExecutor(self.model.at_once) as pool:
                yield from zip(batches, pool.map(self._encode_batch, batches), strict=True)
            return
        waiting = batches[::-1]
        while waiting:
            batch = waiting.pop()
            try:
                vectors = self._encode_batch(batch)
            except MemoryError:
                if len(batch) == 1:
                    raise
                half = len(batch) // 2
                waiting += [batch[half:], batch[:half]]
                self._batch_pieces = max(self._batch_pieces // 2, batch[0].size)
                continue
            yield batch, vectors

    def _encode_batch(self, batch: list[Window]) -> Vectors:
        """Unit vectors of all words of the windows, one after the other."""
        return self.model.word_vectors(*self.arrays(batch))

    def arrays(self, batch: list[Window]) -> tuple[Ids, Ids, Ids, int]:
        """Piece ids, which of them are real, the word each belongs to, and the number of words."""
        longest = max(window.size for window in batch)
        ids = np.full((len(batch), longest), self.model.padding, np.int64)
        real = np.zeros((len(batch), longest), np.int64)
        owner = np.full((len(batch), longest), -1, np.int64)  # which word a piece belongs to
        words, before = 0, len(self.cutter.prefix)
        for row, window in enumerate(batch):
            flat = [piece for word in window.pieces for piece in word]
            counts = [len(word) for word in window.pieces]
            ids[row, : window.size] = [*self.cutter.prefix, *flat, *self.cutter.suffix]
            real[row, : window.size] = 1
            owners = np.repeat(np.arange(words, words + len(counts)), counts)
            owner[row, before : before + len(flat)] = owners
            words += len(counts)
        return ids, real, owner, words


def _batches(parts: list[Window], budget: int, *, pad: bool = True) -> Iterator[list[Window]]:
    """Runs of windows, longest first, whose padded size stays within the budget."""
    batch: list[Window] = []
    for window in parts:
        full = batch and (len(batch) + 1) * batch[0].size > budget
        if full or (batch and not pad and window.size < batch[0].size):
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch
