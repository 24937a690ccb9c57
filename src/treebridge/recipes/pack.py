"""Pack a model for use: ONNX graphs with quantized weights, nothing that parsing does not need.

A packed model runs without torch. An encoder can be packed first and the bridge fitted with that:
then the bridge is fitted on the very vectors that users will have. Otherwise the encoder is packed
here, and refused if its vectors move by more than rounding can explain.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from treebridge.artefact import kind_of_folder, write_config, write_tensors
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.space import Space
from treebridge.encode.encoder import Encoder
from treebridge.encode.onnx import KIND as ENCODER
from treebridge.encode.packing import pack_network
from treebridge.encode.settings import EncoderSettings
from treebridge.encode.static import StaticEncoder
from treebridge.errors import TreebridgeError, require_train
from treebridge.folders import is_finished, new_folder
from treebridge.keys import digest_files, key_of
from treebridge.locks import hold
from treebridge.onnx_graph import MAX_BITS
from treebridge.parse.card import model_card
from treebridge.parse.folder import (
    KIND,
    PACKED,
    TENSORS,
    describe_bridge,
    files_of,
    judged_by_trees,
    read_parser,
    save_words,
)
from treebridge.parse.onnx_network import ARCS, LABELS
from treebridge.parse.parser import Parser
from treebridge.parse.shipped import folder_size
from treebridge.recipes.model_card import Card, read_card, write_card

MIN_BITS = 4
MOVED = 0.02  # 1 − cosine that rounding to 8 bits explains
SAMPLE = "the a of in to and . , ( 1999 él señor über 東 wzz bank x".split()


@dataclass(frozen=True)
class Packed:
    """A packed folder and its size in bytes."""

    folder: Path
    size: int


def pack(
    found: str | Path,
    output: str | Path,
    card: str | Path | None = None,
    *,
    bits: int = MAX_BITS,
    force: bool = False,
) -> Packed:
    """Pack an encoder, or a model; a card (a TOML file) says what a model to be shipped is.

    Fewer `bits` per weight make a smaller model that differs more from the unpacked one.
    """
    require_train("packing")
    if not MIN_BITS <= bits <= MAX_BITS:
        raise TreebridgeError(f"{bits} bits per weight: choose from {MIN_BITS} to {MAX_BITS}")
    found, output = Path(found), Path(output)
    with hold(output):
        if kind_of_folder(found) == KIND:
            pack_model(found, output, read_card(Path(card)) if card else None, bits, force=force)
        else:
            pack_encoder(found, output, bits, force=force)
    return Packed(output, folder_size(output))


def pack_encoder(found: Path, output: Path, bits: int = MAX_BITS, *, force: bool = False) -> None:
    """Pack a pre-trained encoder, with the layers that are taken by default."""
    key = key_of("pack", bits, digest_files([found]))
    if is_finished(output, ENCODER, key, force=force):
        return
    encoder = Encoder.load(found, EncoderSettings(device="cpu"))
    with new_folder(output, ENCODER, key=key) as folder:
        inner = folder / "encoder"
        pack_network(encoder, inner, bits)
        for path in inner.iterdir():
            path.replace(folder / path.name)
        inner.rmdir()


def pack_model(
    found: Path, output: Path, card: Card | None, bits: int = MAX_BITS, *, force: bool = False
) -> None:
    """Pack a parser's folder, with the encoder that it reads and the bridge if it has one."""
    key = key_of("pack", bits, digest_files([found]), card)
    if is_finished(output, KIND, key, force=force):
        return
    parser = read_parser(found, EncoderSettings(device="cpu"))
    encoder = parser.load_encoder()
    with new_folder(output, KIND, key=key) as folder:
        if isinstance(encoder, StaticEncoder):
            encoder.save(folder / "encoder")
            packed: Encoder = encoder
        else:
            pack_network(encoder, folder / "encoder", bits)
            layers = EncoderSettings(layers=parser.reads.layers)
            packed = Encoder.load(folder / "encoder", layers)
            _check_moved(encoder, packed, found)
        if parser.bridge:
            parser.bridge = _pack_bridge(parser.bridge, packed)
            parser.bridge.save(folder / "bridge")
        else:
            parser.space = _stamped(parser.space, packed)
        _write_parser(parser, folder, card, bits)


def _check_moved(before: Encoder, after: Encoder, place: Path) -> None:
    moved = 1 - float((before(SAMPLE) * after(SAMPLE)).sum(1).min())
    if moved > MOVED:
        raise TreebridgeError(
            f"8 bits are too few for the encoder: a vector moves by {moved:.1e} (1 − cosine); "
            "pack the encoder first and fit the bridge with that",
            file=place,
        )


def _stamped(space: Space, encoder: Encoder) -> Space:
    return replace(space, encoder="encoder", fingerprint=encoder.fingerprint, commit="")


def _pack_bridge(bridge: Bridge, encoder: Encoder) -> Bridge:
    """The map in 16 bits, and no list of senses; stamped with the packed encoder."""
    into = replace(bridge.into, encoder=Path(bridge.into.encoder).name)
    w: Any = bridge.w.astype(np.float16)
    return replace(
        bridge,
        target=_single(_stamped(bridge.target, encoder)),
        into=_single(into),
        w=w,
        senses=[],
        made=_bare(bridge.made),
    )


def _single(space: Space) -> Space:
    """Means are few, and what is subtracted from every vector: they keep 32 bits."""
    means: Any = space.isotropy.means.astype(np.float32)
    return replace(space, isotropy=Isotropy(means))


def _write_parser(parser: Parser, folder: Path, card: Card | None, bits: int) -> None:
    from treebridge.parse.onnx_export import export_network

    for name, graph in zip((ARCS, LABELS), export_network(parser.biaffine, bits), strict=True):
        content = graph.SerializeToString(deterministic=True)
        (folder / name).write_bytes(gzip.compress(content, mtime=0))
    means = np.asarray(parser.space.isotropy.means, np.float32)
    write_tensors(folder / TENSORS, {"isotropy": means})
    save_words(parser, folder, small=True)
    config = {
        "settings": parser.settings.config(),
        "space": {**parser.space.config(), "encoder": Path(parser.space.encoder).name},
        "words": list(parser.space.words),
        "labels": list(parser.labels),
        "tags": list(parser.tags),
        "scores": parser.scores,
        "about": _bare(parser.about),
    }
    if parser.columns:
        config["columns"] = parser.columns.describe()
    if parser.bridge:
        config["bridge"] = describe_bridge(parser.bridge)
        config |= judged_by_trees(parser.bridge)
    if card:
        config["card"] = card
    write_config(folder, KIND, PACKED, config, files_of(folder))
    text = write_card(card) if card else model_card(config)
    (folder / "README.md").write_text(text, encoding="utf-8")


def _bare(value: Any) -> Any:
    """Names of files without the folders of the machine they were on."""
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_bare(inner) for inner in value]
    return Path(value).name if isinstance(value, str) and "/" in value else value
