"""Second-order inference for one long sentence whose sibling scores would not fit into memory.

The score of a dependent, head and sibling is a product of `Factors`, for each token one; token 0 is
the root symbol and N - 1 words follow. `arc_scores [dependent, head]` are -inf where an arc is
forbidden. Nothing here has a gradient.

The letters are the paper's, and the charts those of `inside`: cell [i, j] of C is the complete span
of head i that reaches to j on either side, I the incomplete one of the arc i -> j, P the same
without the score of the arc, S = S.T two complete spans that meet, and Ct = C.T. One step handles
all spans i, j = i + width of a width, and all of their split points, as a matrix.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from treecrf.ops.constants import LOG2_E, NEGATIVE_INFINITY
from treecrf.ops.projective.trilinear import Factors, SiblingScores
from treecrf.ops.reference.parts import adjacent_siblings

LOWEST = torch.finfo(torch.float64).min  # -inf less this is -inf, and not NaN

Sum = Callable[[Tensor], Tensor]
"""Sum or maximum `[span]` of terms `[span, split]`, which it may overwrite."""


class Charts(NamedTuple):
    """Cells `[N, N]`: log-weights in float64, or flows, the probabilities that cells are used."""

    C: Tensor
    Ct: Tensor
    I: Tensor
    P: Tensor
    S: Tensor


class Direction(NamedTuple):
    """Spans of a width with the head on one side; all but the width are distances from i."""

    width: int
    head: int
    end: int
    neighbour: int  # next to the head, towards the end
    child: int  # the leftmost word that may be the last child of the head


@torch.no_grad()
def score(arc_scores: Tensor, factors: Factors, heads: Tensor) -> Tensor:
    """Score of one tree, given as heads `[N]`; -inf if it has a forbidden arc or lacks a head."""
    words, siblings = torch.arange(len(heads), device=heads.device), adjacent_siblings(heads)
    arcs = arc_scores[words, heads.clamp(min=0)].double()
    total = torch.where(heads >= 0, arcs, NEGATIVE_INFINITY)[1:].sum()
    word = words[(siblings > 0) & (heads >= 0)]
    total += factors.scores(heads[word], siblings[word], word).sum()
    return total.to(arc_scores.dtype)


@torch.no_grad()
def marginals(
    arc_scores: Tensor,
    factors: Factors,
    *,
    multiroot: bool = False,
    block: int | None = None,
) -> tuple[Tensor, Tensor]:
    """log Z and arc marginals `[dependent, head]`; -inf and 0 where there is no tree.

    Sibling scores are computed for `block` span widths at a time; None chooses their number.
    """
    scores = SiblingScores(factors, block=block)
    dtype = torch.promote_types(arc_scores.dtype, torch.float32)

    def log_sum(terms: Tensor) -> Tensor:
        largest = terms.amax(1).clamp_(min=LOWEST)
        return largest + weights(terms, largest, dtype).sum(1).double().log_()

    charts = inside(arc_scores, scores, log_sum, multiroot=multiroot)
    flows = outside(charts, scores, dtype, multiroot=multiroot)
    return charts.C[0, -1].to(dtype), flows.I.T.contiguous()


@torch.no_grad()
def argmax(
    arc_scores: Tensor,
    factors: Factors,
    *,
    multiroot: bool = False,
    block: int | None = None,
) -> Tensor:
    """Heads `[N]` of the best tree; -1 where there is none; `block` as in `marginals`."""
    scores = SiblingScores(factors, block=block)
    charts = inside(arc_scores, scores, lambda terms: terms.amax(1), multiroot=multiroot)
    heads = [-1] * len(arc_scores)
    if charts.C[0, -1] > NEGATIVE_INFINITY:
        heads = backtrack(charts, scores, multiroot=multiroot)
    return torch.tensor(heads, device=arc_scores.device)


def inside(arc_scores: Tensor, scores: SiblingScores, plus: Sum, *, multiroot: bool) -> Charts:
    """Fill the charts; the value of all trees is `C[0, -1]`."""
    tokens = scores.tokens
    if arc_scores.shape != (tokens, tokens):
        raise ValueError(
            f"arc scores are {list(arc_scores.shape)}, sibling scores are for {tokens} tokens;"
            " both must be for one sentence, with the root symbol"
        )
    arcs = torch.empty_like(arc_scores, dtype=torch.float64, memory_format=torch.contiguous_format)
    arcs.copy_(arc_scores.T)  # [head, dependent]
    arcs[:, 0] = NEGATIVE_INFINITY
    charts = Charts(*(torch.full_like(arcs, NEGATIVE_INFINITY) for _ in Charts._fields))
    C, Ct, I, P, S = charts
    C.diagonal().zero_()
    Ct.diagonal().zero_()
    for width in range(1, tokens):
        for direction, sibling_scores in zip(
            directions(width), scores.of_width(width), strict=True
        ):
            _, head, end, _, _ = direction
            value = plus(sibling_terms(charts, direction, sibling_scores, multiroot=multiroot))
            cells(P, width, at=(head, end)).copy_(value)
            # I[i, j] = P[i, j] * w(i -> j)
            cells(I, width, at=(head, end)).copy_(value + cells(arcs, width, at=(head, end)))
        left, right = meeting_spans(C, width)
        value = plus(left + right)
        cells(S, width, at=(0, width)).copy_(value)
        cells(S, width, at=(width, 0)).copy_(value)
        for direction in directions(width):
            _, head, end, _, _ = direction
            left, right = last_child_spans(charts, direction)
            value = plus(left + right)
            cells(C, width, at=(head, end)).copy_(value)
            cells(Ct, width, at=(end, head)).copy_(value)
    return charts


def outside(
    charts: Charts, scores: SiblingScores, dtype: torch.dtype, *, multiroot: bool
) -> Charts:
    """Pass the probability 1 of the sentence down to all cells."""
    to_C, to_Ct, to_I, to_S = (torch.zeros_like(charts.C, dtype=dtype) for _ in range(4))
    flows = Charts(to_C, to_Ct, to_I, P=to_I, S=to_S)  # a tree that uses I uses P
    to_C[0, -1] = (charts.C[0, -1] > NEGATIVE_INFINITY).to(dtype)

    def shares(terms: Tensor, total: Tensor, flow: Tensor) -> Tensor:
        """Share of each term `[span, split]` in the flow `[span]` into their total."""
        share = weights(terms, total.clamp(min=LOWEST), dtype)
        # They sum to 1 up to rounding errors, which would add up from width to width.
        whole = share.sum(1).clamp_(min=torch.finfo(dtype).tiny)
        return share.mul_((flow / whole).unsqueeze(1))

    for width in range(len(to_C) - 1, 0, -1):
        for direction in directions(width):
            _, head, end, _, _ = direction
            left, right = last_child_spans(charts, direction)
            flow = cells(to_C, width, at=(head, end)) + cells(to_Ct, width, at=(end, head))
            share = shares(left + right, cells(charts.C, width, at=(head, end)), flow)
            for part in last_child_spans(flows, direction):
                part.add_(share)
        for direction, sibling_scores in zip(
            directions(width), scores.of_width(width), strict=True
        ):
            _, head, end, _, _ = direction
            terms = sibling_terms(charts, direction, sibling_scores, multiroot=multiroot)
            flow = cells(to_I, width, at=(head, end))
            share = shares(terms, cells(charts.P, width, at=(head, end)), flow)
            alone, left, right = sibling_spans(flows, direction)
            alone.add_(share[:, 0])
            left.add_(share[:, 1:])
            right.add_(share[:, 1:])
        left, right = meeting_spans(charts.C, width)
        flow = cells(to_S, width, at=(0, width)) + cells(to_S, width, at=(width, 0))
        share = shares(left + right, cells(charts.S, width, at=(0, width)), flow)
        for part in meeting_spans(to_C, width):
            part.add_(share)
    return flows


def weights(terms: Tensor, unit: Tensor, dtype: torch.dtype) -> Tensor:
    """exp(terms - unit), `[span, split]`; overwrites the terms."""
    # On a CPU exp2 takes half the time of exp.
    return terms.sub_(unit.unsqueeze(1)).to(dtype).mul_(LOG2_E).exp2_()


def sibling_terms(
    charts: Charts, direction: Direction, sibling_scores: Tensor, *, multiroot: bool
) -> Tensor:
    """Terms of P, `[span, split]`; the first is the one without a sibling."""
    alone, left, right = sibling_spans(charts, direction)
    terms = left.new_empty(len(left), direction.width)
    terms[:, 0] = alone
    torch.add(left, right, out=terms[:, 1:]).add_(sibling_scores)
    if direction.head < direction.end and not multiroot:
        terms[0, 1:] = NEGATIVE_INFINITY  # the root symbol has one child
    return terms


def sibling_spans(charts: Charts, direction: Direction) -> tuple[Tensor, Tensor, Tensor]:
    """P[i, j] = C[j, i + 1] + sum_{i < r < j} I[i, r] * S[r, j] * w2(i, r, j)"""
    width, head, end, neighbour, _ = direction
    return (
        cells(charts.C, width, at=(end, neighbour)),
        rows(charts.I, width, at=(head, 1), count=width - 1),
        rows(charts.S, width, at=(end, 1), count=width - 1),
    )


def meeting_spans(C: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """S[i, j] = sum_{i <= r < j} C[i, r] * C[j, r + 1]"""
    return rows(C, width, at=(0, 0), count=width), rows(C, width, at=(width, 1), count=width)


def last_child_spans(charts: Charts, direction: Direction) -> tuple[Tensor, Tensor]:
    """C[i, j] = sum_{i < r <= j} I[i, r] * C[r, j]"""
    width, head, end, _, child = direction
    return (
        rows(charts.I, width, at=(head, child), count=width),
        rows(charts.Ct, width, at=(end, child), count=width),
    )


def directions(width: int) -> tuple[Direction, Direction]:
    """Rightwards, with the head at i, and leftwards, with the head at j."""
    return (
        Direction(width, head=0, end=width, neighbour=1, child=1),
        Direction(width, head=width, end=0, neighbour=width - 1, child=0),
    )


def rows(chart: Tensor, width: int, *, at: tuple[int, int], count: int) -> Tensor:
    """View `[span, count]` of the cells from `chart[i + at[0], i + at[1]]` to the right."""
    tokens = len(chart)
    first = at[0] * tokens + at[1]
    return chart.as_strided((tokens - width, count), (tokens + 1, 1), first)


def cells(chart: Tensor, width: int, *, at: tuple[int, int]) -> Tensor:
    """View `[span]` of the cells `chart[i + at[0], i + at[1]]`."""
    return rows(chart, width, at=at, count=1).squeeze(1)


def backtrack(charts: Charts, scores: SiblingScores, *, multiroot: bool) -> list[int]:
    """Heads of the best tree, by the best split point of each span from the sentence downwards."""
    C, Ct, I, _, S = (chart.cpu() for chart in charts)
    heads = [0] * len(C)
    spans = [(0, len(C) - 1, True)]  # head, end, and whether the span is complete
    while spans:
        head, end, complete = spans.pop()
        if head == end:
            continue
        i, j = min(head, end), max(head, end)
        if complete:
            # C[i, j] = I[i, r] * C[r, j]
            split = slice(i + (head < end), j + (head < end))
            child = split.start + int((I[head, split] + Ct[end, split]).argmax())
            spans += [(child, end, True), (head, child, False)]
            continue
        heads[end] = head
        neighbour = i + 1 if head < end else j - 1
        # P[i, j] = C[j, i + 1] or I[i, r] * S[r, j] * w2(i, r, j)
        split = slice(i + 1, j if head > 0 or multiroot else i + 1)
        terms = I[head, split] + S[end, split]
        if len(terms) > 0:
            terms += scores.of_arc(head, end).cpu()
        if len(terms) == 0 or terms.amax() <= C[end, neighbour]:
            spans.append((end, neighbour, True))
            continue
        sibling = i + 1 + int(terms.argmax())
        # S[i, j] = C[i, r] * C[j, r + 1]
        i, j = min(sibling, end), max(sibling, end)
        meeting = i + int((C[i, i:j] + C[j, i + 1 : j + 1]).argmax())
        spans += [(head, sibling, False), (i, meeting, True), (j, meeting + 1, True)]
    return heads
