"""A parser's network as ONNX graphs with quantized weights, and back again."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from treebridge.onnx_graph import QUANTIZED, SCALES, Graph
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.onnx_network import ADDED, KNOWN
from treebridge.parse.settings import ParserSettings

FLOAT, INT = 1, 7  # ONNX types
Weights = dict[str, NDArray[Any]]
_KINDS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def export_network(network: Biaffine, bits: int) -> tuple[Any, Any]:
    """The graph that scores tags and arcs, and the one that scores the labels of chosen arcs."""
    weights = {name: x.detach().cpu().float().numpy() for name, x in network.state_dict().items()}
    return _arcs_graph(network, weights, bits), _labels_graph(network, weights, bits)


def _arcs_graph(network: Biaffine, weights: Weights, bits: int) -> Any:
    settings, graph = network.settings, Graph(bits)
    dim = int(weights["lstm.0.weight_ih_l0"].shape[1]) - (settings.tags != "none") * settings.tag
    inputs: dict[str, tuple[int, list[str | int]]] = {
        "vectors": (FLOAT, ["batch", "n", dim]),
        "lengths": (INT, ["batch"]),
    }
    outputs: dict[str, str] = {}
    x = graph.add("Mul", "vectors", graph.scalar(network.scale))
    if settings.tags == "predicted":
        inputs[ADDED] = (FLOAT, ["batch", "n", "tags"])
        graph.constant(np.zeros((1, 1, 1), np.float32), ADDED)  # who adds nothing gives nothing
        tags = _tagger(graph, weights, _with_neighbours(graph, x, settings.neighbours))
        tags = graph.add("Add", tags, ADDED)
        outputs[tags] = "tags"
        table = graph.constant(weights["tag_vectors"], "tag_vectors")
        told = graph.add("MatMul", graph.add("Softmax", tags, axis=-1), table)
        # Known tags, −1 where there is none; who gives no tags gets that for all words.
        inputs[KNOWN] = (INT, ["batch", "n"])
        graph.constant([[-1]], KNOWN)
        known = graph.add("GreaterOrEqual", KNOWN, graph.constant(0))
        known = graph.add("Unsqueeze", known, graph.constant([-1]))  # [batch, n, 1]
        given = graph.add("Gather", table, graph.add("Max", KNOWN, graph.constant(0)))
        x = graph.add("Concat", x, graph.add("Where", known, given, told), axis=-1)
    elif settings.tags == "gold":
        inputs["tags"] = (INT, ["batch", "n"])
        unknown = np.zeros((1, settings.tag), np.float32)  # its number is −1, the last row
        table = graph.constant(np.concatenate([weights["tag_vectors"], unknown]), "tag_vectors")
        x = graph.add("Concat", x, graph.add("Gather", table, "tags"), axis=-1)
    for layer in range(settings.layers):
        x = _bilstm(graph, weights, x, layer, settings.hidden)
    root = graph.constant(weights["root"][None, None], "root")  # [1, 1, 2·hidden]
    with_root = graph.add("Concat", _repeated(graph, root, x), x, axis=1)
    ends = {}
    for name in ("arc_dependent", "arc_head", "label_dependent", "label_head"):
        read = with_root if name.endswith("head") else x
        end = graph.linear(read, weights[f"{name}.weight"].T, weights[f"{name}.bias"], name)
        ends[name] = graph.add("LeakyRelu", end, alpha=0.1)
    middle = weights["arc_weight"]  # [arc + 1, arc], its last row for the head alone
    dependents = graph.linear(ends["arc_dependent"], middle[:-1], middle[-1], "arc_weight")
    turned = graph.add("Transpose", ends["arc_head"], perm=[0, 2, 1])
    outputs[graph.add("MatMul", dependents, turned)] = "arcs"
    outputs[ends["label_dependent"]] = "dependents"
    outputs[ends["label_head"]] = "heads"
    return graph.model(inputs, outputs)


def _repeated(graph: Graph, vector: str, like: str) -> str:
    """One vector for each sentence of a batch: [1, 1, size] → [batch, 1, size]."""
    batch = graph.add("Shape", like, start=0, end=1)
    shape = graph.add("Concat", batch, graph.constant([1, 1]), axis=0)
    return str(graph.add("Expand", vector, shape))


def _with_neighbours(graph: Graph, x: str, number: int) -> str:
    """Each word in a row with those around it."""
    if not number:
        return x
    padded = graph.add("Pad", x, graph.constant([0, number, 0, 0, number, 0]))
    n = graph.add("Shape", x, start=1, end=2)
    parts = [
        graph.add("Slice", padded, first, graph.add("Add", first, n), graph.constant([1]))
        for first in (graph.constant([k]) for k in range(1 + 2 * number))
    ]
    return str(graph.add("Concat", *parts, axis=-1))


def _tagger(graph: Graph, weights: Weights, x: str) -> str:
    first, last = "tagger.0", "tagger.3"
    x = graph.linear(x, weights[f"{first}.weight"].T, weights[f"{first}.bias"], first)
    x = graph.add("Gelu", x)
    return graph.linear(x, weights[f"{last}.weight"].T, weights[f"{last}.bias"], last)


def _bilstm(graph: Graph, weights: Weights, x: str, layer: int, hidden: int) -> str:
    """Both directions in one loop; the second reads sentences turned round, padding last."""
    turned = graph.add("ReverseSequence", x, "lengths", batch_axis=0, time_axis=1)
    parts, recurrent = [], []
    for read, direction in ((x, ""), (turned, "_reverse")):
        ends = f"_l0{direction}"
        own = {kind: _reordered(weights[f"lstm.{layer}.{kind}{ends}"], hidden) for kind in _KINDS}
        bias, name = own["bias_ih"] + own["bias_hh"], f"lstm.{layer}.weight_ih{ends}"
        part = graph.linear(read, own["weight_ih"].T, bias, name)  # [batch, n, 4·hidden]
        parts.append(graph.add("Unsqueeze", part, graph.constant([0])))
        recurrent.append(own["weight_hh"].T)
    given = graph.add("Concat", *parts, axis=0)  # [2, batch, n, 4·hidden]
    body = Graph(graph.bits, around=graph)
    # Both directions have the scales of their columns in common, as one product needs.
    quantized, scales = body.quantized(np.concatenate(recurrent), f"lstm.{layer}.weight_hh")
    body.weights[quantized] = body.weights[quantized].reshape(2, hidden, 4 * hidden)
    product = body.eight_bit_product(body.eight_bits("h"), quantized, scales)
    sizes = body.constant([3 * hidden, hidden])
    gated, candidate = body.add("Split", body.add("Add", "x", product), sizes, axis=2, outputs=2)
    enter, forget, leave = body.add(
        "Split", body.add("Sigmoid", gated), axis=2, num_outputs=3, outputs=3
    )
    new = body.add("Mul", enter, body.add("Tanh", candidate))
    cell = body.add("Add", body.add("Mul", forget, "c"), new)
    state = body.add("Mul", leave, body.add("Tanh", cell))  # [2, batch, hidden]
    copied = body.add("Identity", state)
    batch = graph.add("Shape", x, start=0, end=1)
    shape = graph.add("Concat", graph.constant([2]), batch, graph.constant([hidden]), axis=0)
    start = graph.add("ConstantOfShape", shape)
    _, _, states = graph.add(
        "Scan", start, start, given, body=body.body(["h", "c", "x"], [state, cell, copied]),
        num_scan_inputs=1, scan_input_axes=[2], scan_output_axes=[2], outputs=3,
    )  # fmt: skip
    forwards, backwards = (
        graph.add("Squeeze", half, graph.constant([0]))
        for half in graph.add("Split", states, axis=0, num_outputs=2, outputs=2)
    )
    backwards = graph.add("ReverseSequence", backwards, "lengths", batch_axis=0, time_axis=1)
    return str(graph.add("Concat", forwards, backwards, axis=-1))


def _reordered(weight: NDArray[Any], hidden: int) -> NDArray[Any]:
    """Swap the last two gates: torch has enter, forget, candidate, leave, the graph leave third."""
    enter, forget, candidate, leave = (weight[k * hidden : (k + 1) * hidden] for k in range(4))
    return np.concatenate([enter, forget, leave, candidate])


def _labels_graph(network: Biaffine, weights: Weights, bits: int) -> Any:
    """Label scores of arcs, given their two ends: [m, label] twice → [m, labels]."""
    graph, size = Graph(bits), network.settings.label
    weight = weights["label_weight"]  # [label + 1, labels, label + 1]
    labels = weight.shape[1]
    flat = weight.reshape(size + 1, -1)
    x = graph.linear("dependents", flat[:-1], flat[-1], "label_weight")
    x = graph.add("Reshape", x, graph.constant([-1, labels, size + 1]))
    ones = graph.add("Slice", "heads", *(graph.constant([k]) for k in (0, 1, 1)))
    ones = graph.add("Add", graph.add("Mul", ones, graph.scalar(0)), graph.scalar(1))
    heads = graph.add("Concat", "heads", ones, axis=-1)
    heads = graph.add("Unsqueeze", heads, graph.constant([-1]))  # [m, label + 1, 1]
    scores = graph.add("Squeeze", graph.add("MatMul", x, heads), graph.constant([-1]))
    shape: list[str | int] = ["m", size]
    return graph.model({"dependents": (FLOAT, shape), "heads": (FLOAT, shape)}, {scores: "scores"})


def import_network(settings: ParserSettings, arcs: bytes, labels: bytes) -> Biaffine:
    """The network that was exported, with the weights that the quantized ones stand for."""
    from onnx import load_model_from_string, numpy_helper

    found = {
        tensor.name: numpy_helper.to_array(tensor)
        for content in (arcs, labels)
        for tensor in load_model_from_string(content).graph.initializer
    }

    def weight(name: str) -> NDArray[Any]:
        return np.asarray(found[name + QUANTIZED] * found[name + SCALES], np.float32)

    def with_bias(name: str) -> NDArray[Any]:
        return np.concatenate([weight(name), found[f"{name}.bias"][None]])

    size = found["label_weight.bias"].shape[0] // (settings.label + 1)
    made: Weights = {
        "root": found["root"][0, 0],
        "arc_weight": with_bias("arc_weight"),
        "label_weight": with_bias("label_weight").reshape(settings.label + 1, size, -1),
    }
    layers = ["arc_dependent", "arc_head", "label_dependent", "label_head"]
    if settings.tags == "predicted":
        layers += ["tagger.0", "tagger.3"]
    for name in layers:
        made |= {f"{name}.weight": weight(name).T, f"{name}.bias": found[f"{name}.bias"]}
    tags = 0
    if settings.tags != "none":
        table = found["tag_vectors"]
        made["tag_vectors"] = table[:-1] if settings.tags == "gold" else table
        tags = len(made["tag_vectors"])
    for layer in range(settings.layers):
        recurrent = weight(f"lstm.{layer}.weight_hh")  # [2, hidden, 4·hidden]
        for ends, own in zip(("_l0", "_l0_reverse"), recurrent, strict=True):
            read = f"lstm.{layer}.weight_ih{ends}"
            bias = found[f"{read}.bias"]
            parts = weight(read).T, own.T, bias, np.zeros_like(bias)
            for kind, part in zip(_KINDS, parts, strict=True):
                made[f"lstm.{layer}.{kind}{ends}"] = _reordered(part, settings.hidden)
    dim = made["lstm.0.weight_ih_l0"].shape[1] - (settings.tags != "none") * settings.tag
    network = Biaffine(settings, dim, size, tags, initialize=False)
    network.load_state_dict({k: torch.tensor(x) for k, x in made.items()})
    return network.eval()
