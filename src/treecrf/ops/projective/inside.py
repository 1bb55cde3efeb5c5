"""Inside and outside passes over projective trees, compiled for the CPU.

The letters are the paper's. `C[i, j]` is the complete span of head i that reaches to j, on either
side; `I[i, j]` the incomplete span of the arc i -> j, and `P[i, j]` the same without the score of
the arc; `S[i, j]` = `S[j, i]` two complete spans that meet between i and j. `Ct[j, i]` is `C[i, j]`
again, so that every sum over split points r walks along rows. Charts are flat: cell [i, j] is
number `i * (n + 1) + j`. The sibling score of head h, sibling r and dependent d is
`sibling_scores[d, h, r]`, and w2(h, r, d) its exponential.

In the first order the sibling scores are None, for which Numba compiles a version without the
branches for siblings. There P[i, j] = P[j, i] = S[i, j], so that P and S are one chart; its cells
i < j are used.
"""

from types import ModuleType
from typing import Any

import numpy as np

from treecrf.ops.numba import maxima, sums
from treecrf.ops.numba.compiling import compiled, compiled_for, kernel
from treecrf.ops.numba.lanes import (
    LANES,
    Floats,
    Integers,
    Vector,
    gather,
    load,
    prefetch,
    splat,
    store,
)
from treecrf.ops.numba.packing import (
    Batch,
    Groups,
    Siblings,
    lane_lengths,
    lane_offsets,
    most_words,
    write_marginals,
)
from treecrf.ops.numba.scaled import CELL
from treecrf.ops.numba.sums import exists, has_flow, log_value, spread, spread_with_scores

Charts = tuple[Floats, Floats, Floats, Floats, Floats]  # C, Ct, I, P, S
Flows = tuple[Floats, Floats, Floats, Floats]  # C, Ct, I, S: the probability that a cell is used


@compiled
def new_charts(n: int, cell: int, sibling_scores: Siblings) -> Charts:
    """Allocate charts for n words with `cell` floats in a cell."""
    size = (n + 1) ** 2 * cell
    S = np.empty(size)
    P = S if sibling_scores is None else np.empty(size)
    return np.empty(size), np.empty(size), np.empty(size), P, S


@compiled
def new_flows(n: int, sibling_scores: Siblings) -> Flows:
    """Allocate flows for n words; where P is S, flows into I are flows into S."""
    size = (n + 1) ** 2 * LANES
    to_I = np.empty(size)
    to_S = to_I if sibling_scores is None else np.empty(size)
    return np.empty(size), np.empty(size), to_I, to_S


def _inside_by(algebra: ModuleType) -> Any:
    """Make the inside pass for the sums and products of a module, `sums` or `maxima`."""

    @compiled_for(algebra)
    def inside(batch: Batch, sibling_scores: Siblings, members: Integers, charts: Charts) -> None:
        """Fill the charts of one group; the value of a sentence is `C[0, length]` in its lane."""
        arc_scores, lengths, tokens, multiroot = batch
        C, Ct, I, P, S = charts
        arcs = lane_offsets(members, tokens**2)
        siblings = lane_offsets(members, tokens**3)
        ends = lane_lengths(members, lengths)
        row = lengths[members[0]] + 1
        terms = np.empty(row * algebra.CELL)
        for j in range(row):
            algebra.put(C, j * row + j, algebra.one())
            algebra.put(Ct, j * row + j, algebra.one())
            for i in range(j - 1, -1, -1):
                ij, ji, ii = i * row + j, j * row + i, i * row + i
                # S[i, j] = sum_{i <= r < j} C[i, r] * C[j, r + 1]
                value = algebra.sum_of_products((C, ii), (C, ji + 1), j - i)
                algebra.put(S, ij, value)
                if sibling_scores is None:
                    right = left = value
                else:
                    algebra.put(S, ji, value)
                    between = siblings_between(i, j, multiroot)
                    prefetch_siblings(sibling_scores, siblings, tokens, i - 1, j)
                    # P[i, j] = C[j, i + 1] + sum_{i < r < j} I[i, r] * S[r, j] * w2(i, r, j)
                    scores = sibling_scores, siblings, (j * tokens + i) * tokens + i + 1
                    right = algebra.sum_with_scores(
                        (C, ji + 1), (I, ii + 1), (S, ji + 1), scores, between, terms
                    )
                    algebra.put(P, ij, right)
                    # P[j, i] = C[i, j - 1] + sum_{i < r < j} I[j, r] * S[i, r] * w2(j, r, i)
                    scores = sibling_scores, siblings, (i * tokens + j) * tokens + i + 1
                    left = algebra.sum_with_scores(
                        (C, ij - 1), (I, ji + 1), (S, ii + 1), scores, between, terms
                    )
                    algebra.put(P, ji, left)
                # I[i, j] = P[i, j] * w(i -> j);  I[j, i] = P[j, i] * w(j -> i)
                arc = algebra.weight(gather(arc_scores, arcs, j * tokens + i))
                algebra.put(I, ij, algebra.times(right, arc))
                arc = algebra.weight(gather(arc_scores, arcs, i * tokens + j))
                algebra.put(I, ji, algebra.times(left, arc))
                # C[i, j] = sum_{i < r <= j} I[i, r] * C[r, j]
                value = algebra.sum_of_products((I, ii + 1), (Ct, ji + 1), j - i)
                if i == 0 and not multiroot:
                    # The only word on the root symbol has the whole sentence to its right.
                    value = algebra.zero_unless_equal(ends, j, value)
                algebra.put(C, ij, value)
                algebra.put(Ct, ji, value)
                # C[j, i] = sum_{i <= r < j} C[r, i] * I[j, r]
                value = algebra.sum_of_products((Ct, ii), (I, ji), j - i)
                algebra.put(C, ji, value)
                algebra.put(Ct, ij, value)

    return inside


inside, inside_best = _inside_by(sums), _inside_by(maxima)


@compiled
def push(spans: Integers, depth: int, head: int, end: int, complete: int, rank: int = 0) -> int:
    """Put a span onto a stack `[field, depth]`; returns the new depth."""
    spans[0, depth], spans[1, depth], spans[2, depth], spans[3, depth] = head, end, complete, rank
    return depth + 1


@compiled
def sentence_part(sibling_scores: Siblings, sentence: int, tokens: int) -> Siblings:
    """Sibling scores of one sentence."""
    if sibling_scores is None:
        return None
    return sibling_scores[sentence * tokens**3 : (sentence + 1) * tokens**3]


@compiled
def siblings_between(i: int, j: int, multiroot: bool) -> int:
    """Number of possible siblings between i and j; none under a root symbol with one child."""
    return 0 if i == 0 and not multiroot else j - i - 1


@compiled
def prefetch_siblings(sibling_scores: Floats, offsets: Vector, tokens: int, i: int, j: int) -> None:
    """Prefetch the sibling scores of the next span, which would not be in a cache."""
    line = 64 // sibling_scores.itemsize
    for r in range(i + 1, j if i >= 0 else 0, line):
        prefetch(sibling_scores, offsets, (j * tokens + i) * tokens + r)
        prefetch(sibling_scores, offsets, (i * tokens + j) * tokens + r)


@compiled
def outside(
    batch: Batch,
    sibling_scores: Siblings,
    members: Integers,
    charts: Charts,
    flows: Flows,
    sibling_marginals: Siblings,
) -> None:
    """Pass the probability 1 of each whole sentence down to all cells of one group."""
    _, lengths, tokens, multiroot = batch
    C, Ct, I, P, S = charts
    to_C, to_Ct, to_I, to_S = flows
    siblings = lane_offsets(members, tokens**3)
    row = lengths[members[0]] + 1
    for cell in range(row * row):
        for flow in flows:
            store(flow, cell, splat(0.0))
    for lane in range(LANES):
        end = lengths[members[lane]]
        to_C[end * LANES + lane] = 1.0 if exists(C, end, lane) else 0.0
    for j in range(row - 1, 0, -1):
        for i in range(j):
            ij, ji, ii = i * row + j, j * row + i, i * row + i
            flow = load(to_C, ij) + load(to_Ct, ji)
            if has_flow(flow):
                spread(flow, C, ij, (I, to_I, ii + 1), (Ct, to_Ct, ji + 1), j - i)
            flow = load(to_C, ji) + load(to_Ct, ij)
            if has_flow(flow):
                spread(flow, C, ji, (Ct, to_Ct, ii), (I, to_I, ji), j - i)
            if sibling_scores is not None and sibling_marginals is not None:
                between = siblings_between(i, j, multiroot)
                prefetch_siblings(sibling_scores, siblings, tokens, i + 1, j)
                flow = load(to_I, ij)
                if has_flow(flow):
                    scores = sibling_scores, siblings, (j * tokens + i) * tokens + i + 1
                    rows = (C, to_C, ji + 1), (I, to_I, ii + 1), (S, to_S, ji + 1)
                    spread_with_scores(flow, P, ij, rows, scores, between, sibling_marginals)
                flow = load(to_I, ji)
                if has_flow(flow):
                    scores = sibling_scores, siblings, (i * tokens + j) * tokens + i + 1
                    rows = (C, to_C, ij - 1), (I, to_I, ji + 1), (S, to_S, ii + 1)
                    spread_with_scores(flow, P, ji, rows, scores, between, sibling_marginals)
            flow = load(to_S, ij) + load(to_S, ji)
            if has_flow(flow):
                spread(flow, S, ij, (C, to_C, ii), (C, to_C, ji + 1), j - i)


@kernel
def inside_outside(
    batch: Batch,
    sibling_scores: Siblings,
    groups: Groups,
    log_partition: Floats,
    marginals: Floats,
    sibling_marginals: Siblings,
) -> None:
    """Fill `log_partition [batch]` and the marginals, flat like the scores, unless empty."""
    _, lengths, tokens, _ = batch
    most = most_words(lengths, groups)
    charts = new_charts(most, CELL, sibling_scores)
    flows = new_flows(most, sibling_scores)
    for group in range(len(groups)):
        members = groups[group]
        inside(batch, sibling_scores, members, charts)
        for lane in range(LANES):
            sentence = members[lane]
            log_partition[sentence] = log_value(charts[0], lengths[sentence], lane)
        if marginals.size > 0:
            outside(batch, sibling_scores, members, charts, flows, sibling_marginals)
            write_marginals(lengths[members[0]], members, tokens, flows[2], marginals)
