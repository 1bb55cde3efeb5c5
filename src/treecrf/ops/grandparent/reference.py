"""Projective trees with grandparents in plain torch: the specification of the fast kernels.

The inside pass of Koo and Collins (2010), batched over sentences, positions and grandparents:
Model 0 without sibling scores, Model 1 with them. Everything else is back-propagation through it.
The scores are those of arcs, of grandparents and, in Model 1, of siblings.
"""

import torch
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.constants import NEGATIVE_INFINITY
from treecrf.ops.grandparent.memory import check_memory
from treecrf.ops.projective.reference import siblings_by_width
from treecrf.ops.reference.parts import usable_grandparents, usable_siblings
from treecrf.ops.reference.questions import Questions
from treecrf.ops.reference.semiring import Semiring


def inside(scores: Scores, lengths: Tensor, multiroot: bool, semiring: Semiring) -> Tensor:
    """Value of all trees of each sentence, `[batch, size]`.

    `C^g[i->j]` and `I^g[i->j]` are the complete and incomplete spans of a head i whose own head is
    g; `S^h[i,j]` two complete spans of neighbouring children i and j of h. A chart is indexed
    `[batch, end, grandparent, width]`: `_head` charts by the end where the head is, `_tail` charts
    by the other; S charts by their left and by their right end. The root symbol as a head has the
    grandparent 0 for none.
    """
    arc_scores, sibling_scores = scores[0], scores[2] if len(scores) > 2 else None
    batch, tokens, _ = arc_scores.shape
    check_memory(
        tokens - 1,
        count=batch,
        bytes_a_cell=(6 if sibling_scores is None else 8)
        * semiring.size
        * arc_scores.element_size(),
        device=arc_scores.device,
    )

    def empty() -> Tensor:
        shape = batch, tokens, tokens, tokens, semiring.size
        return arc_scores.new_full(shape, NEGATIVE_INFINITY)

    I_right, I_left = empty(), empty()
    C_right_head, C_right_tail, C_left_head, C_left_tail = empty(), empty(), empty(), empty()
    for chart in (C_right_head, C_right_tail, C_left_head, C_left_tail):
        chart[:, :, :, 0, 0] = 0
    arcs = _with_grandparents(*scores[:2])
    if sibling_scores is not None:
        used = usable_siblings(arc_scores, multiroot=multiroot)
        used_scores = torch.where(used, sibling_scores, NEGATIVE_INFINITY)
        sibling_right, sibling_left = siblings_by_width(used_scores)
        S_from_left, S_from_right = empty(), empty()

    for width in range(1, tokens):
        starts, ends = slice(0, tokens - width), slice(width, tokens)
        to_left = C_left_head[:, ends, :, :width].flip(3)  # C^g[j->r+1], i <= r < j
        to_right = C_right_head[:, starts, :, :width]  # C^g[i->r], i <= r < j
        if sibling_scores is None:
            # I^g[i->j] = (sum_{i <= r < j} C^g[i->r] C^i[j->r+1]) s(i,j) s(g,i,j)
            within_right = semiring.plus(semiring.times(to_right, _below(to_left, 0)))
            # I^g[j->i] = (sum_{i <= r < j} C^g[j->r+1] C^j[i->r]) s(j,i) s(g,j,i)
            within_left = semiring.plus(semiring.times(to_left, _below(to_right, width)))
        else:
            # I^g[i->j] = (C^i[j->i+1] + sum_{i<r<j} I^g[i->r] S^i[r,j] s(i,r,j)) s(i,j) s(g,i,j)
            alone = semiring.times(to_right[:, :, :, :1], _below(to_left, 0)[:, :, :, :1])
            after = _below(S_from_right[:, ends, :, 1:width].flip(3), 0)
            after = after + sibling_right[width][:, starts, None, 1:width, None]
            after = semiring.times(I_right[:, starts, :, 1:width], after)
            within_right = semiring.plus(torch.cat((alone, after), dim=3))
            # I^g[j->i] = (C^j[i->j-1] + sum_{i<r<j} I^g[j->r] S^j[i,r] s(j,r,i)) s(j,i) s(g,j,i)
            alone = semiring.times(to_left[:, :, :, -1:], _below(to_right, width)[:, :, :, -1:])
            after = _below(S_from_left[:, starts, :, 1:width].flip(3), width)
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
        below = _below(C_right_tail[:, ends, :, :width].flip(3), 0)
        C_right = semiring.plus(semiring.times(I_right[:, starts, :, 1 : width + 1], below))
        if not multiroot:  # C[0->j] exists for the whole sentence alone
            at_root = torch.arange(tokens - width, device=lengths.device) == 0
            keep = (lengths == width)[:, None] | ~at_root  # [batch, start]
            C_right = torch.where(keep[:, :, None, None], C_right, NEGATIVE_INFINITY)
        # C^g[j->i] = sum_{i <= r < j} I^g[j->r] C^j[r->i]
        below = _below(C_left_tail[:, starts, :, :width].flip(3), width)
        C_left = semiring.plus(semiring.times(I_left[:, ends, :, 1 : width + 1], below))
        C_right_head[:, starts, :, width] = C_right
        C_right_tail[:, ends, :, width] = C_right
        C_left_head[:, ends, :, width] = C_left
        C_left_tail[:, starts, :, width] = C_left

    return C_right_head[torch.arange(batch, device=lengths.device), 0, 0, lengths]


def _below(cells: Tensor, width: int) -> Tensor:
    """Cells `[batch, start, 1, split, size]` whose grandparent is the head of the span above them.

    The head of the span from i to j is i, or with a width j = i + width.
    """
    return cells.diagonal(width, 1, 2).movedim(-1, 1).unsqueeze(2)


def _with_grandparents(arc_scores: Tensor, grandparent_scores: Tensor) -> Tensor:
    """Scores `[batch, dependent, head, grandparent]` of an arc and its head's head together."""
    used = usable_grandparents(arc_scores)
    scores = torch.where(used, grandparent_scores, NEGATIVE_INFINITY)
    token = torch.arange(arc_scores.shape[1], device=arc_scores.device)
    without = (token[:, None] == 0) & (token == 0)  # [head, grandparent]
    return arc_scores.unsqueeze(-1) + torch.where(without, 0, scores)


_questions = Questions(inside)
log_partition, marginals = _questions.log_partition, _questions.marginals
part_marginals, argmax = _questions.part_marginals, _questions.argmax
topk, sample = _questions.topk, _questions.sample
