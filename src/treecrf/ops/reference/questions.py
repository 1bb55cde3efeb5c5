"""What a plain torch backend answers, given its inside pass: all by back-propagation through it."""

from collections.abc import Callable

import torch
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.reference import backpropagation
from treecrf.ops.reference.backpropagation import plain
from treecrf.ops.reference.semiring import KBestSemiring, SamplingSemiring, Semiring

Pass = Callable[[Scores, Tensor, bool, Semiring], Tensor]
"""From scores, lengths and `multiroot` to the value `[batch, size]` of each sentence's trees."""


class Questions:
    """The functions that a backend's module has, as methods."""

    def __init__(self, inside: Pass) -> None:
        self._inside = inside

    def log_partition(self, scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
        """Log of the summed weight of all trees, `[batch]`; differentiable twice."""
        value = self._inside(scores, lengths, multiroot, Semiring()).squeeze(-1)
        # A gradient of 0 even if no sentence has words.
        for part in scores:
            value = value + part.flatten(1)[:, :0].sum(-1)
        return value

    def marginals(self, scores: Scores, lengths: Tensor, *, multiroot: bool) -> Scores:
        """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
        inside = self._inside_of(scores, lengths, multiroot, Semiring())
        return backpropagation.marginals(inside, scores[:1])

    def part_marginals(self, scores: Scores, lengths: Tensor, *, multiroot: bool) -> Scores:
        """log Z, and the marginals of every kind of part, each in the shape of its scores."""
        inside = self._inside_of(scores, lengths, multiroot, Semiring())
        return backpropagation.marginals(inside, scores)

    def argmax(self, scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
        """Heads `[batch, N]` of the best tree."""
        return self.topk(scores, lengths, 1, multiroot=multiroot).squeeze(1)

    def topk(self, scores: Scores, lengths: Tensor, k: int, *, multiroot: bool) -> Tensor:
        """Heads `[batch, k, N]` of the k best trees, best first."""
        inside = self._inside_of(scores, lengths, multiroot, KBestSemiring(k))
        return backpropagation.best_heads(inside, scores[:1])

    def sample(
        self,
        scores: Scores,
        lengths: Tensor,
        k: int,
        *,
        multiroot: bool,
        generator: torch.Generator | None,
    ) -> Tensor:
        """Heads `[k, batch, N]` of k trees drawn from the distribution."""
        inside = self._inside_of(scores, lengths, multiroot, SamplingSemiring(generator))
        return backpropagation.drawn_heads(inside, scores[:1], draws=k)

    def _inside_of(
        self, scores: Scores, lengths: Tensor, multiroot: bool, semiring: Semiring
    ) -> backpropagation.Inside:
        """Inside pass as a function of the first scores; the rest is not differentiated."""

        def compute(*given: Tensor) -> Tensor:
            others = (plain(part) for part in scores[len(given) :])
            return self._inside((*given, *others), plain(lengths), multiroot, semiring)

        return compute
