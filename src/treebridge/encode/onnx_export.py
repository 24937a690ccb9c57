"""Export an encoder's network to ONNX, with weights of 32 bits or quantized."""

from __future__ import annotations

import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from treebridge.checksums import file_sha256
from treebridge.encode.cache import cache_folder, keeping
from treebridge.errors import MissingExtra, warn_damaged
from treebridge.onnx_graph import CONTRIB, MAX_BITS, Graph
from treebridge.writing import replacing


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
        total: torch.Tensor = states[self.layers[0]]
        for layer in self.layers[1:]:
            total = total + states[layer]
        return total / len(self.layers)


def export_network(network: nn.Module, layers: list[int], bits: int = 32) -> Any:
    """The mean of some layers of a network as an ONNX model: ids and real → mean.

    Weights of fewer than 32 bits are quantized.
    """
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        raise MissingExtra("onnxscript", "train", "exporting an encoder to ONNX") from None
    ids = torch.randint(1, 100, (2, 12))
    batch, pieces = torch.export.Dim("batch", min=1), torch.export.Dim("pieces", min=2)
    shape = {0: batch, 1: pieces}
    attention = network.config._attn_implementation  # type: ignore[union-attr]
    network.set_attn_implementation("eager")  # type: ignore[operator] # the plainest graph
    with _silence():
        exported = torch.onnx.export(
            _MeanOfLayers(network, layers).eval(),
            (ids, torch.ones_like(ids)),
            input_names=["ids", "real"],
            output_names=["mean"],
            dynamic_shapes={"ids": shape, "real": shape},
            dynamo=True,
            verbose=False,
        )
    network.set_attn_implementation(attention)  # type: ignore[operator]
    assert exported is not None
    return exported.model_proto if bits == 32 else quantized_model(exported.model_proto, bits)


def quantized_model(model: Any, bits: int) -> Any:
    """Replace products with constant weights, and look-ups in tables, by quantized ones."""
    from onnx import helper, numpy_helper

    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    matrices = {
        name for name, tensor in weights.items() if len(tensor.dims) == 2 and tensor.data_type == 1
    }
    graph = Graph(bits)
    for node in model.graph.node:
        # A weight that something else uses as well stays as it is there.
        if node.op_type == "MatMul" and node.input[1] in matrices:
            weight = numpy_helper.to_array(weights[node.input[1]])
            made = graph.linear(node.input[0], weight, None, node.input[1])
        elif node.op_type == "Gather" and node.input[0] in matrices and not _axis(node):
            table = numpy_helper.to_array(weights[node.input[0]])
            made = graph.rows(table, node.input[1], node.input[0])
        else:
            graph.nodes.append(node)
            continue
        graph.nodes.append(helper.make_node("Identity", [made], node.output))
    used = {name for node in graph.nodes for name in node.input}
    kept = [tensor for name, tensor in weights.items() if name in used]
    added = [numpy_helper.from_array(array, name) for name, array in graph.weights.items()]
    inner = helper.make_graph(
        graph.nodes, "encoder", model.graph.input, model.graph.output, [*kept, *added]
    )
    imports = [*model.opset_import, helper.make_opsetid(CONTRIB, 1)]
    return helper.make_model(inner, opset_imports=imports, ir_version=model.ir_version)


def _axis(node: Any) -> int:
    return sum(attribute.i for attribute in node.attribute if attribute.name == "axis")


@contextmanager
def _silence() -> Iterator[None]:
    """The exporter logs what only its authors need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def exported_file(network: nn.Module, layers: list[int], fingerprint: str, precision: str) -> Path:
    """The exported network in the cache; its own checksum stands in the name of its file."""
    name = f"{fingerprint}-{precision}"
    cache = cache_folder("onnx")
    if found := _exported(name):
        return found
    with keeping(cache), tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.onnx"
        made.write_bytes(
            export_network(
                network, layers, MAX_BITS if precision == "int8" else 32
            ).SerializeToString()
        )
        path = cache / f"{name}-{file_sha256(made)[:16]}.onnx"
        with replacing(path) as new:
            shutil.copyfile(made, new)
        return path


def _exported(name: str) -> Path | None:
    for path in sorted(cache_folder("onnx").glob(f"{name}*.onnx")):
        if path.stem == f"{name}-{file_sha256(path)[:16]}":
            return path
        if path.stem != name:  # else it is from before there were checksums
            warn_damaged(path, "the checksum is not that of its name")
        path.unlink()
    return None
