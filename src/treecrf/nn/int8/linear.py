"""Linear layers with int8 products: several times faster on a CPU with VNNI."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from treecrf.ops.backend import obstacle
from treecrf.ops.numba.threads import run_in_threads

if TYPE_CHECKING:
    from treecrf.nn.int8.products_kernel import Weights

__all__ = [
    "PRODUCTS_PER_NANOSECOND",
    "ByteLinear",
    "ByteProduct",
    "byte_weights",
    "has_byte_products",
    "run_in_pieces",
    "scale_of_rows",
]

PRODUCTS_PER_NANOSECOND = 150.0
"""Approximate speed of one thread."""

_LARGEST = 127
_ROWS = 48  # of a task of a thread


class ByteProduct:
    """Product with weights `[output, input]` rounded to integers from -127 to 127.

    Each output has its scale, and so has each row of the input, which is rounded as well: rows do
    not depend on one another.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.outputs, self.inputs = weight.shape
        self.weights = byte_weights(weight)
        self.bias = np.zeros(len(self.weights[1]), np.float32)
        if bias is not None:
            self.bias[: self.outputs] = bias.detach().numpy()

    def __call__(self, inputs: Tensor) -> Tensor:
        """Outputs `[..., output]` of inputs `[..., input]` on the CPU; no gradient."""
        from treecrf.nn.int8.products_kernel import multiply

        # NumPy does these at a fraction of what small tensors cost.
        rows = np.ascontiguousarray(inputs.detach().numpy()).reshape(-1, self.inputs)
        found = np.empty((len(rows), self.outputs), np.float32)

        def work(part: slice) -> None:
            multiply(rows[part], self.weights, self.bias, found[part])

        if torch.get_num_threads() == 1:  # then weights go by once for all rows
            work(slice(None))
        else:
            run_in_pieces(work, len(rows), size=_ROWS, products=self.inputs * self.outputs)
        return torch.from_numpy(found.reshape(*inputs.shape[:-1], self.outputs))


def run_in_pieces(work: Callable[[slice], None], rows: int, *, size: int, products: float) -> None:
    """Call `work` on pieces of `size` rows, in threads; each row costs so many products."""

    def task(pieces: npt.NDArray[np.int64]) -> None:
        for piece in pieces:
            work(slice(piece * size, (piece + 1) * size))

    run_in_threads(task, [size * products / PRODUCTS_PER_NANOSECOND] * -(-rows // size))


class ByteLinear(nn.Linear):
    """Linear layer by a `ByteProduct`; the weights in `state_dict` stay as they were."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__(linear.in_features, linear.out_features, device="meta")
        self.weight, self.bias = linear.weight, linear.bias
        self.product = ByteProduct(linear.weight, linear.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs `[..., output]` of inputs `[..., input]` on the CPU; no gradient."""
        return self.product(inputs)


def byte_weights(weight: Tensor) -> "Weights":
    """Round weights `[output, input]` for `treecrf.nn.int8.products_kernel`."""
    from treecrf.nn.int8.products_kernel import COLUMNS

    weight = weight.detach().float()
    outputs, inputs = weight.shape
    padding = (0, -inputs % 4, 0, -outputs % COLUMNS)
    scale = scale_of_rows(weight)
    rounded = functional.pad((weight / scale).round().to(torch.int8), padding)
    # [block, four inputs, output of the block, input of the four]
    blocks = rounded.view(-1, COLUMNS, rounded.shape[1] // 4, 4).transpose(1, 2)
    starts = -128 * rounded.sum(1, dtype=torch.int32)
    scales = functional.pad(scale.flatten(), padding[2:])
    return blocks.flatten().numpy(), starts.numpy(), scales.numpy()


def scale_of_rows(matrix: Tensor) -> Tensor:
    """Row scales `[row, 1]`: largest absolute value / 127; 1 for a row of zeros."""
    scale = matrix.abs().amax(1, keepdim=True) / _LARGEST
    return scale.masked_fill_(scale == 0, 1)


@cache
def has_byte_products() -> bool:
    """Whether this CPU has int8 products (VNNI), and compiled code gets them right."""
    if obstacle("numba", torch.device("cpu")) is not None:
        return False
    from treecrf.nn.int8.products_kernel import has_instruction

    if not has_instruction():
        return False
    values = torch.tensor([_LARGEST, -_LARGEST, 100.0, -3])
    left, right = values.repeat(8, 16), values.repeat(65, 16)
    return bool(torch.equal(ByteProduct(right)(left), left @ right.t()))
