"""Bidirectional layers of `nn.LSTM` over single sequences on the CPU, all steps in one call.

torch calls several operations a step, which take longer than the products of a small layer.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from treecrf.ops.backend import obstacle

__all__ = ["can_run_alone", "run_alone"]

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


def run_alone(layers: Iterable[nn.Module], tokens: Tensor) -> Tensor:
    """Outputs `[step, 2 * unit]` of the layers for a sequence `[step, feature]`."""
    for layer in layers:
        assert isinstance(layer, nn.LSTM)
        tokens = _run_layer(layer, tokens)
    return tokens


def _run_layer(layer: nn.LSTM, tokens: Tensor) -> Tensor:
    from treecrf.nn.lstm.cpu_kernel import run_sequence

    outputs = tokens.new_empty(len(tokens), 2, layer.hidden_size)
    for number, suffix in enumerate(("l0", "l0_reverse")):
        inputs, states, *biases = (
            getattr(layer, f"{name}_{suffix}").detach()
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        given = torch.addmm(biases[0] + biases[1], tokens, inputs.t())
        run_sequence(given.numpy(), states.numpy(), number == 1, outputs[:, number].numpy())
    return outputs.flatten(1)


def _is_small(layer: nn.Module) -> bool:
    return (
        isinstance(layer, nn.LSTM)
        and layer.hidden_size % _UNITS == 0
        and layer.hidden_size <= _MOST_UNITS
    )
