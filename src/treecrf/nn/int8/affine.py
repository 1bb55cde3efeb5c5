"""Biaffine and triaffine forms with int8 products."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from treecrf.nn.int8.linear import byte_weights, run_in_pieces

__all__ = ["ByteForm"]

_VECTORS = 96  # x that a thread takes at once, about


class ByteForm:
    """y W(x) with W(x) = W x + B, where W is `[column, row, feature]` and B `[column, row]`.

    W(x) is rounded again, with its own scale: outputs do not depend on one another.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        from treecrf.nn.int8.products_kernel import COLUMNS

        self.columns, self.rows, features = weight.shape
        padding = (0, -self.rows % 4, 0, -self.columns % COLUMNS)
        # A tile of the first product is a register of the second: four rows of sixteen columns.
        order = torch.arange(weight[..., 0].numel()).view(self.columns, self.rows)
        padded = functional.pad(order, padding, value=-1)
        tiles = padded.view(-1, COLUMNS, padded.shape[1] // 4, 4).transpose(1, 2)
        tiles = tiles.reshape(-1, COLUMNS)
        places = (tiles >= 0).any(1).nonzero().flatten()
        order = tiles[places].flatten()
        unused = order < 0
        rows = weight.detach().reshape(-1, features)[order].masked_fill(unused[:, None], 0)
        self.weights = byte_weights(rows)
        biases = torch.zeros(len(order)) if bias is None else bias.detach().flatten()[order]
        self.bias = biases.masked_fill(unused, 0).numpy()
        self.places = places.numpy()

    def __call__(self, vectors: Tensor, others: Tensor) -> Tensor:
        """Outputs `[group, x, y, column]` of x `[group, x, feature]` and y `[group, y, row]`."""
        from treecrf.nn.int8.affine_kernel import apply_forms

        groups, each, _ = vectors.shape
        given, against = (np.ascontiguousarray(side.detach().numpy()) for side in (vectors, others))
        given = given.reshape(groups * each, -1)
        found = np.empty((len(given), others.shape[1], self.columns), np.float32)

        def work(some: slice) -> None:
            part = slice(some.start * each, some.stop * each)
            apply_forms(
                given[part], self.weights, self.bias, self.places, against[some], found[part]
            )

        products = each * len(self.bias) * vectors.shape[2]
        run_in_pieces(work, groups, size=max(1, _VECTORS // each), products=products)
        return torch.from_numpy(found.reshape(groups, each, *found.shape[1:]))
