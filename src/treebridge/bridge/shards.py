"""Pass two in pieces, which depend on the layout only and not on the number of workers.

The last bits of a vector depend on the sentences in its batch. Because every engine encodes the
same pieces, the result is the same to the byte with any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.layout import Place
from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoder, Words

STEP = 1024  # sentence pairs per piece
Piece = list[tuple[int, Pair, list[Place]]]  # index of the pair, its words, its kept links


class Filled(NamedTuple):
    """The rows of the layout that a piece fills, and their values."""

    rows: NDArray[np.int64]
    target: NDArray[np.float16]  # [rows, target dim]
    source: NDArray[np.float16]  # [rows, source dim]
    where: NDArray[np.int32]  # [rows, 3]: sentence pair, source word, target word


Fill = Callable[[Iterable[Piece], Encoder, Encoder], Iterator[Filled]]


def cut_pieces(chosen: Iterable[tuple[int, Pair, list[Place]]]) -> Iterator[Piece]:
    """Split the pairs that have kept links into pieces of STEP."""
    wanted = (item for item in chosen if item[2])
    while piece := list(islice(wanted, STEP)):
        yield piece


def fill_here(pieces: Iterable[Piece], source: Encoder, target: Encoder) -> Iterator[Filled]:
    """Encode the pieces in this process."""
    return (fill_piece(piece, source, target) for piece in pieces)


def fill_piece(piece: Piece, source: Encoder, target: Encoder) -> Filled:
    """Encode both sides of the sentence pairs and select the kept vectors."""
    places = [place for _, _, kept in piece for place in kept]
    where = [(number, place.source, place.target) for number, _, kept in piece for place in kept]
    return Filled(
        np.array([place.row for place in places], np.int64),
        _vectors(target, [(pair.target, [p.target for p in kept]) for _, pair, kept in piece]),
        _vectors(source, [(pair.source, [p.source for p in kept]) for _, pair, kept in piece]),
        np.array(where, np.int32).reshape(-1, 3),
    )


def _vectors(encoder: Encoder, wanted: list[tuple[Words, list[int]]]) -> NDArray[np.float16]:
    rows = np.empty((sum(len(words) for _, words in wanted), encoder.dim), np.float16)
    start = 0
    encoded = encoder.encode([sentence for sentence, _ in wanted])
    for (_, words), found in zip(wanted, encoded, strict=True):
        rows[start : start + len(words)] = found.vectors[words]
        start += len(words)
    return rows
