"""The best tree and random trees of the first order, compiled for the CPU.

The charts are those of `inside`, here with plain sums and maxima for the best tree.
"""

import numpy as np

from treecrf.ops.first_order.inside import Charts, inside, new_charts
from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import LANES, Floats, Integers, gather, select_equal, splat, store
from treecrf.ops.numba.packing import Groups, lane_lengths, lane_offsets, most_words
from treecrf.ops.numba.scaled import CELL
from treecrf.ops.numba.splits import choose, largest_sum

__all__ = ["best_trees", "random_trees"]


@kernel
def best_trees(
    arc_scores: Floats,
    lengths: Integers,
    groups: Groups,
    tokens: int,
    multiroot: bool,
    heads: Integers,
) -> None:
    """Fills `heads [batch, token]`, which holds -1."""
    most = most_words(lengths, groups)
    size = (most + 1) ** 2 * LANES
    charts = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    spans = new_spans(most)
    chance = np.zeros(2 * most)
    for group in range(len(groups)):
        members = groups[group]
        inside_best(arc_scores, lengths, members, tokens, multiroot, charts)
        row = lengths[members[0]] + 1
        for lane in range(LANES):
            sentence = members[lane]
            n = lengths[sentence]
            if charts[0][n * LANES + lane] > -np.inf:
                backtrack(False, chance, charts, row, n, lane, spans, heads[sentence])


@kernel
def random_trees(
    arc_scores: Floats,
    lengths: Integers,
    groups: Groups,
    tokens: int,
    multiroot: bool,
    chance: Floats,
    heads: Integers,
) -> None:
    """Fills `heads [draw, batch, token]`, which holds -1.

    `chance [draw, batch, 2 * token]` holds uniform random numbers.
    """
    most = most_words(lengths, groups)
    charts = new_charts(most)
    spans = new_spans(most)
    for group in range(len(groups)):
        members = groups[group]
        inside(arc_scores, lengths, members, tokens, multiroot, charts)
        row = lengths[members[0]] + 1
        for lane in range(LANES):
            sentence = members[lane]
            n = lengths[sentence]
            if charts[0][n * CELL + lane] > 0.0:
                for k in range(len(heads)):
                    backtrack(
                        True, chance[k, sentence], charts, row, n, lane, spans, heads[k, sentence]
                    )


@compiled
def inside_best(
    arc_scores: Floats,
    lengths: Integers,
    members: Integers,
    tokens: int,
    multiroot: bool,
    charts: Charts,
) -> None:
    """`inside` with sums for products and maxima for sums."""
    C, Ct, I, S = charts
    offsets = lane_offsets(members, tokens * tokens)
    ends = lane_lengths(members, lengths)
    row = lengths[members[0]] + 1
    for j in range(row):
        store(C, j * row + j, splat(0.0))
        store(Ct, j * row + j, splat(0.0))
        for i in range(j - 1, -1, -1):
            ij, ji, ii = i * row + j, j * row + i, i * row + i
            # S[i, j] = max_{i <= r < j} C[i, r] + C[j, r + 1]
            value = largest_sum((C, ii), (C, ji + 1), j - i)
            store(S, ij, value)
            # I[i, j] = S[i, j] + s(i -> j);  I[j, i] = S[i, j] + s(j -> i)
            store(I, ij, value + gather(arc_scores, offsets, j * tokens + i))
            store(I, ji, value + gather(arc_scores, offsets, i * tokens + j))
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
def new_spans(n: int) -> Integers:
    """A stack that holds the complete spans of one tree, each as head and end."""
    return np.empty((2, 3 * n + 1), np.int64)


@compiled
def backtrack(
    sampling: bool,
    chance: Floats,
    charts: Charts,
    row: int,
    n: int,
    lane: int,
    spans: Integers,
    heads: Integers,
) -> None:
    """Writes one tree: at each cell the best split point, or when sampling a random one."""
    C, Ct, I, S = charts
    for token in range(len(heads)):
        heads[token] = 0
    span_heads, span_ends = spans[0], spans[1]
    span_heads[0], span_ends[0] = 0, n
    depth, decisions = 1, 0
    while depth > 0:
        depth -= 1
        head, end = span_heads[depth], span_ends[depth]
        if head == end:
            continue
        i, j = min(head, end), max(head, end)
        ii, ij, ji = i * row + i, i * row + j, j * row + i
        # The farthest child: C[i, j] = I[i, r] * C[r, j] or C[j, i] = C[r, i] * I[j, r].
        if head < end:
            r = choose(sampling, chance[decisions], (C, ij), (I, ii + 1), (Ct, ji + 1), j - i, lane)
            child = i + 1 + r
        else:
            r = choose(sampling, chance[decisions], (C, ji), (Ct, ii), (I, ji), j - i, lane)
            child = i + r
        heads[child] = head
        # What is between head and child: S[i, j] = C[i, r] * C[j, r + 1].
        i, j = min(head, child), max(head, child)
        ii, ij, ji = i * row + i, i * row + j, j * row + i
        r = choose(sampling, chance[decisions + 1], (S, ij), (C, ii), (C, ji + 1), j - i, lane)
        span_heads[depth], span_ends[depth] = child, end
        span_heads[depth + 1], span_ends[depth + 1] = i, i + r
        span_heads[depth + 2], span_ends[depth + 2] = j, i + r + 1
        depth += 3
        decisions += 2
