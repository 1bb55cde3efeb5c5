"""The first-order projective family in plain torch: the specification of the fast kernels.

The inside pass of Eisner's algorithm, batched over sentences and positions as in the paper; every
other question is a back-propagation through it.
"""

import torch
from torch import Tensor

from treecrf.ops.constants import NEGATIVE_INFINITY
from treecrf.ops.reference import backpropagation
from treecrf.ops.reference.backpropagation import plain
from treecrf.ops.reference.semiring import (
    KBestSemiring,
    LogSemiring,
    SamplingSemiring,
    Semiring,
)


def log_partition(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`; differentiable twice."""
    value = inside(arc_scores, lengths, multiroot, LogSemiring()).squeeze(-1)
    return value + arc_scores[:, 0, :0].sum(-1)  # a gradient, of 0, for sentences of no words too


def marginals(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    return backpropagation.marginals(  # type: ignore[return-value]
        lambda arcs: inside(arcs, plain(lengths), multiroot, LogSemiring()), (arc_scores,)
    )


def argmax(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    return topk(arc_scores, lengths, 1, multiroot=multiroot).squeeze(1)


def topk(arc_scores: Tensor, lengths: Tensor, k: int, *, multiroot: bool) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, best first."""
    return backpropagation.best_heads(
        lambda arcs: inside(arcs, plain(lengths), multiroot, KBestSemiring(k)), (arc_scores,)
    )


def sample(
    arc_scores: Tensor,
    lengths: Tensor,
    k: int,
    *,
    multiroot: bool,
    generator: torch.Generator | None,
) -> Tensor:
    """Heads `[k, batch, N]` of k trees drawn from the distribution."""
    return backpropagation.drawn_heads(
        lambda arcs: inside(arcs, plain(lengths), multiroot, SamplingSemiring(generator)),
        (arc_scores,),
        draws=k,
    )


def inside(arc_scores: Tensor, lengths: Tensor, multiroot: bool, semiring: Semiring) -> Tensor:
    """The value of all trees of each sentence, `[batch, size]`.

    I, S and C are the paper's incomplete, sibling and complete spans. A chart is indexed
    `[batch, end, width]`: `_head` charts by the end where the head is, `_tail` charts by the other.
    """
    batch, tokens, _ = arc_scores.shape

    def empty() -> Tensor:
        return arc_scores.new_full((batch, tokens, tokens, semiring.size), NEGATIVE_INFINITY)

    I_right, I_left = empty(), empty()
    C_right_head, C_right_tail, C_left_head, C_left_tail = empty(), empty(), empty(), empty()
    for chart in (C_right_head, C_right_tail, C_left_head, C_left_tail):
        chart[:, :, 0, 0] = 0

    for width in range(1, tokens):
        starts, ends = slice(0, tokens - width), slice(width, tokens)
        # S[i,j] = sum_{i <= r < j} C[i->r] C[j->r+1]
        S = semiring.plus(
            semiring.times(C_right_head[:, starts, :width], C_left_head[:, ends, :width].flip(2))
        )
        # I[i->j] = S[i,j] s(i,j)  and  I[j->i] = S[i,j] s(j,i)
        I_right[:, starts, width] = S + arc_scores.diagonal(-width, 1, 2).unsqueeze(-1)
        I_left[:, ends, width] = S + arc_scores.diagonal(width, 1, 2).unsqueeze(-1)
        # C[i->j] = sum_{i < r <= j} I[i->r] C[r->j]
        C_right = semiring.plus(
            semiring.times(I_right[:, starts, 1 : width + 1], C_right_tail[:, ends, :width].flip(2))
        )
        if not multiroot:
            C_right = only_whole_sentences(C_right, lengths == width)
        # C[j->i] = sum_{i <= r < j} I[j->r] C[r->i]
        C_left = semiring.plus(
            semiring.times(I_left[:, ends, 1 : width + 1], C_left_tail[:, starts, :width].flip(2))
        )
        C_right_head[:, starts, width] = C_right
        C_right_tail[:, ends, width] = C_right
        C_left_head[:, ends, width] = C_left
        C_left_tail[:, starts, width] = C_left

    return C_right_head[torch.arange(batch, device=lengths.device), 0, lengths]


def only_whole_sentences(C_right: Tensor, whole: Tensor) -> Tensor:
    """Single root: the root symbol's span C[0->j] exists for the whole sentence, j = n, alone."""
    at_root = torch.arange(C_right.shape[1], device=C_right.device) == 0  # [start]
    keep = whole[:, None] | ~at_root
    return torch.where(keep.unsqueeze(-1), C_right, NEGATIVE_INFINITY)
