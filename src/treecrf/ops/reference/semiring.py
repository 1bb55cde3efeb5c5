"""Semirings of the torch reference: one inside pass answers many questions.

A cell is a tensor whose last axis holds its values: one value, or the k best. Products are sums of
scores throughout.
"""

import torch
from torch import Tensor

from treecrf.ops.constants import NEGATIVE_INFINITY


def log_sum_exp(values: Tensor, dim: int) -> Tensor:
    """log sum exp whose gradient is normalised by its own sum, and 0 where every term is -inf."""
    largest = values.detach().amax(dim, keepdim=True)
    largest = largest.masked_fill(largest == NEGATIVE_INFINITY, 0)
    total = (values - largest).exp().sum(dim)
    exists = total > 0
    log_total = torch.where(exists, total, 1).log() + largest.squeeze(dim)
    return torch.where(exists, log_total, NEGATIVE_INFINITY)


class Semiring:
    """Log semiring, the sum over all trees: the inside value of the root is log Z."""

    size = 1
    """Number of values of a cell."""

    def times(self, left: Tensor, right: Tensor) -> Tensor:
        """Combine all values of two cells `[..., size]` to `[..., pairs]`."""
        return left + right

    def plus(self, terms: Tensor) -> Tensor:
        """Sum over the terms `[..., term, pairs]` to `[..., size]`."""
        return log_sum_exp(terms, dim=-2)


class KBestSemiring(Semiring):
    """The k best values; the gradient of each marks the arcs of its tree."""

    def __init__(self, size: int) -> None:
        self.size = size
        # The lists are sorted, so (a + 1)(b + 1) pairs are no worse than the pair (a, b): it can be
        # among the k best only when they are at most k.
        pairs = [(a, b) for a in range(size) for b in range(size // (a + 1))]
        self.left, self.right = zip(*pairs, strict=True)

    def times(self, left: Tensor, right: Tensor) -> Tensor:
        return left[..., self.left] + right[..., self.right]

    def plus(self, terms: Tensor) -> Tensor:
        candidates = terms.flatten(-2)
        missing = self.size - candidates.shape[-1]
        if missing > 0:
            candidates = torch.nn.functional.pad(candidates, (0, missing), value=NEGATIVE_INFINITY)
        return candidates.topk(self.size, dim=-1).values


class SamplingSemiring(Semiring):
    """The log semiring; each backward pass draws one tree."""

    def __init__(self, generator: torch.Generator | None) -> None:
        self.generator = generator

    def plus(self, terms: Tensor) -> Tensor:
        return _SampledSum.apply(terms, self.generator)


class _SampledSum(torch.autograd.Function):
    """log sum exp forwards; backwards, the gradient goes to one term drawn by its weight."""

    @staticmethod
    def forward(ctx, terms, generator):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(terms)
        ctx.generator = generator
        return log_sum_exp(terms, dim=-2)

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        (terms,) = ctx.saved_tensors
        # The largest of the scores plus Gumbel noise is a draw from their softmax.
        source = terms.device if ctx.generator is None else ctx.generator.device
        uniform = torch.rand(
            terms.shape, dtype=torch.float64, device=source, generator=ctx.generator
        )
        noisy = terms + -(-uniform.to(terms.device).log()).log()
        drawn = noisy.argmax(-2, keepdim=True)
        return torch.zeros_like(terms).scatter(-2, drawn, gradient.unsqueeze(-2)), None
