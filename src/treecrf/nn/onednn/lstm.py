"""Bidirectional LSTM layer with packed weights, a product a step, for inference on a CPU."""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from treecrf.nn.onednn.linear import PackedProduct

__all__ = ["PackedLSTM"]


class PackedLSTM(nn.LSTM):
    """One bidirectional layer over packed sequences, or as ever where gradients are asked for.

    The number of units is a multiple of `UNITS`. The weights in `state_dict` stay as they were.
    """

    UNITS = 16

    def __init__(self, lstm: nn.Module) -> None:
        assert isinstance(lstm, nn.LSTM)
        super().__init__(lstm.input_size, lstm.hidden_size, bidirectional=True, device="meta")
        for name, parameter in lstm.named_parameters():
            setattr(self, name, parameter)
        self.directions = [self._packed(suffix) for suffix in ("l0", "l0_reverse")]

    def forward(  # type: ignore[override]
        self, packed: PackedSequence
    ) -> tuple[PackedSequence, None]:
        """Outputs like those of `nn.LSTM`, the longest sequence first, but no last states."""
        if torch.is_grad_enabled():
            return super().forward(packed)[0], None
        alive = packed.batch_sizes.tolist()
        outputs = [
            self._read(packed.data, alive, *products, reverse=number == 1)
            for number, products in enumerate(self.directions)
        ]
        return PackedSequence(torch.cat(outputs, 1), packed.batch_sizes), None

    def _read(
        self,
        tokens: Tensor,
        alive: list[int],
        of_inputs: PackedProduct,
        of_states: PackedProduct,
        *,
        reverse: bool,
    ) -> Tensor:
        """Outputs `[token, unit]` of one direction; `alive` are sequences by step."""
        from treecrf.nn.lstm.cpu_kernel import advance

        given = of_inputs(tokens)  # [token, gate * unit]
        outputs = tokens.new_empty(len(tokens), self.hidden_size)
        cells = tokens.new_zeros(alive[0], self.hidden_size).numpy()
        given_rows, output_rows = given.numpy(), outputs.numpy()
        ends = torch.tensor([0, *alive]).cumsum(0).tolist()
        before = outputs[:0]  # states of the step before; sequences that begin have none
        for first, last in reversed([*pairwise(ends)]) if reverse else pairwise(ends):
            rows = slice(first, last)
            gates = of_states(before[: last - first]) if len(before) else given[:0]
            advance(gates.numpy(), given_rows[rows], cells, output_rows[rows])
            before = outputs[rows]
        return outputs

    def _packed(self, suffix: str) -> tuple[PackedProduct, PackedProduct]:
        """Products with the weights of inputs and of states, of one direction."""
        bias = getattr(self, f"bias_ih_{suffix}") + getattr(self, f"bias_hh_{suffix}")
        inputs, states = getattr(self, f"weight_ih_{suffix}"), getattr(self, f"weight_hh_{suffix}")
        return PackedProduct(inputs, bias), PackedProduct(states)
