"""The same network through ONNX Runtime (extra `onnx`): fp32 or int8 on the CPU."""

from __future__ import annotations

import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from treebridge.checksums import file_sha256
from treebridge.encode.cache import cache_folder, keeping
from treebridge.encode.models import Model
from treebridge.errors import MissingExtra, warn_damaged
from treebridge.writing import replacing


class OnnxModel(Model):
    """Exports the network once into the cache and runs it there."""

    def __init__(self, network: nn.Module, layers: list[int], precision: str, fingerprint: str):
        super().__init__(network, layers, "cpu", torch.float32)
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtra("ONNX Runtime", "onnx", "--backend onnx") from None
        name = f"{fingerprint}-{precision}"
        path = _exported(name) or _export(network, layers, name, int8=precision == "int8")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self.network = nn.Identity()  # its weights live in the session now

    def hidden(self, ids: NDArray[np.int64], real: NDArray[np.int64]) -> torch.Tensor:
        """The mean of the chosen layers."""
        (mean,) = self._session.run(None, {"ids": ids, "real": real})
        return torch.from_numpy(mean)


class _MeanOfLayers(nn.Module):
    """What is exported: one output instead of every hidden state."""

    def __init__(self, network: nn.Module, layers: list[int]):
        super().__init__()
        self.network = network
        self.layers = layers

    def forward(self, ids: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        states = self.network(
            input_ids=ids, attention_mask=real, output_hidden_states=True
        ).hidden_states
        return torch.stack([states[layer] for layer in self.layers]).mean(0)


@contextmanager
def _silence() -> Iterator[None]:
    """The exporter and the quantiser talk to their authors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def _exported(name: str) -> Path | None:
    """The network in the cache; its own checksum stands in the name of its file."""
    for path in sorted(cache_folder("onnx").glob(f"{name}*.onnx")):
        if path.stem == f"{name}-{file_sha256(path)[:16]}":
            return path
        if path.stem != name:  # else it is from before there were checksums
            warn_damaged(path, "the checksum is not that of its name")
        path.unlink()
    return None


def _export(network: nn.Module, layers: list[int], name: str, *, int8: bool) -> Path:
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        raise MissingExtra("onnxscript", "onnx", "--backend onnx") from None
    ids = torch.randint(1, 100, (2, 12))
    batch, pieces = torch.export.Dim("batch", min=1), torch.export.Dim("pieces", min=2)
    shape = {0: batch, 1: pieces}
    cache = cache_folder("onnx")
    with keeping(cache), tempfile.TemporaryDirectory() as folder, _silence():
        made = Path(folder) / "fp32.onnx"
        torch.onnx.export(
            _MeanOfLayers(network, layers).eval(),
            (ids, torch.ones_like(ids)),
            str(made),
            input_names=["ids", "real"],
            output_names=["mean"],
            dynamic_shapes={"ids": shape, "real": shape},
            dynamo=True,
            external_data=False,
            verbose=False,
        )
        if int8:
            from onnxruntime.quantization import QuantType, quantize_dynamic

            quantised = Path(folder) / "int8.onnx"
            quantize_dynamic(str(made), str(quantised), weight_type=QuantType.QInt8)
            made = quantised
        path = cache / f"{name}-{file_sha256(made)[:16]}.onnx"
        with replacing(path) as new:
            shutil.copyfile(made, new)
        return path
