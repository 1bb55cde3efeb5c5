"""Projective trees in plain torch: the specification of the fast kernels.

The inside pass of Eisner's algorithm, batched over sentences and positions as in the paper's
Algorithm 1; everything else is back-propagation through it.
"""

import torch
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.constants import NEGATIVE_INFINITY
from treecrf.ops.reference.parts import usable_siblings
from treecrf.ops.reference.questions import Questions
from treecrf.ops.reference.semiring import Semiring


def inside(scores: Scores, lengths: Tensor, multiroot: bool, semiring: Semiring) -> Tensor:
    """Value of all trees of each sentence, `[batch, size]`.

    I, S and C are the paper's incomplete, sibling and complete spans. A chart is indexed
    `[batch, end, width]`: `_head` charts by the end where the head is, `_tail` charts by the other;
    S charts by their left and by their right end.
    """
    arc_scores, sibling_scores = scores[0], scores[1] if len(scores) > 1 else None
    batch, tokens, _ = arc_scores.shape

    def empty() -> Tensor:
        return arc_scores.new_full((batch, tokens, tokens, semiring.size), NEGATIVE_INFINITY)

    I_right, I_left = empty(), empty()
    C_right_head, C_right_tail, C_left_head, C_left_tail = empty(), empty(), empty(), empty()
    for chart in (C_right_head, C_right_tail, C_left_head, C_left_tail):
        chart[:, :, 0, 0] = 0
    if sibling_scores is not None:
        used = usable_siblings(arc_scores, multiroot=multiroot)
        used_scores = torch.where(used, sibling_scores, NEGATIVE_INFINITY)
        sibling_right, sibling_left = siblings_by_width(used_scores)
        S_from_left, S_from_right = empty(), empty()

    def sibling_spans(width: int) -> Tensor:
        # S[i,j] = sum_{i <= r < j} C[i->r] C[j->r+1]
        left, right = C_right_head[:, : tokens - width, :width], C_left_head[:, width:, :width]
        return semiring.plus(semiring.times(left, right.flip(2)))

    def after_siblings(
        C: Tensor, C_other: Tensor, I: Tensor, S: Tensor, scores: Tensor, heads: slice, ends: slice
    ) -> Tensor:
        alone = semiring.times(C[:, heads, :1], C_other[:, ends, width - 1 : width])
        after = semiring.times(I[:, heads, 1:width], S[:, ends, 1:width].flip(2))
        after = after + scores[:, heads, 1:width].unsqueeze(-1)
        return semiring.plus(torch.cat((alone, after), dim=2))

    for width in range(1, tokens):
        starts, ends = slice(0, tokens - width), slice(width, tokens)
        if sibling_scores is None:
            # I[i->j] = S[i,j] s(i,j)  and  I[j->i] = S[i,j] s(j,i)
            within_right = within_left = sibling_spans(width)
        else:
            # I[i->j] = (C[i->i] C[j->i+1] + sum_{i < r < j} I[i->r] S[r,j] s(i,r,j)) s(i,j)
            cells = I_right, S_from_right, sibling_right[width]
            within_right = after_siblings(C_right_head, C_left_head, *cells, starts, ends)
            # I[j->i] = (C[j->j] C[i->j-1] + sum_{i < r < j} I[j->r] S[i,r] s(j,r,i)) s(j,i)
            cells = I_left, S_from_left, sibling_left[width]
            within_left = after_siblings(C_left_head, C_right_head, *cells, ends, starts)
            S = sibling_spans(width)
            S_from_left[:, starts, width] = S
            S_from_right[:, ends, width] = S
        I_right[:, starts, width] = within_right + arc_scores.diagonal(-width, 1, 2).unsqueeze(-1)
        I_left[:, ends, width] = within_left + arc_scores.diagonal(width, 1, 2).unsqueeze(-1)
        # C[i->j] = sum_{i < r <= j} I[i->r] C[r->j]
        C_right = semiring.plus(
            semiring.times(I_right[:, starts, 1 : width + 1], C_right_tail[:, ends, :width].flip(2))
        )
        if not multiroot:
            C_right = _only_whole_sentences(C_right, lengths == width)
        # C[j->i] = sum_{i <= r < j} I[j->r] C[r->i]
        C_left = semiring.plus(
            semiring.times(I_left[:, ends, 1 : width + 1], C_left_tail[:, starts, :width].flip(2))
        )
        C_right_head[:, starts, width] = C_right
        C_right_tail[:, ends, width] = C_right
        C_left_head[:, ends, width] = C_left
        C_left_tail[:, starts, width] = C_left

    return C_right_head[torch.arange(batch, device=lengths.device), 0, lengths]


def _only_whole_sentences(C_right: Tensor, whole: Tensor) -> Tensor:
    """Single root: keep the root symbol's span C[0->j] only for the whole sentence, j = n."""
    at_root = torch.arange(C_right.shape[1], device=C_right.device) == 0  # [start]
    keep = whole[:, None] | ~at_root
    return torch.where(keep.unsqueeze(-1), C_right, NEGATIVE_INFINITY)


def siblings_by_width(sibling_scores: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
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


_questions = Questions(inside)
log_partition, marginals = _questions.log_partition, _questions.marginals
part_marginals, argmax = _questions.part_marginals, _questions.argmax
topk, sample = _questions.topk, _questions.sample
