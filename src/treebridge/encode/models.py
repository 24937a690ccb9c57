"""The network behind an encoder: loading, choosing layers, running; in torch."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from treebridge.checksums import add_file
from treebridge.encode.encoder import Vectors
from treebridge.encode.onnx import OnnxModel
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError, first_line
from treebridge.onnx_session import open_session
from treebridge.torch_threads import threads_for

DEFAULT_MAX_PIECES = 512
# Two lists, as fingerprints that stand in older models were made of the first alone.
_TOKENIZERS = ("tokenizer*.json", "vocab*", "merges.txt", "*.model", "*.spm")
_TOKENS = ("special_tokens_map.json", "added_tokens.json")
_DTYPES = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "int8": torch.float32,
}
# What AutoModel adds on top of an encoder and nobody here uses.
_UNUSED = ("pooler.", "decoder.", "lm_head.", "shared.", "embed_tokens", "final_logits_bias")


def choose_layers(layers: str, count: int) -> list[int]:
    """Indices into hidden states (0 is the embedding layer, `count` the last) for a setting."""
    try:
        if layers.startswith("last"):
            wanted = int(layers.removeprefix("last"))
            chosen = list(range(max(1, count + 1 - wanted), count + 1))
        else:
            chosen = [int(part) for part in layers.split(",")]
    except ValueError:
        raise TreebridgeError(
            f"layers {layers!r}: expected lastN, such as last4, or a list such as 9,10,-1"
        ) from None
    resolved = [index if index >= 0 else count + 1 + index for index in chosen]
    if not resolved or not all(0 <= index <= count for index in resolved):
        raise TreebridgeError(f"layers {layers}: this encoder has layers 0 to {count}")
    return resolved


def choose_device(device: str) -> str:
    """`auto` is the best there is."""
    if device == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    if device not in ("cpu", "cuda", "mps"):
        raise TreebridgeError(f"device {device}: choose auto, cpu, cuda or mps")
    found = torch.cuda.is_available() if device == "cuda" else torch.backends.mps.is_available()
    if device != "cpu" and not found:
        raise TreebridgeError(f"device {device}: torch finds none on this machine; use cpu")
    return device


class Model:
    """A network on a device: piece ids in, one unit vector per word out."""

    pads = True  # sentences of a batch may differ in length
    at_once = 1  # batches that run side by side; torch uses all processors for one

    @property
    def batch_pieces(self) -> int:
        """How many pieces a batch has at most, padding included."""
        return {"cpu": 1024, "mps": 4096}.get(self.device, 16384)

    def __init__(self, network: nn.Module, layers: list[int], device: str, dtype: torch.dtype):
        self.network = network.to(device)
        self.layers = layers
        self.device = device
        self.dtype = dtype
        config: Any = network.config
        self.dim = int(getattr(config, "hidden_size", 0) or config.d_model)
        self.padding = int(getattr(config, "pad_token_id", None) or 0)
        self.max_pieces = _max_pieces(network)
        self.vocabulary = int(getattr(config, "vocab_size", None) or 0)  # 0 where it is not said
        self.fingerprint = ""
        self.older_fingerprint = ""  # the form that models made before may have kept
        self.coarseness = ""  # how it computes, where that is not fp32

    def hidden(self, ids: NDArray[np.int64], real: NDArray[np.int64]) -> torch.Tensor:
        """The mean of the chosen layers."""
        states = self.network(
            input_ids=torch.from_numpy(ids).to(self.device),
            attention_mask=torch.from_numpy(real).to(self.device),
            output_hidden_states=True,
            return_dict=True,
        ).hidden_states
        total: torch.Tensor = states[self.layers[0]].float()  # [batch, pieces, dim]
        for layer in self.layers[1:]:
            total = total + states[layer].float()
        return total / len(self.layers)

    @torch.inference_mode()
    def word_vectors(
        self, ids: NDArray[np.int64], real: NDArray[np.int64], owner: NDArray[np.int64], words: int
    ) -> Vectors:
        """Mean over each word's pieces, of unit length; `owner` says whose a piece is, -1 nobody's.

        Raises MemoryError where the device has not enough memory for the batch.
        """
        try:
            with threads_for(ids.size):
                return self.pooled(ids, real, owner, words).cpu().numpy()
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            raise MemoryError(str(error)) from None

    def pooled(
        self, ids: NDArray[np.int64], real: NDArray[np.int64], owner: NDArray[np.int64], words: int
    ) -> torch.Tensor:
        """The same as a tensor, with gradients if the network learns: [words, dim]."""
        hidden = self.hidden(ids, real)
        places = torch.from_numpy(owner).to(hidden.device)
        mine = places >= 0  # [batch, pieces]
        places = places[mine]  # [pieces of words]
        total = torch.zeros(words, hidden.shape[-1], device=hidden.device)
        total = total.index_add(0, places, hidden[mine])  # the length below makes the sum a mean
        return nn.functional.normalize(total, dim=-1)


def load_model(folder: Path, settings: EncoderSettings) -> Model | OnnxModel:
    """Load the encoder's network, with weights that were checked to fit it."""
    precision, backend = settings.precision, settings.backend
    if precision == "int8" and settings.device in ("auto", "cpu"):
        backend = "onnx"  # torch scales whole batches, so that a sentence depends on the others
    device = "cpu" if backend == "onnx" else choose_device(settings.device)
    if precision == "auto":
        precision = "bf16" if device == "cuda" else "fp32"
    if precision == "int8" and device != "cpu":
        raise TreebridgeError("int8 precision runs on the CPU only; use bf16 or fp16 on a GPU")
    if backend == "onnx" and precision not in ("fp32", "int8"):
        raise TreebridgeError(f"ONNX Runtime computes in fp32 or int8, not in {precision}")
    network = _load_network(folder).to(_DTYPES[precision])
    layers = choose_layers(settings.layers, _count_layers(network))
    fingerprint = _fingerprint(folder, layers)
    in_torch = Model(network, layers, device, _DTYPES[precision])
    model = _in_onnx(in_torch, fingerprint, precision) if backend == "onnx" else in_torch
    model.fingerprint = fingerprint
    has_tokens = any((folder / name).exists() for name in _TOKENS)
    model.older_fingerprint = _older_fingerprint(folder, layers) if has_tokens else fingerprint
    if precision != "fp32":
        model.coarseness = f"-{backend}-{precision}" + "-rows" * (precision == "int8")
    return model


def _in_onnx(model: Model, fingerprint: str, precision: str) -> OnnxModel:
    from treebridge.encode.onnx_export import exported_file

    path = exported_file(model.network, model.layers, fingerprint, precision)
    made = OnnxModel(
        open_session(path), model.dim, model.padding, model.max_pieces, pads=precision != "int8"
    )
    made.vocabulary = model.vocabulary
    return made


def _load_network(folder: Path) -> nn.Module:
    network, _ = load_whole(folder)
    if getattr(network.config, "is_encoder_decoder", False):
        network = network.get_encoder()
    return network.eval().requires_grad_(False)  # type: ignore[no-any-return]


def load_whole(folder: Path) -> tuple[Any, list[str]]:
    """Load a checkpoint, and name the weights that it lacks and that nobody here uses."""
    from transformers import AutoConfig, AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call] # weights that are not used are reported below, if they matter
    try:
        config = AutoConfig.from_pretrained(str(folder))
        network, report = AutoModel.from_pretrained(
            str(folder), config=config, output_loading_info=True, dtype=torch.float32
        )
    except Exception as error:
        raise TreebridgeError(
            f"no encoder can be loaded ({first_line(error)}); the folder needs config.json and "
            "model.safetensors or pytorch_model.bin",
            file=folder,
        ) from error
    finally:
        logging.set_verbosity(verbosity)
    absent = list(report["missing_keys"])
    missing = [
        key
        for key in absent
        if not any(unused in key for unused in _UNUSED) and not _is_computed(network, key)
    ]
    surplus = _further_layers(report["unexpected_keys"], network)
    for what, keys in (("missing", missing), ("surplus", surplus)):
        if keys:
            raise TreebridgeError(
                f"{len(keys)} weights are {what} (such as {min(keys)}); "
                "config.json and the weights do not belong together",
                file=folder,
            )
    return network, absent


def _is_computed(network: nn.Module, key: str) -> bool:
    """Whether a weight is a formula (Marian's positions), which checkpoints may leave out."""
    owner = network.get_submodule(key.rpartition(".")[0])
    return "SinusoidalPositionalEmbedding" in type(owner).__name__


def _further_layers(unexpected: Iterable[str], network: nn.Module) -> list[str]:
    """Weights of layers like the network's own that it has no place for; heads are none."""
    kinds = {re.sub(r"\d+", "#", key) for key in network.state_dict()}
    layers = tuple(kind for kind in kinds if "#" in kind)
    return [key for key in unexpected if re.sub(r"\d+", "#", key).endswith(layers)]


def _count_layers(network: nn.Module) -> int:
    config: Any = network.config
    for name in ("encoder_layers", "num_hidden_layers", "num_layers"):
        if isinstance(count := getattr(config, name, None), int):
            return count
    raise TreebridgeError(f"cannot tell how many layers a {type(network).__name__} has")


def _max_pieces(network: nn.Module) -> int:
    """How many pieces the network takes at once."""
    config: Any = network.config
    limit = getattr(config, "max_position_embeddings", None) or DEFAULT_MAX_PIECES
    for name, module in network.named_modules():
        # RoBERTa and its like count positions from the padding index on.
        if (
            name.endswith("position_embeddings")
            and getattr(module, "padding_idx", None) is not None
        ):
            limit -= int(module.padding_idx) + 1
    return min(int(limit), 4096)


def _fingerprint(folder: Path, layers: list[int]) -> str:
    """A hash over the files that decide what comes out; names and places do not matter."""
    return _hash_files(folder, layers, (*_TOKENIZERS, *_TOKENS))


def _older_fingerprint(folder: Path, layers: list[int]) -> str:
    """What models were stamped with before special tokens counted, too."""
    return _hash_files(folder, layers, _TOKENIZERS)


def _hash_files(folder: Path, layers: list[int], tokenizer: tuple[str, ...]) -> str:
    digest = hashlib.sha256(json.dumps([layers, ""]).encode())  # "": as it stands in old folders
    weights = "*.safetensors" if any(folder.glob("*.safetensors")) else "pytorch_model*.bin"
    for pattern in (weights, "config.json", *tokenizer):
        for path in sorted(folder.glob(pattern)):
            digest.update(path.name.encode())
            add_file(digest, path)
    return digest.hexdigest()
