"""A bidirectional layer of `nn.LSTM` on packed tokens, all steps in one launch on a GPU.

The host launches cuDNN step by step, and the GPU waits for it; see docs/performance.md.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from treecrf.nn.lstm.tiles import Tile, chosen_tiles
from treecrf.nn.precision import FAST, product_precision
from treecrf.ops.backend import obstacle

# Larger layers were not measured; the more units, the less cuDNN waits for the host.
_MOST_UNITS = 512

_chosen: ContextVar[bool | None] = ContextVar("treecrf_fused_lstm", default=None)


@dataclass(frozen=True)
class PackedSteps:
    """Packing of tokens, on the device: step after step, the longest sentence first."""

    steps: int
    sentences: int
    table: Tensor  # the first token of each step, then the length of each sentence
    last: Tensor  # [sentence * direction], rows of outputs seen as `[token * direction, unit]`


@contextmanager
def use_fused_lstm(wanted: bool) -> Iterator[None]:
    """Use the fused layer inside the `with` block wherever it can run, or nowhere.

    By default it runs on GPUs only, and not in Triton's interpreter.
    """
    token = _chosen.set(wanted)
    try:
        yield
    finally:
        _chosen.reset(token)


def can_fuse(tokens: Tensor, size: int) -> bool:
    """Whether the fused kernels can run a layer of `size` units a direction on these tokens."""
    wanted = _chosen.get()
    if wanted is None:
        wanted = tokens.is_cuda
    if not wanted or tokens.dtype != torch.float32 or not len(tokens) or size > _MOST_UNITS:
        return False
    if torch.is_autocast_enabled(tokens.device.type):  # the kernels compute in float32 only
        return False
    if obstacle("triton", tokens.device) is not None:
        return False
    # Tensor cores have TF32 from Ampere on.
    return not tokens.is_cuda or (
        torch.version.hip is None and torch.cuda.get_device_capability(tokens.device) >= (8, 0)
    )


def packed_steps(batch_sizes: Tensor, device: torch.device) -> PackedSteps:
    """Make the packing from the number of sentences alive at each step, a tensor on the host."""
    sizes = batch_sizes.numpy()
    steps, sentences = len(sizes), int(sizes[0])
    first = np.cumsum(sizes) - sizes
    sentence = np.arange(sentences)
    # A sentence is as long as there are steps with more sentences than those before it.
    lengths = steps - np.searchsorted(sizes[::-1], sentence, side="right")
    last = np.stack((2 * (first[lengths - 1] + sentence), 2 * sentence + 1), 1)
    flat = torch.from_numpy(np.concatenate((first, lengths, last.ravel()), dtype=np.int32))
    if device.type == "cuda":
        flat = flat.pin_memory()
    pieces = flat.to(device, non_blocking=True).split((steps + sentences, 2 * sentences))
    return PackedSteps(steps, sentences, *pieces)


def fused_lstm(
    tokens: Tensor,
    steps: PackedSteps,
    weights: Sequence[Tensor],
    *,
    state_masks: Tensor | None = None,
    tiles: tuple[Tile, Tile] | None = None,
) -> Tensor:
    """Outputs `[token, 2 * unit]` of tokens `[token, feature]`.

    The weights are those of `nn.LSTM`, each direction after the other: of the input
    `[4 * unit, feature]`, of the state `[4 * unit, unit]`, and the biases of both `[4 * unit]`.
    Each step reads the state of the one before times `state_masks [direction, sentence, unit]`.
    `tiles` are those of the forward and the backward pass, instead of those that suit the batch.
    """
    if torch.is_grad_enabled() and any(one.requires_grad for one in (tokens, *weights)):
        outputs: Tensor = _FusedLSTM.apply(tokens, steps, state_masks, tiles, *weights)
        return outputs
    return _run(tokens, steps, weights, masks=state_masks, tiles=tiles, keep=False)[0]


def last_states(outputs: Tensor, steps: PackedSteps) -> Tensor:
    """Last output of each direction in each sentence, `[sentence, 2 * unit]`."""
    by_direction = outputs.view(-1, outputs.shape[1] // 2)
    return by_direction.index_select(0, steps.last).view(steps.sentences, -1)


class Pass(NamedTuple):
    """Tensors of both passes, and the tile and precision of the backward pass."""

    states: Tensor  # [token, 2 * unit]: outputs, masked, that the next step reads
    gates: Tensor  # [direction, token, 4 * unit]
    cells: Tensor  # [direction, token, unit]
    recurrent: Tensor  # [direction, 4 * unit, unit]; backwards [direction, unit, 4 * unit]
    tile: Tile
    precision: str


def _run(
    tokens: Tensor,
    steps: PackedSteps,
    weights: Sequence[Tensor],
    *,
    masks: Tensor | None,
    tiles: tuple[Tile, Tile] | None,
    keep: bool,
) -> tuple[Tensor, Pass]:
    """Multiply all inputs by cuBLAS, then run all steps; `keep` stores the values of the gates."""
    from treecrf.nn.lstm.kernels import run_forward

    size = weights[1].shape[1]
    gates = tokens.new_empty(2, len(tokens), 4 * size)
    for ours, (of_input, _, *biases) in zip(gates, (weights[:4], weights[4:]), strict=True):
        torch.addmm(biases[0] + biases[1], tokens, of_input.t(), out=ours)
    # The precision that torch multiplies with.
    precision = "tf32" if product_precision() == FAST else "ieee"
    forward, backward = tiles or chosen_tiles(steps.sentences, size, tokens.device)
    outputs = tokens.new_empty(len(tokens), 2 * size)
    states = outputs if masks is None else torch.empty_like(outputs)
    cells = tokens.new_empty(2, len(tokens), size)
    recurrent = torch.stack((weights[1], weights[5]))
    run = Pass(states, gates, cells, recurrent, backward, precision)
    run_forward(run, steps, masks, outputs=outputs, tile=forward, keep=keep)
    return outputs, run


class _FusedLSTM(torch.autograd.Function):
    """Gradients of weights and inputs are matrix products with the gradients of all gates."""

    @staticmethod
    def forward(ctx, tokens, steps, masks, tiles, *weights):  # type: ignore[no-untyped-def]
        outputs, run = _run(tokens, steps, weights, masks=masks, tiles=tiles, keep=True)
        *tensors, ctx.tile, ctx.precision = run
        ctx.steps = steps
        ctx.save_for_backward(tokens, masks, weights[0], weights[4], *tensors)
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx, output_gradients):  # type: ignore[no-untyped-def]
        from treecrf.nn.lstm.kernels import run_backward

        tokens, masks, *of_input, states, gates, cells, recurrent = ctx.saved_tensors
        recurrent = recurrent.transpose(1, 2).contiguous()  # the kernel reads it along rows
        run = Pass(states, gates, cells, recurrent, ctx.tile, ctx.precision)
        gate_gradients, states_before = run_backward(run, ctx.steps, masks, output_gradients)
        token_gradients = None
        if ctx.needs_input_grad[0]:
            token_gradients = gate_gradients[0] @ of_input[0]
            token_gradients.addmm_(gate_gradients[1], of_input[1])
        if not any(ctx.needs_input_grad[4:]):
            return (token_gradients, None, None, None, *[None] * 8)
        of_state = gate_gradients.transpose(1, 2) @ states_before
        # A copy for each bias: gradients may be scaled in place.
        biases = gate_gradients.sum(1).repeat(2, 1)
        by_weight = (
            (gate_gradients[direction].t() @ tokens, of_state[direction], *biases[direction::2])
            for direction in range(2)
        )
        return (token_gradients, None, None, None, *chain.from_iterable(by_weight))
