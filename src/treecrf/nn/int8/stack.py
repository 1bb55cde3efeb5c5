"""All layers of a transformer with int8 products as one compiled call, for a single thread."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from treecrf.nn.int8.transformer import ByteLayer

__all__ = ["ByteStack"]

Integers = npt.NDArray[np.int64]


class ByteStack:
    """Layers one after the other, and the mix of their last states.

    For a short sentence, calling each layer from Python would take a tenth of the time. The weights
    of the layers become parts of arrays `[layer, ...]`.
    """

    def __init__(self, layers: Sequence[ByteLayer]) -> None:
        self.layers = layers
        self.weights = _stacked([layer.weights for layer in layers])
        for number, layer in enumerate(layers):
            layer.weights = _part(self.weights, number)

    def __reduce__(self) -> tuple[object, ...]:
        """Send the weights to another process once: those of the layers are parts of the arrays."""
        return type(self), (self.layers,)

    def __call__(
        self, states: Tensor, lengths: Integers, *, shares: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Sum `[row, feature]` of the last states, each times its share; see `run_layers`."""
        from treecrf.nn.int8.transformer_kernel import run_layers

        before = states.numpy()
        mixed = np.empty_like(before)
        first = self.layers[0]
        projection, linears, norms = self.weights
        width, epsilon = first.sizes
        weights = projection, linears, norms
        run_layers(before, lengths, first.heads, weights, width, epsilon, shares, mixed)
        return mixed


def _stacked(parts: Sequence[Any]) -> Any:
    """Arrays in nested tuples of one shape, joined along a new first axis."""
    if isinstance(parts[0], tuple):
        return tuple(map(_stacked, zip(*parts, strict=True)))
    return np.stack(parts)


def _part(stacked: Any, number: int) -> Any:
    """The same nested tuples with one of the joined arrays."""
    if isinstance(stacked, tuple):
        return tuple(_part(part, number) for part in stacked)
    return stacked[number]
