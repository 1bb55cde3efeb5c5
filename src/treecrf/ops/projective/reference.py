"""Projective trees in plain torch: the specification of the fast kernels.

The inside pass of Eisner's algorithm, batched over sentences and positions as in the paper's
Algorithm 1, and with grandparents that of Koo and Collins (2010): Model 0 without sibling scores,
Model 1 with them. Everything else is back-propagation through it.
"""

import torch
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.constants import NEGATIVE_INFINITY
from treecrf.ops.reference.parts import usable_grandparents, usable_siblings
from treecrf.ops.reference.questions import Questions
from treecrf.ops.reference.semiring import Semiring


def inside(scores: Scores, lengths: Tensor, multiroot: bool, semiring: Semiring) -> Tensor:
    """Value of all trees of each sentence, `[batch, size]`, by the scores of arcs and siblings."""
    arc_scores, sibling_scores = scores[0], scores[1] if len(scores) > 1 else None
    return inside_of(arc_scores, sibling_scores, None, lengths, multiroot, semiring)


def inside_of(
    arc_scores: Tensor,
    sibling_scores: Tensor | None,
    grandparent_scores: Tensor | None,
    lengths: Tensor,
    multiroot: bool,
    semiring: Semiring,
) -> Tensor:
    """Value of all trees of each sentence, `[batch, size]`.

    I, S and C are the paper's incomplete, sibling and complete spans. `C^g[i->j]` and `I^g[i->j]`
    are those of a head i whose own head is g, `S^h[i,j]` has neighbouring children i and j of h. A
    chart is indexed `[batch, end, grandparent, width]`: `_head` charts by the end where the head
    is, `_tail` charts by the other; S charts by their left and by their right end. The root symbol
    as a head has the grandparent 0 for none; without grandparent scores this is so of all heads.
    """
    batch, tokens, _ = arc_scores.shape
    arcs = arc_scores.unsqueeze(-1)  # [batch, dependent, head, grandparent]
    if grandparent_scores is not None:
        arcs = arcs + _with_none_of_root(arc_scores, grandparent_scores)

    def empty() -> Tensor:
        shape = batch, tokens, arcs.shape[3], tokens, semiring.size
        return arc_scores.new_full(shape, NEGATIVE_INFINITY)

    def below(cells: Tensor, width: int) -> Tensor:
        """Cells `[batch, start, 1, split, size]` whose grandparent is the head of the span above.

        The head of the span from i to j is i, or with a width j = i + width.
        """
        if grandparent_scores is None:
            return cells
        return cells.diagonal(width, 1, 2).movedim(-1, 1).unsqueeze(2)

    I_right, I_left = empty(), empty()
    C_right_head, C_right_tail, C_left_head, C_left_tail = empty(), empty(), empty(), empty()
    for chart in (C_right_head, C_right_tail, C_left_head, C_left_tail):
        chart[:, :, :, 0, 0] = 0
    if sibling_scores is not None:
        used = usable_siblings(arc_scores, multiroot=multiroot)
        used_scores = torch.where(used, sibling_scores, NEGATIVE_INFINITY)
        sibling_right, sibling_left = _siblings_by_width(used_scores)
        S_from_left, S_from_right = empty(), empty()

    for width in range(1, tokens):
        starts, ends = slice(0, tokens - width), slice(width, tokens)
        to_left = C_left_head[:, ends, :, :width].flip(3)  # C^g[j->r+1], i <= r < j
        to_right = C_right_head[:, starts, :, :width]  # C^g[i->r], i <= r < j
        if sibling_scores is None:
            # I^g[i->j] = (sum_{i <= r < j} C^g[i->r] C^i[j->r+1]) s(i,j) s(g,i,j)
            within_right = semiring.plus(semiring.times(to_right, below(to_left, 0)))
            # I^g[j->i] = (sum_{i <= r < j} C^g[j->r+1] C^j[i->r]) s(j,i) s(g,j,i)
            within_left = within_right
            if grandparent_scores is not None:
                within_left = semiring.plus(semiring.times(to_left, below(to_right, width)))
        else:
            # I^g[i->j] = (C^i[j->i+1] + sum_{i<r<j} I^g[i->r] S^i[r,j] s(i,r,j)) s(i,j) s(g,i,j)
            alone = semiring.times(to_right[:, :, :, :1], below(to_left, 0)[:, :, :, :1])
            after = below(S_from_right[:, ends, :, 1:width].flip(3), 0)
            after = after + sibling_right[width][:, starts, None, 1:width, None]
            after = semiring.times(I_right[:, starts, :, 1:width], after)
            within_right = semiring.plus(torch.cat((alone, after), dim=3))
            # I^g[j->i] = (C^j[i->j-1] + sum_{i<r<j} I^g[j->r] S^j[i,r] s(j,r,i)) s(j,i) s(g,j,i)
            alone = semiring.times(to_left[:, :, :, -1:], below(to_right, width)[:, :, :, -1:])
            after = below(S_from_left[:, starts, :, 1:width].flip(3), width)
            after = after + sibling_left[width][:, ends, None, 1:width, None]
            after = semiring.times(I_left[:, ends, :, 1:width], after)
            within_left = semiring.plus(torch.cat((alone, after), dim=3))
            # S^h[i,j] = sum_{i <= r < j} C^h[i->r] C^h[j->r+1]
            S = semiring.plus(semiring.times(to_right, to_left))
            S_from_left[:, starts, :, width] = S
            S_from_right[:, ends, :, width] = S
        arc = arcs.diagonal(-width, 1, 2).movedim(-1, 1)  # [batch, start, grandparent]
        I_right[:, starts, :, width] = within_right + arc.unsqueeze(-1)
        arc = arcs.diagonal(width, 1, 2).movedim(-1, 1)
        I_left[:, ends, :, width] = within_left + arc.unsqueeze(-1)
        # C^g[i->j] = sum_{i < r <= j} I^g[i->r] C^i[r->j]
        last = below(C_right_tail[:, ends, :, :width].flip(3), 0)
        C_right = semiring.plus(semiring.times(I_right[:, starts, :, 1 : width + 1], last))
        if not multiroot:  # C[0->j] exists for the whole sentence alone
            at_root = torch.arange(tokens - width, device=lengths.device) == 0
            keep = (lengths == width)[:, None] | ~at_root  # [batch, start]
            C_right = torch.where(keep[:, :, None, None], C_right, NEGATIVE_INFINITY)
        # C^g[j->i] = sum_{i <= r < j} I^g[j->r] C^j[r->i]
        last = below(C_left_tail[:, starts, :, :width].flip(3), width)
        C_left = semiring.plus(semiring.times(I_left[:, ends, :, 1 : width + 1], last))
        C_right_head[:, starts, :, width] = C_right
        C_right_tail[:, ends, :, width] = C_right
        C_left_head[:, ends, :, width] = C_left
        C_left_tail[:, starts, :, width] = C_left

    return C_right_head[torch.arange(batch, device=lengths.device), 0, 0, lengths]


def _with_none_of_root(arc_scores: Tensor, grandparent_scores: Tensor) -> Tensor:
    """Grandparent scores, -inf where there is none; 0 for the root symbol's own, number 0."""
    used = usable_grandparents(arc_scores)
    scores = torch.where(used, grandparent_scores, NEGATIVE_INFINITY)
    token = torch.arange(arc_scores.shape[1], device=arc_scores.device)
    without = (token[:, None] == 0) & (token == 0)  # [head, grandparent]
    return torch.where(without, 0, scores)


def _siblings_by_width(sibling_scores: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
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
