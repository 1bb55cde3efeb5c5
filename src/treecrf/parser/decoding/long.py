"""The second-order distribution of one sentence too long to keep its sibling scores in memory."""

from functools import cached_property

import torch
from torch import Tensor

from treecrf.ops.projective import factored
from treecrf.ops.projective.trilinear import Factors

__all__ = ["LongTreeCRF"]


class LongTreeCRF:
    """The methods of `SiblingTreeCRF` that decoding needs; sibling scores are computed on demand.

    `arcs [1, dependent, head]` are -inf where an arc is not allowed; `factors` are
    what sibling scores are products of, see `Scorer.sibling_factors`.
    """

    def __init__(self, arcs: Tensor, factors: Factors, lengths: Tensor, *, multiroot: bool) -> None:
        self.lengths = lengths
        self.multiroot = multiroot
        self._parts = arcs[0], factors

    @cached_property
    def _inside_outside(self) -> tuple[Tensor, Tensor]:
        return factored.marginals(*self._parts, multiroot=self.multiroot)

    @property
    def log_partition(self) -> Tensor:
        """log Z `[1]`; -inf where there is no tree."""
        return self._inside_outside[0].reshape(1)

    @property
    def marginals(self) -> Tensor:
        """p(head -> dependent), `[1, dependent, head]`."""
        return self._inside_outside[1].unsqueeze(0)

    @property
    def argmax(self) -> Tensor:
        """Heads `[1, N]` of the best tree; -1 where there is none."""
        return factored.argmax(*self._parts, multiroot=self.multiroot).unsqueeze(0)

    @property
    def entropy(self) -> Tensor:
        """NaN `[1]`: it would take the marginals of siblings, of which there are too many."""
        return torch.full_like(self.log_partition, float("nan"))

    def score(self, heads: Tensor) -> Tensor:
        """Score `[1]` of the tree with heads `[1, N]`."""
        return factored.score(*self._parts, heads[0]).reshape(1)
