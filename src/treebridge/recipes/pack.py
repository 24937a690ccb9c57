"""Make a model small enough to ship: half precision, nothing that parsing does not need, a card.

Round the encoder first and fit the bridge with what came out: then the bridge is fitted on the very
vectors that users will have. A model whose encoder was not rounded is rounded here, its bridge is
stamped anew, and refused if a vector moved by more than rounding can explain.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.artefact import kind_of_folder, read_tensors, write_config, write_tensors
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.space import Space
from treebridge.encode.encoder import Encoder
from treebridge.encode.hub import copy_encoder
from treebridge.encode.pretrain.network import KIND as ENCODER
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.folders import is_finished, new_folder
from treebridge.keys import digest_files, key_of
from treebridge.locks import hold
from treebridge.parse.folder import FORMAT, KIND, describe_bridge, files_of, read_parser
from treebridge.parse.parser import Parser
from treebridge.parse.shipped import folder_size
from treebridge.recipes.model_card import Card, read_card, write_card

LIMIT = 30_000_000  # bytes of a shipped model
MOVED = 1e-4  # 1 - cosine of a vector before and after rounding
_HEADS = ("cls.", "lm_head.", "mlm.", "generator_lm_head.")  # guess words; encoding needs none
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
    force: bool = False,
) -> Packed:
    """Pack an encoder, or a model with what its card says (a TOML file)."""
    found, output = Path(found), Path(output)
    with hold(output):
        if kind_of_folder(found) != KIND:
            pack_encoder(found, output, force=force)
        elif card is None:
            raise TreebridgeError("a model is shipped with a card; give one", file=found)
        else:
            pack_model(found, output, read_card(Path(card)), force=force)
    return Packed(output, folder_size(output))


def pack_encoder(found: Path, output: Path, *, force: bool = False) -> None:
    """A copy of an encoder in half precision, without the layers that only pre-training needs."""
    key = key_of("pack", digest_files([found]))
    if is_finished(output, ENCODER, key, force=force):
        return
    with new_folder(output, ENCODER, key=key) as folder:
        inner = folder / "encoder"
        round_encoder(found, inner)
        for path in inner.iterdir():
            path.replace(folder / path.name)
        inner.rmdir()


def round_encoder(found: Path, folder: Path) -> None:
    """Copy configuration and tokenizer; write weights in half precision."""
    copy_encoder(found, folder)
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise TreebridgeError("only encoders with safetensors can be packed", file=found)
    for path in weights:
        kept = {
            name: half(weight)
            for name, weight in read_tensors(path).items()
            if not name.startswith(_HEADS) and "pooler." not in name
        }
        _write_like_torch(path, kept)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["dtype"] = "float16"
    text = json.dumps(config, indent=2, ensure_ascii=False, sort_keys=True)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")


def half(weight: NDArray[Any]) -> NDArray[Any]:
    """Floats in 16 bits, if they can be; everything else as it is."""
    if weight.dtype.kind != "f" or weight.dtype.itemsize <= 2:
        return weight
    if np.abs(weight).max(initial=0) > np.finfo(np.float16).max:
        raise TreebridgeError("a weight is too large for half precision")
    return np.asarray(weight, np.float16)


def pack_model(found: Path, output: Path, card: Card, *, force: bool = False) -> None:
    """A shipped folder from a parser's folder with bridge and encoder in it."""
    key = key_of("pack", digest_files([found]), card)
    if is_finished(output, KIND, key, force=force):
        return
    parser = read_parser(found, EncoderSettings(device="cpu"))
    if parser.bridge is None or not (found / "encoder" / "config.json").is_file():
        raise TreebridgeError(
            "this parser crosses no bridge, or has no encoder with it; make it with `build`",
            file=found,
        )
    with new_folder(output, KIND, key=key) as folder:
        round_encoder(found / "encoder", folder / "encoder")
        parser.bridge = _pack_bridge(parser.bridge, found / "encoder", folder)
        parser.bridge.save(folder / "bridge")
        _write_parser(parser, folder, card)
        size = folder_size(folder)
        if size > LIMIT:
            raise TreebridgeError(
                f"the model takes {size / 1e6:.1f} MB, more than {LIMIT / 1e6:.0f}; train a "
                "smaller parser (fewer or narrower layers) or encoder",
                file=found,
            )


def _pack_bridge(bridge: Bridge, before: Path, folder: Path) -> Bridge:
    """The map in half precision, and no list of senses; stamped with the rounded encoder."""
    settings = EncoderSettings(layers=bridge.target.layers or "last4", device="cpu")
    rounded = Encoder.load(folder / "encoder", settings)
    if rounded.fingerprint != bridge.target.fingerprint:
        original = Encoder.load(before, settings)
        bridge.target.check(original)
        moved = 1 - float((original(SAMPLE) * rounded(SAMPLE)).sum(1).min())
        if moved > MOVED:
            raise TreebridgeError(
                f"rounding the encoder moves a vector by {moved:.1e}; round it first "
                "(treebridge pack ENCODER), and fit the bridge with that",
                file=before,
            )
    target = replace(bridge.target, encoder="encoder", fingerprint=rounded.fingerprint, commit="")
    into = replace(bridge.into, encoder=Path(bridge.into.encoder).name)
    w: Any = half(bridge.w)
    return replace(bridge, target=_single(target), into=_single(into), w=w, senses=[])


def _single(space: Space) -> Space:
    """Means are few, and what is subtracted from every vector: they keep 32 bits."""
    means: Any = space.isotropy.means.astype(np.float32)
    return replace(space, isotropy=Isotropy(means))


def _write_parser(parser: Parser, folder: Path, card: Card) -> None:
    assert parser.bridge is not None
    weights = {
        f"model.{name}": half(weight.detach().cpu().numpy())
        for name, weight in parser.model.state_dict().items()
    }
    weights["isotropy"] = np.asarray(parser.space.isotropy.means, np.float32)
    write_tensors(folder / "parser.safetensors", weights)
    config = {
        "settings": parser.settings.config(),
        "space": {**parser.space.config(), "encoder": Path(parser.space.encoder).name},
        "words": list(parser.space.words),
        "labels": list(parser.labels),
        "tags": list(parser.tags),
        "scores": parser.scores,
        "about": {key: _bare(value) for key, value in parser.about.items()},
        "bridge": describe_bridge(parser.bridge),
        "card": card,
    }
    write_config(folder, KIND, FORMAT, config, files_of(folder))
    (folder / "README.md").write_text(write_card(card), encoding="utf-8")


def _bare(value: Any) -> Any:
    """Names of files without the folders of the machine they were on."""
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_bare(inner) for inner in value]
    return Path(value).name if isinstance(value, str) and "/" in value else value


def _write_like_torch(path: Path, weights: dict[str, NDArray[Any]]) -> None:
    """`transformers` wants to know which library wrote a file."""
    from safetensors.numpy import save_file

    arrays = {name: np.ascontiguousarray(x) for name, x in weights.items()}
    save_file(arrays, str(path), metadata={"format": "pt"})
