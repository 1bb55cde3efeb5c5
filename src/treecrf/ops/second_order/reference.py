"""The second-order projective family in plain torch: the paper's Algorithm 1, both directions."""

import torch
from torch import Tensor

from treecrf.ops.constants import NEGATIVE_INFINITY
from treecrf.ops.first_order.reference import only_whole_sentences
from treecrf.ops.masking.reference import usable_siblings
from treecrf.ops.reference import backpropagation
from treecrf.ops.reference.backpropagation import plain
from treecrf.ops.reference.semiring import (
    KBestSemiring,
    LogSemiring,
    SamplingSemiring,
    Semiring,
)


def log_partition(
    arc_scores: Tensor, sibling_scores: Tensor, lengths: Tensor, *, multiroot: bool
) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`; differentiable twice."""
    value = inside(arc_scores, sibling_scores, lengths, multiroot, LogSemiring()).squeeze(-1)
    # A gradient, of 0, for sentences of no words too.
    return value + arc_scores[:, 0, :0].sum(-1) + sibling_scores[:, 0, 0, :0].sum(-1)


def marginals(
    arc_scores: Tensor, sibling_scores: Tensor, lengths: Tensor, *, multiroot: bool
) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    return backpropagation.marginals(  # type: ignore[return-value]
        lambda arcs: inside(arcs, plain(sibling_scores), plain(lengths), multiroot, LogSemiring()),
        (arc_scores,),
    )


def sibling_marginals(
    arc_scores: Tensor, sibling_scores: Tensor, lengths: Tensor, *, multiroot: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """log Z, arc marginals, and sibling marginals `[batch, dependent, head, sibling]`."""
    return backpropagation.marginals(  # type: ignore[return-value]
        lambda arcs, siblings: inside(arcs, siblings, plain(lengths), multiroot, LogSemiring()),
        (arc_scores, sibling_scores),
    )


def argmax(
    arc_scores: Tensor, sibling_scores: Tensor, lengths: Tensor, *, multiroot: bool
) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    return topk(arc_scores, sibling_scores, lengths, 1, multiroot=multiroot).squeeze(1)


def topk(
    arc_scores: Tensor, sibling_scores: Tensor, lengths: Tensor, k: int, *, multiroot: bool
) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, best first."""
    return backpropagation.best_heads(
        lambda arcs: inside(
            arcs, plain(sibling_scores), plain(lengths), multiroot, KBestSemiring(k)
        ),
        (arc_scores,),
    )


def sample(
    arc_scores: Tensor,
    sibling_scores: Tensor,
    lengths: Tensor,
    k: int,
    *,
    multiroot: bool,
    generator: torch.Generator | None,
) -> Tensor:
    """Heads `[k, batch, N]` of k trees drawn from the distribution."""
    return backpropagation.drawn_heads(
        lambda arcs: inside(
            arcs, plain(sibling_scores), plain(lengths), multiroot, SamplingSemiring(generator)
        ),
        (arc_scores,),
        draws=k,
    )


def inside(
    arc_scores: Tensor,
    sibling_scores: Tensor,
    lengths: Tensor,
    multiroot: bool,
    semiring: Semiring,
) -> Tensor:
    """The value of all trees of each sentence, `[batch, size]`.

    I, S and C are the paper's incomplete, sibling and complete spans. A chart is indexed
    `[batch, end, width]`: `_head` charts by the end where the head is, `_tail` charts by the other;
    S charts by their left and by their right end.
    """
    batch, tokens, _ = arc_scores.shape
    used = usable_siblings(arc_scores, multiroot=multiroot)
    sibling_right, sibling_left = _by_width(torch.where(used, sibling_scores, NEGATIVE_INFINITY))

    def empty() -> Tensor:
        return arc_scores.new_full((batch, tokens, tokens, semiring.size), NEGATIVE_INFINITY)

    I_right, I_left, S_from_left, S_from_right = empty(), empty(), empty(), empty()
    C_right_head, C_right_tail, C_left_head, C_left_tail = empty(), empty(), empty(), empty()
    for chart in (C_right_head, C_right_tail, C_left_head, C_left_tail):
        chart[:, :, 0, 0] = 0

    for width in range(1, tokens):
        starts, ends = slice(0, tokens - width), slice(width, tokens)
        # I[i->j] = (C[i->i] C[j->i+1] + sum_{i < r < j} I[i->r] S[r,j] s(i,r,j)) s(i,j)
        alone = semiring.times(C_right_head[:, starts, :1], C_left_head[:, ends, width - 1 : width])
        after = semiring.times(I_right[:, starts, 1:width], S_from_right[:, ends, 1:width].flip(2))
        after = after + sibling_right[width][:, starts, 1:width].unsqueeze(-1)
        I_right[:, starts, width] = semiring.plus(
            torch.cat((alone, after), dim=2)
        ) + arc_scores.diagonal(-width, 1, 2).unsqueeze(-1)
        # I[j->i] = (C[j->j] C[i->j-1] + sum_{i < r < j} I[j->r] S[i,r] s(j,r,i)) s(j,i)
        alone = semiring.times(C_left_head[:, ends, :1], C_right_head[:, starts, width - 1 : width])
        after = semiring.times(I_left[:, ends, 1:width], S_from_left[:, starts, 1:width].flip(2))
        after = after + sibling_left[width][:, ends, 1:width].unsqueeze(-1)
        I_left[:, ends, width] = semiring.plus(
            torch.cat((alone, after), dim=2)
        ) + arc_scores.diagonal(width, 1, 2).unsqueeze(-1)
        # S[i,j] = sum_{i <= r < j} C[i->r] C[j->r+1]
        S = semiring.plus(
            semiring.times(C_right_head[:, starts, :width], C_left_head[:, ends, :width].flip(2))
        )
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
        S_from_left[:, starts, width] = S
        S_from_right[:, ends, width] = S
        C_right_head[:, starts, width] = C_right
        C_right_tail[:, ends, width] = C_right
        C_left_head[:, ends, width] = C_left
        C_left_tail[:, starts, width] = C_left

    return C_right_head[torch.arange(batch, device=lengths.device), 0, lengths]


def _by_width(sibling_scores: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Sibling scores `[width][batch, head, distance of the sibling]`, rightwards and leftwards."""
    tokens = sibling_scores.shape[1]
    position = torch.arange(tokens, device=sibling_scores.device)
    head, width, distance = position[:, None, None], position[:, None], position
    last = tokens - 1
    right = sibling_scores[
        :, (head + width).clamp(max=last), head, (head + distance).clamp(max=last)
    ]
    left = sibling_scores[:, (head - width).clamp(min=0), head, (head - distance).clamp(min=0)]
    return right.unbind(2), left.unbind(2)
