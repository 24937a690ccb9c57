"""An encoder's network as an ONNX graph: how it runs, and how a packed one is kept on disk."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treebridge.artefact import check_files, kind_of_folder, read_config, write_config
from treebridge.encode.encoder import Vectors
from treebridge.encode.pieces import Pieces, Vocabulary
from treebridge.errors import TreebridgeError
from treebridge.onnx_session import open_session, processors
from treebridge.records import field

KIND, FORMAT = "packed encoder", 1
NETWORK, TOKENIZER = "encoder.onnx.gz", "tokenizer.json"


class OnnxModel:
    """A network in ONNX Runtime: piece ids in, one unit vector per word out."""

    device = "cpu"
    batch_pieces = 512  # larger batches take more memory and are no faster
    vocabulary = 0
    fingerprint = older_fingerprint = coarseness = ""

    def __init__(self, session: Any, dim: int, padding: int, max_pieces: int, *, pads: bool):
        self._session = session
        self.dim, self.padding, self.max_pieces = dim, padding, max_pieces
        # Numbers of 8 bits jump: without padding, a sentence has the same vectors in any batch.
        self.pads = pads
        self.at_once = processors()  # batches

    def word_vectors(
        self, ids: NDArray[np.int64], real: NDArray[np.int64], owner: NDArray[np.int64], words: int
    ) -> Vectors:
        """Mean over each word's pieces, of unit length; `owner` says whose a piece is, -1 nobody's.

        The pieces of a word stand together, and words are in order.
        """
        (hidden,) = self._session.run(None, {"ids": ids, "real": real})  # [batch, pieces, dim]
        mine = owner >= 0  # [batch, pieces]
        places = owner[mine]  # [pieces of words]
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        total = np.add.reduceat(hidden[mine], starts, axis=0)  # [words, dim]
        lengths = np.sqrt(np.einsum("wd,wd->w", total, total))[:, None]
        return np.asarray(total / np.maximum(lengths, 1e-12), np.float32)


def is_packed(folder: Path) -> bool:
    """Whether a folder holds an encoder that `treebridge pack` made."""
    return kind_of_folder(folder) == KIND


class Sizes(Protocol):
    """What is kept of a network beside its graph."""

    dim: int
    padding: int
    max_pieces: int


def write_packed(folder: Path, model: Sizes, pieces: Pieces, layers: str) -> None:
    """Describe a network and a tokenizer that are in the folder already."""
    config = {
        "layers": layers,
        "dim": model.dim,
        "padding": model.padding,
        "max_pieces": model.max_pieces,
        "vocabulary": asdict(pieces.vocabulary),
    }
    write_config(folder, KIND, FORMAT, config, [NETWORK, TOKENIZER])


def load_packed(folder: Path, layers: str) -> tuple[Pieces, OnnxModel]:
    """Read a packed encoder; it has the layers that it was packed with."""
    config = read_config(folder, KIND, FORMAT)
    check_files(folder, config)
    path = folder / "config.json"
    own = field(config, "layers", str, path)
    if layers != own:
        raise TreebridgeError(f"packed with the layers {own}, not {layers}", file=folder)
    dim, padding, most = (
        field(config, name, int, path) for name in ("dim", "padding", "max_pieces")
    )
    known = field(config, "vocabulary", dict, path)
    vocabulary = Vocabulary(
        field(known, "prefix", list, path),
        field(known, "suffix", list, path),
        field(known, "unknown", int, path),
        field(known, "lead", str, path),
    )
    model = OnnxModel(open_session(folder / NETWORK), dim, padding, most, pads=False)
    model.fingerprint = model.older_fingerprint = str(config["sha256"])
    return Pieces.of_file(folder / TOKENIZER, vocabulary, most), model
