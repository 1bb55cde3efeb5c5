"""A bidirectional LSTM whose products are those of bytes, for inference on a CPU that has VNNI.

All that a step does is one call of compiled code: the product with the rounded weights, which stay
in the cache from step to step, the gates, and the rounding of the new states.
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
    """An LSTM of one layer and both directions that rounds weights, inputs and states to bytes.

    Inputs and states have a scale for each token: what is read of a sequence depends on no other.
    The weights stay as they were in `state_dict`.
    """

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__(lstm.input_size, lstm.hidden_size, bidirectional=True, device="meta")
        for name, parameter in lstm.named_parameters():
            setattr(self, name, parameter)
        self.directions = [self._rounded(suffix) for suffix in ("l0", "l0_reverse")]

    def forward(  # type: ignore[override]
        self, packed: PackedSequence
    ) -> tuple[PackedSequence, tuple[Tensor, None]]:
        """What `nn.LSTM` gives of packed sequences, the longest first, without the last cells."""
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
        # The last token that is read of a sequence is its last one, and backwards the first.
        steps = (packed.batch_sizes[:, None] > torch.arange(int(packed.batch_sizes[0]))).sum(0)
        ends = (packed.batch_sizes.cumsum(0) - packed.batch_sizes)[steps - 1] + torch.arange(
            len(steps)
        )
        last = torch.stack((outputs[ends, 0], outputs[: len(steps), 1]))
        return PackedSequence(outputs.flatten(1), packed.batch_sizes), (last, None)

    def _rounded(self, suffix: str) -> "tuple[Weights, Weights, npt.NDArray[np.float32]]":
        """The weights of inputs and of states, and the biases, of one direction."""
        inputs, states = (
            byte_weights(self._by_unit(getattr(self, f"weight_{kind}_{suffix}")))
            for kind in ("ih", "hh")
        )
        bias = getattr(self, f"bias_ih_{suffix}") + getattr(self, f"bias_hh_{suffix}")
        return inputs, states, self._by_unit(bias).numpy()

    def _by_unit(self, rows: Tensor) -> Tensor:
        """Rows by gate and unit as rows by tile, gate and unit of the tile."""
        from treecrf.nn.int8.lstm_kernel import GATES, UNITS

        gates = rows.detach().view(GATES, self.hidden_size, -1)
        padded = functional.pad(gates, (0, 0, 0, -self.hidden_size % UNITS))
        tiles = padded.view(GATES, -1, UNITS, gates.shape[2]).transpose(0, 1)
        return tiles.reshape(-1, *rows.shape[1:])
