"""Bidirectional layers of `nn.LSTM` over single sequences on the CPU, all steps in one call.

torch calls several operations a step, which take longer than the products of a small layer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from treecrf.nn.onednn.linear import PackedProduct, has_packed_products
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


@dataclass(frozen=True, slots=True)
class Direction:
    """Weights of one direction of a layer as `run_alone` takes them."""

    inputs: Tensor  # [feature, gate * unit]
    bias: Tensor  # [gate * unit]
    states: npt.NDArray[np.float32]  # [block of units, unit, gate, unit of the block], flat
    product: PackedProduct | None = field(init=False)  # of the inputs, where this CPU has it

    def __post_init__(self) -> None:
        packed = PackedProduct(self.inputs.t(), self.bias) if has_packed_products() else None
        object.__setattr__(self, "product", packed)

    def __reduce__(self) -> tuple[object, ...]:
        """Let another process pack the weights again: packed ones cannot be sent to it."""
        return type(self), (self.inputs, self.bias, self.states)

    def gates(self, tokens: Tensor) -> Tensor:
        """Share `[step, gate * unit]` of inputs `[step, feature]` in the gates."""
        if self.product is not None:
            return self.product(tokens)
        return torch.addmm(self.bias, tokens, self.inputs)


def pack_layer(layer: nn.Module) -> tuple[Direction, Direction]:
    """Weights of both directions; not those of a layer that is trained on after this."""

    def direction(suffix: str) -> Direction:
        inputs, states, *biases = (
            getattr(layer, f"{name}_{suffix}").detach()
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        blocks = states.view(4, -1, _UNITS, states.shape[1]).permute(1, 3, 0, 2)
        return Direction(inputs.t(), biases[0] + biases[1], blocks.flatten().numpy())

    return direction("l0"), direction("l0_reverse")


def run_alone(
    layers: Sequence[tuple[Direction, Direction]], gates: Sequence[Tensor], *, context: int = 0
) -> Tensor:
    """Outputs `[step, 2 * unit]` of packed layers for one sequence.

    `gates [step, gate * unit]` are `Direction.gates` of both directions of the first layer. The
    first and last `context` steps are read but have no outputs.
    """
    from treecrf.nn.lstm.cpu_kernel import run_sequence

    steps = len(gates[0])
    tokens = gates[0][:0]  # [step, feature], outputs of the layer before: none yet
    for number, layer in enumerate(layers, 1):
        unread = context if number == len(layers) else 0
        # A direction ends where only context is left in front of it.
        parts = slice(0, steps - unread), slice(unread, steps)
        if number == 1:
            given = [every[part] for every, part in zip(gates, parts, strict=True)]
        else:
            given = [one.gates(tokens[part]) for one, part in zip(layer, parts, strict=True)]
        outputs = given[0].new_empty(2, steps - unread, len(layer[0].bias) // 4)
        for weights, read, found in zip(layer, given, outputs, strict=True):
            run_sequence(read.numpy(), weights.states, weights is layer[1], found.numpy())
        tokens = torch.cat((outputs[0, unread:], outputs[1, : steps - 2 * unread]), 1)
    return tokens


def _is_small(layer: nn.Module) -> bool:
    return (
        isinstance(layer, nn.LSTM)
        and layer.hidden_size % _UNITS == 0
        and layer.hidden_size <= _MOST_UNITS
    )
