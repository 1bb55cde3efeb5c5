"""Bidirectional LSTM with int8 products, for inference on a CPU with VNNI.

A direction is one call of compiled code, so that the rounded weights stay in the cache.
"""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from treecrf.nn.int8.linear import PRODUCTS_PER_NANOSECOND, byte_weights
from treecrf.ops.numba.threads import run_in_threads

if TYPE_CHECKING:
    from treecrf.nn.int8.products_kernel import Weights

__all__ = ["ByteLSTM"]


class ByteLSTM(nn.LSTM):
    """One bidirectional layer that rounds weights, inputs and states to int8.

    Inputs and states have a scale for each token, so sequences do not depend on one another. The
    weights in `state_dict` stay as they were.
    """

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__(lstm.input_size, lstm.hidden_size, bidirectional=True, device="meta")
        for name, parameter in lstm.named_parameters():
            setattr(self, name, parameter)
        self.directions = [self._rounded(suffix) for suffix in ("l0", "l0_reverse")]

    def forward(  # type: ignore[override]
        self, packed: PackedSequence
    ) -> tuple[PackedSequence, tuple[Tensor, None]]:
        """Like `nn.LSTM` on packed sequences, the longest first, but without the last cells."""
        from treecrf.nn.int8.lstm_kernel import run_direction

        tokens = packed.data.detach().contiguous()
        outputs = tokens.new_empty(len(tokens), 2, self.hidden_size)
        rows, sizes, found_rows = tokens.numpy(), packed.batch_sizes.numpy(), outputs.numpy()

        def task(numbers: npt.NDArray[np.int64]) -> None:
            for number in numbers:
                inputs, states, bias = self.directions[number]
                run_direction(rows, sizes, inputs, states, bias, number == 1, found_rows[:, number])

        products = 4 * self.hidden_size * (self.input_size + self.hidden_size) * len(tokens)
        run_in_threads(task, [products / PRODUCTS_PER_NANOSECOND] * 2)
        # The last step of a sequence is its last token, and backwards the first.
        steps = (packed.batch_sizes[:, None] > torch.arange(int(packed.batch_sizes[0]))).sum(0)
        ends = (packed.batch_sizes.cumsum(0) - packed.batch_sizes)[steps - 1] + torch.arange(
            len(steps)
        )
        last = torch.stack((outputs[ends, 0], outputs[: len(steps), 1]))
        return PackedSequence(outputs.flatten(1), packed.batch_sizes), (last, None)

    def _rounded(self, suffix: str) -> "tuple[Weights, Weights, npt.NDArray[np.float32]]":
        """Weights of inputs and of states, and biases, of one direction."""
        inputs, states = (
            byte_weights(self._by_unit(getattr(self, f"weight_{kind}_{suffix}")))
            for kind in ("ih", "hh")
        )
        bias = getattr(self, f"bias_ih_{suffix}") + getattr(self, f"bias_hh_{suffix}")
        return inputs, states, self._by_unit(bias).numpy()

    def _by_unit(self, rows: Tensor) -> Tensor:
        """Reorder rows by gate and unit to rows by tile, gate and unit of the tile."""
        from treecrf.nn.int8.lstm_kernel import GATES, UNITS

        gates = rows.detach().view(GATES, self.hidden_size, -1)
        padded = functional.pad(gates, (0, 0, 0, -self.hidden_size % UNITS))
        tiles = padded.view(GATES, -1, UNITS, gates.shape[2]).transpose(0, 1)
        return tiles.reshape(-1, *rows.shape[1:])
