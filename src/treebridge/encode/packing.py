"""Pack an encoder: its network as a quantized ONNX graph, its tokenizer as tokenizer.json."""

from __future__ import annotations

import gzip
from pathlib import Path

from treebridge.encode.encoder import Encoder
from treebridge.encode.hub import copy_encoder
from treebridge.encode.models import Model
from treebridge.encode.onnx import NETWORK, TOKENIZER, is_packed, write_packed
from treebridge.encode.onnx_export import export_network
from treebridge.encode.tokenizer import load_tokenizer
from treebridge.encode.transformer import TransformerEncoder
from treebridge.errors import TreebridgeError
from treebridge.onnx_graph import MAX_BITS


def pack_network(encoder: Encoder, folder: Path, bits: int = MAX_BITS) -> None:
    """Write a new folder from which `Encoder.load` reads without torch."""
    if not isinstance(encoder, TransformerEncoder):
        raise TreebridgeError(f"an encoder such as {encoder!r} cannot be packed")
    found = encoder.folder
    if is_packed(found):
        return copy_encoder(found, folder)
    backend = getattr(load_tokenizer(found), "backend_tokenizer", None)
    if backend is None:
        raise TreebridgeError(
            "the tokenizer has no tokenizer.json, which packing needs; save it with the "
            "`tokenizers` library first",
            file=found,
        )
    model = encoder.model
    assert isinstance(model, Model)
    folder.mkdir(parents=True)
    graph = export_network(model.network, model.layers, bits)
    (folder / NETWORK).write_bytes(gzip.compress(graph.SerializeToString(), mtime=0))
    (folder / TOKENIZER).write_text(backend.to_str(), encoding="utf-8")
    write_packed(folder, model, encoder.cutter, encoder.settings.layers)
