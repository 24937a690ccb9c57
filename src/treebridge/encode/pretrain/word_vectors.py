"""Vectors of subword pieces from a file of word vectors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from treebridge.encode.encoder import Vectors
from treebridge.encode.pretrain.corpus import Corpus
from treebridge.encode.static import StaticEncoder
from treebridge.errors import TreebridgeError

LEAST = 0.05  # share of the pieces that need a vector; fewer mean a file of another language


def piece_vectors(corpus: Corpus, file: Path) -> Vectors:
    """Return a centred unit vector for each piece; zeros where no word with the piece has one.

    A piece that is a word of the file has that word's vector; any other piece has the mean over the
    words of the text that contain it, weighted by the logarithms of their counts.
    """
    words = _count_words(corpus)
    names = _names(corpus)
    spelled = {word: "".join(names[piece] for piece in word) for word in words}
    static = StaticEncoder(file, [*spelled.values(), *names])
    total = np.zeros((len(names), static.dim), np.float32)
    for word, count in words.items():
        vector = static.vector(spelled[word])
        if vector is not None and len(word) > 1:
            total[list(word)] += np.log1p(count) * _unit(vector)
    inside = corpus.inside()
    for piece, name in enumerate(names):
        vector = None if inside[piece] or not name else static.vector(name)
        if vector is not None:
            total[piece] = vector
    known = np.abs(total).sum(1) > 0
    if known.mean() < LEAST:
        raise TreebridgeError(
            f"only {known.sum():,} of {len(known):,} pieces of the text have a vector; "
            "expected word vectors of the same language and script",
            file=file,
        )
    total[known] = _unit(total[known])
    total[known] = _unit(total[known] - total[known].mean(0))
    return total


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9), np.float32)


def _names(corpus: Corpus) -> list[str]:
    """The letters of each piece; none for the special ones."""
    names = [""] * corpus.tokenizer.get_vocab_size()
    for piece, index in corpus.tokenizer.get_vocab().items():
        names[index] = piece.removeprefix("##")
    special = corpus.tokenizer.get_added_tokens_decoder()
    return ["" if index in special else name for index, name in enumerate(names)]


def _count_words(corpus: Corpus) -> dict[tuple[int, ...], int]:
    """Count the words of a sample of the text, as tuples of pieces."""
    pieces = corpus.sample()[0].astype(np.uint32)
    begins = np.flatnonzero(~corpus.inside()[pieces])
    data, ends = pieces.tobytes(), [*begins[1:].tolist(), len(pieces)]
    counts = Counter(data[4 * a : 4 * b] for a, b in zip(begins.tolist(), ends, strict=True))
    return {tuple(np.frombuffer(key, np.uint32).tolist()): n for key, n in counts.items()}
