"""Layers of a transformer with int8 products, each of which is one compiled call."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from treecrf.nn.int8.linear import PRODUCTS_PER_NANOSECOND, ByteProduct
from treecrf.ops.numba.threads import run_in_threads

if TYPE_CHECKING:
    from treecrf.nn.int8.transformer_kernel import Linear, Norm

__all__ = ["ByteLayer"]

Integers = npt.NDArray[np.int64]


class ByteLayer:
    """Attention with `heads` heads, a feed-forward network, and the residual and norm after each.

    `linears` are those of queries, keys and values; of attention's output; and of the network.
    """

    def __init__(
        self,
        heads: int,
        linears: tuple[nn.Linear, nn.Linear, nn.Linear, nn.Linear],
        norms: tuple[nn.LayerNorm, nn.LayerNorm],
    ) -> None:
        projection, output, expand, contract = map(_product, linears)
        attention_norm, norm = map(_norm, norms)
        self.weights = projection, (output, expand, contract), (attention_norm, norm)
        self.heads = heads
        self.sizes = linears[2].out_features, norms[0].eps
        products = sum(linear.weight.numel() for linear in linears)
        self.nanoseconds = products / PRODUCTS_PER_NANOSECOND  # of a row

    def __call__(self, states: Tensor, lengths: Integers) -> Tensor:
        """New states `[row, feature]` of windows of these lengths; on the CPU, no gradient."""
        from treecrf.nn.int8.transformer_kernel import CHUNK, run_layer

        before = states.numpy()
        found = np.empty_like(before)
        if len(lengths) == 1 or len(before) <= CHUNK:
            run_layer(before, lengths, self.heads, *self.weights, *self.sizes, found)
            return torch.from_numpy(found)
        parts = list(_parts(lengths, CHUNK))

        def task(numbers: Integers) -> None:
            for rows, own in (parts[number] for number in numbers):
                run_layer(before[rows], own, self.heads, *self.weights, *self.sizes, found[rows])

        run_in_threads(task, [(rows.stop - rows.start) * self.nanoseconds for rows, _ in parts])
        return torch.from_numpy(found)


def _parts(lengths: Integers, size: int) -> Iterator[tuple[slice, Integers]]:
    """Windows one after the other, of `size` rows together or one alone: rows and lengths."""
    first = start = 0
    ends = np.cumsum(lengths).tolist()
    for number, end in enumerate(ends):
        if number + 1 == len(ends) or ends[number + 1] - start > size:
            yield slice(start, end), lengths[first : number + 1]
            first, start = number + 1, end


def _product(linear: nn.Linear) -> "Linear":
    product = ByteProduct(linear.weight, linear.bias)
    return product.weights, product.bias


def _norm(norm: nn.LayerNorm) -> "Norm":
    return norm.weight.detach().numpy(), norm.bias.detach().numpy()
