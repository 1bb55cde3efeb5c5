"""Bidirectional layers of `nn.LSTM` over single sequences on the CPU, all steps in one call.

torch calls several operations a step, which take longer than the products of a small layer.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from treecrf.ops.backend import obstacle

_UNITS = 16  # units come in blocks of so many
_MOST_UNITS = 128  # of larger layers products take the time, and torch is as fast


def can_run_alone(layers: Iterable[nn.Module], tokens: Tensor) -> bool:
    """Whether `run_alone` reads tokens with these layers, without gradients."""
    return (
        tokens.device.type == "cpu"
        and tokens.dtype == torch.float32
        and not torch.is_grad_enabled()
        and all(_is_small(layer) for layer in layers)
        and obstacle("numba", tokens.device) is None
    )


def run_alone(layers: Sequence[nn.Module], tokens: Tensor, *, context: int = 0) -> Tensor:
    """Outputs `[step, 2 * unit]` of the layers for a sequence `[step, feature]`.

    Without those of the first and last `context` steps, which are read only.
    """
    for layer in layers:
        assert isinstance(layer, nn.LSTM)
        tokens = _run_layer(layer, tokens, context=context if layer is layers[-1] else 0)
    return tokens


def _run_layer(layer: nn.LSTM, tokens: Tensor, *, context: int) -> Tensor:
    from treecrf.nn.lstm.cpu_kernel import run_sequence

    steps = len(tokens) - context
    outputs = tokens.new_empty(2, steps, layer.hidden_size)
    # A direction ends where only context is left in front of it.
    for number, (suffix, read) in enumerate(
        (("l0", tokens[:steps]), ("l0_reverse", tokens[context:]))
    ):
        inputs, states, *biases = (
            getattr(layer, f"{name}_{suffix}").detach()
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        given = torch.addmm(biases[0] + biases[1], read, inputs.t())
        run_sequence(given.numpy(), _packed(states), number == 1, outputs[number].numpy())
    return torch.cat((outputs[0, context:], outputs[1, : steps - context]), 1)


def _packed(states: Tensor) -> npt.NDArray[np.float32]:
    """Weights `[gate * unit, unit]` as `[block of units, unit, gate, unit of the block]`, flat."""
    size = states.shape[1]
    return states.view(4, -1, _UNITS, size).permute(1, 3, 0, 2).flatten().numpy()


def _is_small(layer: nn.Module) -> bool:
    return (
        isinstance(layer, nn.LSTM)
        and layer.hidden_size % _UNITS == 0
        and layer.hidden_size <= _MOST_UNITS
    )
