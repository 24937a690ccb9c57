"""ONNX graphs, node by node, with weights of a few bits.

A product with quantized weights scales each row of its input by that row's own maximum, so a row
comes out the same to the last bit whatever stands beside it: a sentence alone or in a batch. (The
usual dynamic quantization has one scale for the whole tensor.) Weights have at most 7 bits and a
scale for each output: sums of two products then fit the 16 bits of processors without VNNI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPSET, CONTRIB = 20, "com.microsoft"
MAX_BITS = 7  # of a weight
LEVELS, ZERO = 127, 128  # of inputs and tables, in 8 bits
QUANTIZED, SCALES = ".quantized", ".scales"  # what the names of a weight's two halves end with
Array = NDArray[Any]


def quantize(weight: Array, levels: int = LEVELS) -> tuple[NDArray[np.int8], Array]:
    """Whole numbers from −levels to levels, and the scale of each column: [k, n] → [k, n], [n]."""
    largest = np.abs(weight).max(0)
    scales = np.where(largest > 0, largest / levels, 1).astype(np.float32)
    return np.round(weight / scales).astype(np.int8), scales


class Graph:
    """A graph under construction; methods return the name of the tensor that they add."""

    def __init__(self, bits: int = MAX_BITS, around: Graph | None = None) -> None:
        self.bits = bits
        self.nodes: list[Any] = []
        # The body of a loop sees the weights of the graph around it.
        self.weights: dict[str, Array] = around.weights if around else {}
        self._rows: dict[str, tuple[str, str]] = {}  # inputs that are quantized already
        self._prefix = "" if around is None else f"inner{len(around.nodes)}_"

    def constant(self, value: Any, name: str = "") -> str:
        """A weight, or a number that is the same every time."""
        array = np.asarray(value)
        if not name:
            name = f"constant_{array.dtype}_{array.tolist()}"
        self.weights[name] = array
        return name

    def add(
        self, op: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any
    ) -> Any:
        """A node; the name of its output, or a list of names where it has several."""
        from onnx import helper

        names = [f"{self._prefix}{op.lower()}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def scalar(self, value: float) -> str:
        """A number with 32 bits."""
        return self.constant(np.float32(value))

    def linear(self, x: str, weight: Array, bias: Array | None, name: str) -> str:
        """x @ weight + bias with quantized weight: [..., k] → [..., n]."""
        y = self.product(x, *self.quantized(weight, name))
        return y if bias is None else self.add("Add", y, self.constant(bias, f"{name}.bias"))

    def quantized(self, weight: Array, name: str) -> tuple[str, str]:
        """A weight [k, n] in a few bits, and its scales [n]."""
        quantized, scales = quantize(weight, 2 ** (self.bits - 1) - 1)
        return self.constant(quantized, name + QUANTIZED), self.constant(scales, name + SCALES)

    def product(self, x: str, quantized: str, scales: str) -> str:
        """x @ (quantized · scales), each row of x in 8 bits of its own scale."""
        if x not in self._rows:
            largest = self.add("ReduceMax", self.add("Abs", x), self.constant([-1]), keepdims=1)
            largest = self.add("Max", largest, self.scalar(1e-30))  # a row of zeros stays one
            self._rows[x] = self.eight_bits(self.add("Div", x, largest)), largest
        row, largest = self._rows[x]
        return str(self.add("Mul", self.eight_bit_product(row, quantized, scales), largest))

    def eight_bits(self, x: str) -> str:
        """Numbers between −1 and 1 in 8 bits."""
        zero = self.constant(np.uint8(ZERO))
        return str(self.add("QuantizeLinear", x, self.scalar(1 / LEVELS), zero))

    def eight_bit_product(self, x: str, quantized: str, scales: str) -> str:
        """The product of what `eight_bits` made with a weight."""
        zero = self.constant(np.uint8(ZERO))
        inputs = x, quantized, self.scalar(1 / LEVELS), scales, zero
        return str(self.add("MatMulIntegerToFloat", *inputs, domain=CONTRIB))

    def rows(self, table: Array, ids: str, name: str) -> str:
        """Rows of a quantized table, one scale for each: ids [...] → [..., k]."""
        quantized, scales = quantize(table.T)
        picked = self.add("Gather", self.constant(quantized.T.copy(), name + QUANTIZED), ids)
        scale = self.add("Gather", self.constant(scales[:, None], name + SCALES), ids)
        return str(self.add("Mul", self.add("Cast", picked, to=1), scale))

    def body(self, inputs: Sequence[str], outputs: Sequence[str]) -> Any:
        """What is built so far as the body of a loop."""
        from onnx import helper

        def described(names: Sequence[str]) -> list[Any]:
            return [helper.make_tensor_value_info(name, 1, None) for name in names]

        return helper.make_graph(self.nodes, "body", described(inputs), described(outputs))

    def model(self, inputs: dict[str, tuple[int, list[str | int]]], outputs: dict[str, str]) -> Any:
        """The whole model; inputs have a type and a shape, outputs a new name."""
        from onnx import TensorProto, helper, numpy_helper

        for tensor, name in outputs.items():
            self.nodes.append(helper.make_node("Identity", [tensor], [name]))
        graph = helper.make_graph(
            self.nodes,
            "treebridge",
            [helper.make_tensor_value_info(name, *info) for name, info in inputs.items()],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
                for name in outputs.values()
            ],
            [numpy_helper.from_array(np.asarray(x), name) for name, x in self.weights.items()],
        )
        imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=9)
