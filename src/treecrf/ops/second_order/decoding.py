"""The best tree and random trees of the second order, compiled for the CPU.

The charts are those of `inside`, here with plain sums and maxima for the best tree.
"""

import math

import numpy as np

from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import (
    LANES,
    Floats,
    Integers,
    Vector,
    gather,
    load,
    maximum,
    select_equal,
    splat,
    store,
)
from treecrf.ops.numba.packing import (
    Groups,
    lane_lengths,
    lane_offsets,
    most_words,
)
from treecrf.ops.numba.scaled import CELL, Row
from treecrf.ops.numba.splits import choose, largest_sum
from treecrf.ops.second_order.inside import (
    Charts,
    ScoreRow,
    inside,
    new_charts,
    prefetch_siblings,
    siblings_between,
)

__all__ = ["best_trees", "random_trees"]

LOG2 = math.log(2.0)


@kernel
def best_trees(
    arc_scores: Floats,
    sibling_scores: Floats,
    lengths: Integers,
    groups: Groups,
    tokens: int,
    multiroot: bool,
    heads: Integers,
) -> None:
    """Fills `heads [batch, token]`, which holds -1."""
    most = most_words(lengths, groups)
    size = (most + 1) ** 2 * LANES
    charts = np.empty(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    spans = new_spans(most)
    chance = np.zeros(3 * most)
    for group in range(len(groups)):
        members = groups[group]
        inside_best(arc_scores, sibling_scores, lengths, members, tokens, multiroot, charts)
        row = lengths[members[0]] + 1
        for lane in range(LANES):
            sentence = members[lane]
            n = lengths[sentence]
            if charts[0][n * LANES + lane] > -np.inf:
                scores = sibling_scores[sentence * tokens**3 : (sentence + 1) * tokens**3]
                backtrack(
                    False, chance, charts, row, n, lane, spans, scores, multiroot, heads[sentence]
                )


@kernel
def random_trees(
    arc_scores: Floats,
    sibling_scores: Floats,
    lengths: Integers,
    groups: Groups,
    tokens: int,
    multiroot: bool,
    chance: Floats,
    heads: Integers,
) -> None:
    """Fills `heads [draw, batch, token]`, which holds -1.

    `chance [draw, batch, 3 * token]` holds uniform random numbers.
    """
    most = most_words(lengths, groups)
    charts = new_charts(most)
    spans = new_spans(most)
    for group in range(len(groups)):
        members = groups[group]
        inside(arc_scores, sibling_scores, lengths, members, tokens, multiroot, charts)
        row = lengths[members[0]] + 1
        for lane in range(LANES):
            sentence = members[lane]
            n = lengths[sentence]
            if charts[0][n * CELL + lane] > 0.0:
                scores = sibling_scores[sentence * tokens**3 : (sentence + 1) * tokens**3]
                for k in range(len(heads)):
                    numbers, tree = chance[k, sentence], heads[k, sentence]
                    backtrack(True, numbers, charts, row, n, lane, spans, scores, multiroot, tree)


@compiled
def inside_best(
    arc_scores: Floats,
    sibling_scores: Floats,
    lengths: Integers,
    members: Integers,
    tokens: int,
    multiroot: bool,
    charts: Charts,
) -> None:
    """`inside` with sums for products and maxima for sums."""
    C, Ct, I, P, S = charts
    arcs = lane_offsets(members, tokens**2)
    siblings = lane_offsets(members, tokens**3)
    ends = lane_lengths(members, lengths)
    row = lengths[members[0]] + 1
    for j in range(row):
        store(C, j * row + j, splat(0.0))
        store(Ct, j * row + j, splat(0.0))
        for i in range(j - 1, -1, -1):
            ij, ji, ii = i * row + j, j * row + i, i * row + i
            between = siblings_between(i, j, multiroot)
            prefetch_siblings(sibling_scores, siblings, tokens, i - 1, j)
            # P[i, j] = max(C[j, i + 1], max_{i < r < j} I[i, r] + S[r, j] + s(i, r, j))
            scores = sibling_scores, siblings, (j * tokens + i) * tokens + i + 1
            value = largest_sibling_sum((C, ji + 1), (I, ii + 1), (S, ji + 1), scores, between)
            store(P, ij, value)
            # I[i, j] = P[i, j] + s(i -> j)
            store(I, ij, with_arc(value, gather(arc_scores, arcs, j * tokens + i)))
            # P[j, i] = max(C[i, j - 1], max_{i < r < j} I[j, r] + S[i, r] + s(j, r, i))
            scores = sibling_scores, siblings, (i * tokens + j) * tokens + i + 1
            value = largest_sibling_sum((C, ij - 1), (I, ji + 1), (S, ii + 1), scores, between)
            store(P, ji, value)
            # I[j, i] = P[j, i] + s(j -> i)
            store(I, ji, with_arc(value, gather(arc_scores, arcs, i * tokens + j)))
            # S[i, j] = max_{i <= r < j} C[i, r] + C[j, r + 1]
            value = largest_sum((C, ii), (C, ji + 1), j - i)
            store(S, ij, value)
            store(S, ji, value)
            # C[i, j] = max_{i < r <= j} I[i, r] + C[r, j]
            value = largest_sum((I, ii + 1), (Ct, ji + 1), j - i)
            if i == 0 and not multiroot:
                value = select_equal(ends, j, value, splat(-np.inf))
            store(C, ij, value)
            store(Ct, ji, value)
            # C[j, i] = max_{i <= r < j} C[r, i] + I[j, r]
            value = largest_sum((Ct, ii), (I, ji), j - i)
            store(C, ji, value)
            store(Ct, ij, value)


@compiled
def with_arc(value: Vector, arc: Vector) -> Vector:
    """value + arc; -inf under a forbidden arc, whose sibling scores may be anything."""
    return select_equal(arc, -np.inf, arc, value + arc)


@compiled
def largest_sibling_sum(alone: Row, left: Row, right: Row, scores: ScoreRow, count: int) -> Vector:
    """The largest of alone[0] and left[r] + right[r] + scores[r], r < count."""
    I, a = left
    S, b = right
    sibling_scores, offsets, first = scores
    best = load(alone[0], alone[1])
    for r in range(count):
        score = gather(sibling_scores, offsets, first + r)
        # A score that no tree uses may be NaN, and is not the larger one then.
        best = maximum(load(I, a + r) + load(S, b + r) + score, best)
    return best


@compiled
def new_spans(n: int) -> Integers:
    """A stack that holds the spans of one tree: a row of heads, of ends, and of kinds."""
    return np.empty((3, 5 * n + 1), np.int64)


@compiled
def backtrack(
    sampling: bool,
    chance: Floats,
    charts: Charts,
    row: int,
    n: int,
    lane: int,
    spans: Integers,
    sibling_scores: Floats,
    multiroot: bool,
    heads: Integers,
) -> None:
    """Writes one tree: at each cell the best split point, or when sampling a random one."""
    C, Ct, I, P, S = charts
    tokens = len(heads)
    for token in range(tokens):
        heads[token] = 0
    span_heads, span_ends, complete = spans[0], spans[1], spans[2]
    span_heads[0], span_ends[0], complete[0] = 0, n, 1
    depth, decisions = 1, 0
    while depth > 0:
        depth -= 1
        head, end = span_heads[depth], span_ends[depth]
        if head == end:
            continue
        i, j = min(head, end), max(head, end)
        ii, ij, ji = i * row + i, i * row + j, j * row + i
        uniform = chance[decisions]
        decisions += 1
        if complete[depth]:
            # C[i, j] = I[i, r] * C[r, j] or C[j, i] = C[r, i] * I[j, r]
            if head < end:
                r = choose(sampling, uniform, (C, ij), (I, ii + 1), (Ct, ji + 1), j - i, lane)
                child = i + 1 + r
            else:
                r = choose(sampling, uniform, (C, ji), (Ct, ii), (I, ji), j - i, lane)
                child = i + r
            span_heads[depth], span_ends[depth], complete[depth] = child, end, 1
            span_heads[depth + 1], span_ends[depth + 1], complete[depth + 1] = head, child, 0
            depth += 2
            continue
        heads[end] = head
        between = siblings_between(i, j, multiroot)
        first = (end * tokens + head) * tokens + i + 1
        scores = sibling_scores[first : first + between]
        # P[i, j] = C[j, i + 1] or I[i, r] * S[r, j] * w2(i, r, j), and P[j, i] likewise
        if head < end:
            neighbour = i + 1
            rows = (P, ij), (C, ji + 1), (I, ii + 1), (S, ji + 1)
        else:
            neighbour = j - 1
            rows = (P, ji), (C, ij - 1), (I, ji + 1), (S, ii + 1)
        r = choose_sibling(sampling, uniform, rows, scores, lane)
        if r < 0:
            span_heads[depth], span_ends[depth], complete[depth] = end, neighbour, 1
            depth += 1
            continue
        sibling = i + 1 + r
        span_heads[depth], span_ends[depth], complete[depth] = head, sibling, 0
        # S[i, j] = C[i, r] * C[j, r + 1]
        i, j = min(sibling, end), max(sibling, end)
        ii, ij, ji = i * row + i, i * row + j, j * row + i
        r = choose(sampling, chance[decisions], (S, ij), (C, ii), (C, ji + 1), j - i, lane)
        decisions += 1
        span_heads[depth + 1], span_ends[depth + 1], complete[depth + 1] = i, i + r, 1
        span_heads[depth + 2], span_ends[depth + 2], complete[depth + 2] = j, i + r + 1, 1
        depth += 3


@compiled
def choose_sibling(
    sampling: bool, uniform: float, rows: tuple[Row, Row, Row, Row], scores: Floats, lane: int
) -> int:
    """Like `choose` for the terms of P: which sibling, or -1 for the term without one."""
    P, cell = rows[0]
    C, c = rows[1]
    I, a = rows[2]
    S, b = rows[3]
    if not sampling:
        for r in range(len(scores)):
            value = I[(a + r) * LANES + lane] + S[(b + r) * LANES + lane] + scores[r]
            if value == P[cell * LANES + lane]:
                return r
        return -1
    unit = P[cell * CELL + LANES + lane]
    remaining = uniform * P[cell * CELL + lane]
    choice = -1
    for r in range(len(scores)):
        at_a, at_b = (a + r) * CELL + lane, (b + r) * CELL + lane
        shift = I[at_a + LANES] + S[at_b + LANES] - unit + scores[r] / LOG2
        weight = I[at_a] * S[at_b] * np.exp2(shift)
        if weight > 0.0:  # not so for an impossible sibling, whose score may be NaN
            choice = r
            remaining -= weight
            if remaining < 0.0:
                return choice
    return -1 if C[c * CELL + lane] > 0.0 else choice
