"""Builder of an ONNX graph: each call adds a node and returns the name of its output."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from treecrf.extras import needs_extra

with needs_extra("onnx", "ONNX"):
    from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

__all__ = ["Graph", "Value"]

Value = str
"""Name of an output of a node, of an input or of a weight."""

_OPSET = 20  # the first that has Gelu
_FORMAT = 10  # version of the file that goes with that opset, for older runtimes


class Graph:
    """Nodes, weights, inputs and outputs of a graph."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._weights: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._known: dict[tuple[int, ...], Value] = {}

    def input(self, name: str, dimensions: Sequence[str]) -> Value:
        """Add an input of int64; named dimensions may have any size."""
        self._inputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, dimensions))
        return name

    def output(self, name: str, value: Value, dimensions: Sequence[str | int]) -> None:
        """Add an output of float32."""
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dimensions))

    def weight(self, value: torch.Tensor | npt.NDArray[Any]) -> Value:
        """Add a constant tensor."""
        array = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value
        name = f"weight_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def number(self, value: float) -> Value:
        """Add a constant float32."""
        return self.weight(np.array(value, np.float32))

    def integers(self, *values: int) -> Value:
        """Add a constant list of int64, such as a shape; equal lists are stored once."""
        if values not in self._known:
            self._known[values] = self.weight(np.array(values, np.int64))
        return self._known[values]

    def add(self, kind: str, *inputs: Value, attributes: Mapping[str, Any] | None = None) -> Value:
        """Add a node with one output; an empty input name leaves that input out."""
        return self.add_many(kind, *inputs, outputs=1, attributes=attributes)[0]

    def add_many(
        self, kind: str, *inputs: Value, outputs: int, attributes: Mapping[str, Any] | None = None
    ) -> list[Value]:
        """Add a node with several outputs."""
        names = [f"{kind}_{len(self._nodes)}_{place}" for place in range(outputs)]
        self._nodes.append(helper.make_node(kind, list(inputs), names, **(attributes or {})))
        return names

    def reshape(self, value: Value, *sizes: int | Value) -> Value:
        """Reshape: sizes, -1 for the rest, 0 for as before, or names of lists of one size."""
        if all(isinstance(size, int) for size in sizes):
            return self.add("Reshape", value, self.integers(*map(int, sizes)))
        parts = [self.integers(size) if isinstance(size, int) else size for size in sizes]
        return self.add("Reshape", value, self.add("Concat", *parts, attributes={"axis": 0}))

    def transpose(self, value: Value, *order: int) -> Value:
        """Reorder the dimensions."""
        return self.add("Transpose", value, attributes={"perm": order})

    def gather(self, table: torch.Tensor, rows: Value) -> Value:
        """Rows of a constant table, such as an embedding."""
        return self.add("Gather", self.weight(table), rows)

    def linear(self, value: Value, weight: torch.Tensor, bias: torch.Tensor | None) -> Value:
        """`value @ weight + bias`, with the weight `[input, output]`."""
        product = self.add("MatMul", value, self.weight(weight))
        return product if bias is None else self.add("Add", product, self.weight(bias))

    def cast(self, value: Value, kind: Literal["float", "int32"]) -> Value:
        """Convert to another type."""
        kinds = {"float": TensorProto.FLOAT, "int32": TensorProto.INT32}
        return self.add("Cast", value, attributes={"to": kinds[kind]})

    def before(self, counts: Value, width: Value) -> Value:
        """Mask `[..., width]` of the places before `counts [..., 1]`; `width` is a list of one."""
        zero, one = self.weight(np.array(0)), self.weight(np.array(1))
        scalar = self.add("Squeeze", width, self.integers(0))
        return self.add("Less", self.add("Range", zero, scalar, one), counts)

    def size(self, value: Value, dimension: int) -> Value:
        """Size of a dimension, as a list of one."""
        return self.add("Shape", value, attributes={"start": dimension, "end": dimension + 1})

    def finish(self, properties: Mapping[str, str]) -> ModelProto:
        """Make a model of the graph and check it."""
        ends = self._inputs, self._outputs
        graph = helper.make_graph(self._nodes, "scorer", *ends, initializer=self._weights)
        versions = {"opset_imports": [helper.make_opsetid("", _OPSET)], "ir_version": _FORMAT}
        model = helper.make_model(graph, producer_name="treecrf", **versions)
        helper.set_model_props(model, dict(properties))
        checker.check_model(model)
        return model
