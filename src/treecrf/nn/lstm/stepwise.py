"""A bidirectional layer of `nn.LSTM` on packed tokens, one step at a time, in plain torch.

For states masked by sentence where the fused kernels cannot run: on a CPU, where the products of a
step take far longer than the Python around them.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def stepwise_lstm(
    tokens: Tensor, batch_sizes: Tensor, weights: Sequence[Tensor], *, state_masks: Tensor
) -> Tensor:
    """Outputs `[token, 2 * unit]`, as of `fused_lstm`; `batch_sizes` are sentences by step."""
    alive = batch_sizes.tolist()
    forwards = _read(tokens, alive, weights[:4], state_masks[0], reverse=False)
    backwards = _read(tokens, alive, weights[4:], state_masks[1], reverse=True)
    return torch.cat((forwards, backwards), 1)


def _read(
    tokens: Tensor, alive: list[int], weights: Sequence[Tensor], mask: Tensor, *, reverse: bool
) -> Tensor:
    """Outputs `[token, unit]` of one direction, whose mask is `[sentence, unit]`."""
    of_input, of_state, *biases = weights
    from_inputs = torch.addmm(biases[0] + biases[1], tokens, of_input.t()).split(alive)
    steps = range(len(alive))
    outputs: list[Tensor] = []
    state = cell = mask[:0]
    for step in reversed(steps) if reverse else steps:
        # Sentences that have ended are dropped; those that begin, from the right, start at zero.
        state, cell = (_fit(values, alive[step]) for values in (state, cell))
        gates = torch.addmm(from_inputs[step], state, of_state.t())
        i, f, g, o = gates.chunk(4, 1)
        # c' = f c + i g, h' = o tanh(c'); the next step reads mask h'
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        output = o.sigmoid() * cell.tanh()
        outputs.append(output)
        state = mask[: alive[step]] * output
    return torch.cat(outputs[::-1] if reverse else outputs)


def _fit(values: Tensor, sentences: int) -> Tensor:
    """Cut or pad with zeros to this number of sentences."""
    missing = sentences - len(values)
    if missing <= 0:
        return values[:sentences]
    return torch.cat((values, values.new_zeros(missing, values.shape[1])))
