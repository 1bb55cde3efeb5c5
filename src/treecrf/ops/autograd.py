"""Differentiable operations: masking of arc scores, and the log-partition."""

from typing import cast

import torch
from torch import Tensor

from treecrf.ops.backend import Family, Scores, backend_for, implementation, module
from treecrf.ops.masking import reference


def masked_and_shifted(
    arc_scores: Tensor, lengths: Tensor, *, allowed: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Masked scores `[batch, dependent, head]`, and what was subtracted, `[batch, dependent]`.

    In float32, or in float64 if they came so. What was subtracted has no gradient; it is 0 where no
    head is possible, and NaN where a score in use or the length is invalid.
    """
    backend = backend_for(arc_scores.device)
    if backend == "torch":
        return reference.mask_and_shift(arc_scores, lengths, allowed=allowed)
    if not (torch.is_grad_enabled() and arc_scores.requires_grad):
        kernels = module("masking", backend)
        return cast(
            tuple[Tensor, Tensor], kernels.mask_and_shift(arc_scores, lengths, allowed=allowed)
        )
    return cast(tuple[Tensor, Tensor], _MaskAndShift.apply(backend, arc_scores, lengths, allowed))


class _MaskAndShift(torch.autograd.Function):
    """One pass over the scores; masked ones get a gradient of 0."""

    @staticmethod
    def forward(ctx, backend, arc_scores, lengths, allowed):  # type: ignore[no-untyped-def]
        kernels = module("masking", backend)
        arcs, best = kernels.mask_and_shift(arc_scores, lengths, allowed=allowed)
        ctx.mark_non_differentiable(best)
        ctx.save_for_backward(arcs)
        ctx.dtype = arc_scores.dtype
        return arcs, best

    @staticmethod
    def backward(ctx, gradient, _):  # type: ignore[no-untyped-def]
        (arcs,) = ctx.saved_tensors
        counted = torch.where(arcs.detach() > float("-inf"), gradient, 0)
        return None, counted.to(ctx.dtype), None, None


def log_partition(family: Family, scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """log Z `[batch]`, differentiable with respect to every score tensor."""
    backend = backend_for(scores[0].device)
    kernels = module(family, backend)
    differentiate = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in scores)
    if backend == "torch" or not differentiate:
        return cast(Tensor, kernels.log_partition(scores, lengths, multiroot=multiroot))
    return cast(Tensor, _LogPartition.apply(family, lengths, multiroot, *scores))


def marginals(family: Family, scores: Scores, lengths: Tensor, *, multiroot: bool) -> Scores:
    """Gradients of log Z with respect to every score tensor, differentiable themselves.

    The fast kernels have no second derivatives, so the reference computes them.
    """
    scores = tuple(
        part if part.requires_grad else part.detach().requires_grad_() for part in scores
    )
    value = module(family, "torch").log_partition(scores, lengths, multiroot=multiroot)
    return torch.autograd.grad(
        value.sum(), scores, create_graph=True, allow_unused=True, materialize_grads=True
    )


class _LogPartition(torch.autograd.Function):
    """Inside and outside passes in `forward`; `backward` only scales the marginals."""

    @staticmethod
    def forward(ctx, family, lengths, multiroot, *scores):  # type: ignore[no-untyped-def]
        kernels = implementation(family, scores[0])
        wants_parts = any(ctx.needs_input_grad[4:])
        compute = kernels.part_marginals if wants_parts else kernels.marginals
        value, *gradients = compute(scores, lengths, multiroot=multiroot)
        ctx.family, ctx.multiroot, ctx.count = family, multiroot, len(scores)
        ctx.save_for_backward(lengths, *scores, *gradients)
        return value

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        lengths, *saved = ctx.saved_tensors
        scores, gradients = saved[: ctx.count], saved[ctx.count :]
        if torch.is_grad_enabled():  # a second derivative was asked for
            gradients = marginals(ctx.family, tuple(scores), lengths, multiroot=ctx.multiroot)
        scaled = [
            gradient.reshape(-1, *(1 for _ in marginal.shape[1:])) * marginal
            for marginal in gradients
        ]
        scaled += [None] * (ctx.count - len(scaled))
        return None, None, None, *scaled
