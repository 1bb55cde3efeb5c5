"""An ONNX graph in the making: each call adds a node and gives the name of its output."""

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
"""The name of what a node gives, or of an input or a weight."""

_OPSET = 20  # the first that has Gelu
_FORMAT = 10  # of the file: what goes with that opset, so that older runtimes read it too
_PRODUCER = "treecrf"


class Graph:
    """Collects nodes, weights, inputs and outputs."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._weights: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._known: dict[tuple[int, ...], Value] = {}

    def input(self, name: str, dimensions: Sequence[str]) -> Value:
        """Whole numbers that whoever runs the graph gives; dimensions are named, so any size."""
        self._inputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, dimensions))
        return name

    def output(self, name: str, value: Value, dimensions: Sequence[str | int]) -> None:
        """Numbers that the graph gives."""
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dimensions))

    def weight(self, value: torch.Tensor | npt.NDArray[Any]) -> Value:
        """Numbers that are part of the graph."""
        array = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value
        name = f"weight_{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def number(self, value: float) -> Value:
        """One number in single precision."""
        return self.weight(np.array(value, np.float32))

    def integers(self, *values: int) -> Value:
        """A list of whole numbers, such as a shape."""
        if values not in self._known:
            self._known[values] = self.weight(np.array(values, np.int64))
        return self._known[values]

    def add(self, kind: str, *inputs: Value, attributes: Mapping[str, Any] | None = None) -> Value:
        """The output of a new node; an empty name is an input that is left out."""
        return self.add_many(kind, *inputs, outputs=1, attributes=attributes)[0]

    def add_many(
        self,
        kind: str,
        *inputs: Value,
        outputs: int,
        attributes: Mapping[str, Any] | None = None,
    ) -> list[Value]:
        """The outputs of a new node."""
        names = [f"{kind}_{len(self._nodes)}_{place}" for place in range(outputs)]
        self._nodes.append(helper.make_node(kind, list(inputs), names, **(attributes or {})))
        return names

    def reshape(self, value: Value, *sizes: int | Value) -> Value:
        """Another shape: sizes, -1 for what is left, 0 for as before, or names of lists of one."""
        if all(isinstance(size, int) for size in sizes):
            return self.add("Reshape", value, self.integers(*map(int, sizes)))
        parts = [self.integers(size) if isinstance(size, int) else size for size in sizes]
        shape = self.add("Concat", *parts, attributes={"axis": 0})
        return self.add("Reshape", value, shape)

    def transpose(self, value: Value, *order: int) -> Value:
        """The dimensions in another order."""
        return self.add("Transpose", value, attributes={"perm": order})

    def linear(self, value: Value, weight: torch.Tensor, bias: torch.Tensor | None) -> Value:
        """`value @ weight + bias`, with the weight `[input, output]`."""
        product = self.add("MatMul", value, self.weight(weight))
        return product if bias is None else self.add("Add", product, self.weight(bias))

    def cast(self, value: Value, kind: Literal["float", "int32"]) -> Value:
        """The same numbers of another kind."""
        kinds = {"float": TensorProto.FLOAT, "int32": TensorProto.INT32}
        return self.add("Cast", value, attributes={"to": kinds[kind]})

    def before(self, counts: Value, width: Value) -> Value:
        """Which places of `[..., width]` are before `counts [..., 1]`; the width is a scalar."""
        zero, one = self.weight(np.array(0)), self.weight(np.array(1))
        return self.add("Less", self.add("Range", zero, width, one), counts)

    def size(self, value: Value, dimension: int) -> Value:
        """One size of a shape, as a list of one."""
        return self.add("Shape", value, attributes={"start": dimension, "end": dimension + 1})

    def finish(self, properties: Mapping[str, str]) -> ModelProto:
        """The whole as a model, found to be well-formed."""
        graph = helper.make_graph(
            self._nodes, "scorer", self._inputs, self._outputs, initializer=self._weights
        )
        opset = helper.make_opsetid("", _OPSET)
        model = helper.make_model(
            graph, producer_name=_PRODUCER, opset_imports=[opset], ir_version=_FORMAT
        )
        helper.set_model_props(model, dict(properties))
        checker.check_model(model)
        return model
