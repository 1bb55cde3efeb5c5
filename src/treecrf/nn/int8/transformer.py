"""Layers of a transformer with int8 products: what follows attention is one compiled call."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from treecrf.nn.int8.linear import PRODUCTS_PER_NANOSECOND, ByteProduct
from treecrf.ops.numba.threads import run_in_threads

if TYPE_CHECKING:
    from treecrf.nn.int8.transformer_kernel import Linear, Norm

__all__ = ["ByteLayerEnd"]


class ByteLayerEnd:
    """Attention's output, the feed-forward network, and the residual and norm after each."""

    def __init__(
        self,
        linears: tuple[nn.Linear, nn.Linear, nn.Linear],
        norms: tuple[nn.LayerNorm, nn.LayerNorm],
    ) -> None:
        output, expand, contract = map(_product, linears)
        attention_norm, norm = map(_norm, norms)
        self.linears, self.norms = (output, expand, contract), (attention_norm, norm)
        self.sizes = linears[1].out_features, norms[0].eps
        products = sum(linear.weight.numel() for linear in linears)
        self.nanoseconds = products / PRODUCTS_PER_NANOSECOND  # of a row

    def __call__(self, states: Tensor, attended: Tensor) -> Tensor:
        """New states `[piece, feature]`, on the CPU and without a gradient."""
        from treecrf.nn.int8.transformer_kernel import CHUNK, finish_layer

        before, given = states.numpy(), attended.numpy()
        found = np.empty_like(before)
        if len(states) <= CHUNK:
            finish_layer(before, given, self.linears, self.norms, *self.sizes, found)
            return torch.from_numpy(found)

        def task(pieces: npt.NDArray[np.int64]) -> None:
            for piece in pieces:
                part = slice(piece * CHUNK, (piece + 1) * CHUNK)
                finish_layer(
                    before[part], given[part], self.linears, self.norms, *self.sizes, found[part]
                )

        run_in_threads(task, [CHUNK * self.nanoseconds] * -(-len(before) // CHUNK))
        return torch.from_numpy(found)


def _product(linear: nn.Linear) -> "Linear":
    product = ByteProduct(linear.weight, linear.bias)
    return product.weights, product.bias


def _norm(norm: nn.LayerNorm) -> "Norm":
    return norm.weight.detach().numpy(), norm.bias.detach().numpy()
