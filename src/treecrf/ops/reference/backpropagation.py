"""Marginals, best trees and draws by back-propagation through an inside pass."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

Inside = Callable[..., Tensor]
"""Inside pass over score tensors: values `[batch, size]` of each sentence's trees."""


def marginals(inside: Inside, scores: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """log Z `[batch]` and its gradient with respect to each score tensor."""
    with torch.inference_mode(False), torch.enable_grad():
        leaves = _leaves(scores)
        log_partition = inside(*leaves).squeeze(-1)
        return (log_partition.detach(), *_gradients(log_partition, leaves))


def best_heads(inside: Inside, scores: tuple[Tensor, ...]) -> Tensor:
    """Heads `[batch, k, N]` of the trees whose scores the pass returns, a row of -1 for none.

    The gradient of a tree's score marks its arcs with 1. Weighted by powers of two, the scores of
    as many trees as a mantissa has bits share one backward pass: the bits of an arc's gradient tell
    which of them use it, and nothing carries over, since a tree uses an arc once.
    """
    with torch.inference_mode(False), torch.enable_grad():
        leaves = _leaves(scores)
        values = inside(*leaves)
        trees = []
        mantissa_bits = 1 - round(math.log2(torch.finfo(values.dtype).eps))
        for some in values.split(mantissa_bits, dim=-1):
            rank = torch.arange(some.shape[-1], device=some.device)
            marks = _gradients(some * (1 << rank), leaves)[0].long()  # [batch, dependent, head]
            trees.append((marks.unsqueeze(1) >> rank[:, None, None] & 1).argmax(-1))
    exists = (values > float("-inf")).unsqueeze(-1)
    return torch.where(exists, torch.cat(trees, dim=1), -1)


def drawn_heads(inside: Inside, scores: tuple[Tensor, ...], *, draws: int) -> Tensor:
    """Heads `[draws, batch, N]` from a pass whose every backward draws a tree, -1 for none."""
    with torch.inference_mode(False), torch.enable_grad():
        leaves = _leaves(scores)
        values = inside(*leaves).squeeze(-1)
        trees = [_gradients(values, leaves)[0].argmax(-1) for _ in range(draws)]
    exists = (values > float("-inf")).unsqueeze(-1)
    return torch.where(exists, torch.stack(trees), -1)


def plain(tensor: Tensor) -> Tensor:
    """Clone a tensor made in inference mode, which a graph could not keep."""
    return tensor.clone() if tensor.is_inference() else tensor


def _leaves(scores: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(tensor.detach().clone().requires_grad_() for tensor in scores)


def _gradients(values: Tensor, leaves: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    if not values.requires_grad:  # sentences of no words: nothing depends on the scores
        return tuple(torch.zeros_like(leaf) for leaf in leaves)
    return torch.autograd.grad(
        values.sum(), leaves, retain_graph=True, allow_unused=True, materialize_grads=True
    )
