"""Make a model small enough to ship: half precision, nothing that parsing does not need, a card.

    python -m treebridge.models.pack encoder mini-es -o mini-es-fp16
    python -m treebridge.models.pack model es -o src/treebridge/models/es --card es.toml

Round the encoder first and fit the bridge with what came out: then the bridge is fitted on the very
vectors that users will have. A model whose encoder was not rounded is rounded here, its bridge is
stamped anew, and refused if a vector moved by more than rounding can explain.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.artefact import read_tensors, write_config, write_tensors
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.space import Space
from treebridge.encode.encoder import Encoder, EncoderSettings
from treebridge.encode.hub import copy_encoder
from treebridge.encode.pretrain.network import KIND as ENCODER
from treebridge.errors import OutputExists, TreebridgeError, in_one_sentence
from treebridge.folders import is_finished, new_folder
from treebridge.keys import digest_files, key_of
from treebridge.locks import hold
from treebridge.models.card import Card, read_card, write_card
from treebridge.parse.folder import FORMAT, KIND, describe_bridge, files_of, read_parser
from treebridge.parse.parser import Parser

LIMIT = 30_000_000  # bytes of a shipped model
MOVED = 1e-4  # 1 - cosine of a vector before and after rounding
_HEADS = ("cls.", "lm_head.", "mlm.", "generator_lm_head.")  # guess words; encoding needs none
SAMPLE = "the a of in to and . , ( 1999 él señor über 東 wzz bank x".split()


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
    parser = read_parser(found, None, EncoderSettings(device="cpu"))
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
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
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
                "(python -m treebridge.models.pack encoder), and fit the bridge with that",
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


def main(arguments: list[str] | None = None) -> None:
    """The command of the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m treebridge.models.pack")
    parser.add_argument("what", choices=["encoder", "model"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--card", type=Path, help="TOML with what the model card says")
    parser.add_argument("--force", action="store_true", help="replace the output")
    chosen = parser.parse_args(arguments)
    with hold(chosen.output):
        if chosen.what == "encoder":
            pack_encoder(chosen.folder, chosen.output, force=chosen.force)
        elif chosen.card is None:
            raise TreebridgeError("a model is shipped with a card: give --card FILE")
        else:
            pack_model(chosen.folder, chosen.output, read_card(chosen.card), force=chosen.force)
    size = sum(path.stat().st_size for path in chosen.output.rglob("*") if path.is_file())
    print(f"{chosen.output}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sentence = in_one_sentence(error)
        if sentence is None:
            raise
        flag = "; --force replaces it" if isinstance(error, OutputExists) else ""
        print(f"error: {sentence}{flag}", file=sys.stderr)
        sys.exit(2)
