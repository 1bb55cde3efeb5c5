"""The inside and outside passes over second-order trees, compiled for the CPU.

The letters are the paper's. `C[i, j]` is the complete span of head i that reaches to j, on either
side; `I[i, j]` the incomplete span of the arc i -> j, and `P[i, j]` the same without the score of
the arc; `S[i, j]` = `S[j, i]` two complete spans that meet between i and j. `Ct[j, i]` is `C[i, j]`
again, so that every sum over split points r walks along rows. Charts are flat: cell [i, j] is
number `i * (n + 1) + j`. The sibling score of head h, sibling r and dependent d is
`sibling_scores[d, h, r]`, and w2(h, r, d) its exponential.
"""

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
    prefetch,
    scatter,
    splat,
    store,
)
from treecrf.ops.numba.packing import (
    Groups,
    lane_lengths,
    lane_offsets,
    most_words,
    write_marginals,
)
from treecrf.ops.numba.scaled import (
    CELL,
    FlowRow,
    Row,
    Scaled,
    add,
    exponent,
    exponential,
    has_flow,
    log_value,
    mantissa,
    normalised,
    one,
    pow2,
    put,
    share,
    spread,
    sum_of_products,
    times,
    zero_unless_equal,
)

__all__ = [
    "Charts",
    "ScoreRow",
    "inside",
    "inside_outside",
    "new_charts",
    "prefetch_siblings",
    "siblings_between",
]

ScoreRow = tuple[Floats, Vector, int]  # flat scores, the lanes' offsets, the first of the row
Charts = tuple[Floats, Floats, Floats, Floats, Floats]  # C, Ct, I, P, S
Flows = tuple[Floats, Floats, Floats, Floats]  # C, Ct, I, S: the probability that a cell is used


@kernel
def inside_outside(
    arc_scores: Floats,
    sibling_scores: Floats,
    lengths: Integers,
    groups: Groups,
    tokens: int,
    multiroot: bool,
    log_partition: Floats,
    marginals: Floats,
    sibling_marginals: Floats,
) -> None:
    """Fills `log_partition [batch]` and those marginals that are not empty.

    All arrays are flat: `[batch * dependent * head]` and `[batch * dependent * head * sibling]`.
    """
    most = most_words(lengths, groups)
    charts = new_charts(most)
    flows = new_flows(most)
    for group in range(len(groups)):
        members = groups[group]
        inside(arc_scores, sibling_scores, lengths, members, tokens, multiroot, charts)
        for lane in range(LANES):
            sentence = members[lane]
            log_partition[sentence] = log_value(charts[0], lengths[sentence], lane)
        if marginals.size > 0:
            outside(
                sibling_scores,
                lengths,
                members,
                tokens,
                multiroot,
                charts,
                flows,
                sibling_marginals,
            )
            write_marginals(lengths[members[0]], members, tokens, flows[2], marginals)


@compiled
def new_charts(n: int) -> Charts:
    size = (n + 1) ** 2 * CELL
    return np.empty(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size)


@compiled
def new_flows(n: int) -> Flows:
    size = (n + 1) ** 2 * LANES
    return np.empty(size), np.empty(size), np.empty(size), np.empty(size)


@compiled
def inside(
    arc_scores: Floats,
    sibling_scores: Floats,
    lengths: Integers,
    members: Integers,
    tokens: int,
    multiroot: bool,
    charts: Charts,
) -> None:
    """Fills the charts of one group; Z of a sentence is `C[0, length]` in its lane."""
    C, Ct, I, P, S = charts
    arcs = lane_offsets(members, tokens**2)
    siblings = lane_offsets(members, tokens**3)
    ends = lane_lengths(members, lengths)
    row = lengths[members[0]] + 1
    terms = np.empty(row * CELL)
    for j in range(row):
        put(C, j * row + j, one())
        put(Ct, j * row + j, one())
        for i in range(j - 1, -1, -1):
            ij, ji, ii = i * row + j, j * row + i, i * row + i
            between = siblings_between(i, j, multiroot)
            prefetch_siblings(sibling_scores, siblings, tokens, i - 1, j)
            # P[i, j] = C[j, i + 1] + sum_{i < r < j} I[i, r] * S[r, j] * w2(i, r, j)
            scores = sibling_scores, siblings, (j * tokens + i) * tokens + i + 1
            value = sibling_sum((C, ji + 1), (I, ii + 1), (S, ji + 1), scores, between, terms)
            put(P, ij, value)
            # I[i, j] = P[i, j] * w(i -> j)
            put(I, ij, times(value, exponential(gather(arc_scores, arcs, j * tokens + i))))
            # P[j, i] = C[i, j - 1] + sum_{i < r < j} I[j, r] * S[i, r] * w2(j, r, i)
            scores = sibling_scores, siblings, (i * tokens + j) * tokens + i + 1
            value = sibling_sum((C, ij - 1), (I, ji + 1), (S, ii + 1), scores, between, terms)
            put(P, ji, value)
            # I[j, i] = P[j, i] * w(j -> i)
            put(I, ji, times(value, exponential(gather(arc_scores, arcs, i * tokens + j))))
            # S[i, j] = sum_{i <= r < j} C[i, r] * C[j, r + 1]
            value = sum_of_products((C, ii), (C, ji + 1), j - i)
            put(S, ij, value)
            put(S, ji, value)
            # C[i, j] = sum_{i < r <= j} I[i, r] * C[r, j]
            value = sum_of_products((I, ii + 1), (Ct, ji + 1), j - i)
            if i == 0 and not multiroot:
                # The only word on the root symbol has the whole sentence to its right.
                value = zero_unless_equal(ends, j, value)
            put(C, ij, value)
            put(Ct, ji, value)
            # C[j, i] = sum_{i <= r < j} C[r, i] * I[j, r]
            value = sum_of_products((Ct, ii), (I, ji), j - i)
            put(C, ji, value)
            put(Ct, ij, value)


@compiled
def siblings_between(i: int, j: int, multiroot: bool) -> int:
    """How many words may be a sibling of i or j under the other; none where it has one child."""
    return 0 if i == 0 and not multiroot else j - i - 1


@compiled
def prefetch_siblings(sibling_scores: Floats, offsets: Vector, tokens: int, i: int, j: int) -> None:
    """Asks for the sibling scores of the span that comes next; they would not be in a cache."""
    line = 64 // sibling_scores.itemsize
    for r in range(i + 1, j if i >= 0 else 0, line):
        prefetch(sibling_scores, offsets, (j * tokens + i) * tokens + r)
        prefetch(sibling_scores, offsets, (i * tokens + j) * tokens + r)


@compiled
def sibling_sum(
    alone: Row, left: Row, right: Row, scores: ScoreRow, count: int, terms: Floats
) -> Scaled:
    """alone[0] and the sum over r < count of left[r] * right[r] * exp(scores[r])."""
    C, c = alone
    I, a = left
    S, b = right
    sibling_scores, offsets, first = scores
    top = exponent(C, c)
    for r in range(count):
        weight = exponential(gather(sibling_scores, offsets, first + r))
        whole = exponent(I, a + r) + exponent(S, b + r) + weight[1]
        put(terms, r, (mantissa(I, a + r) * mantissa(S, b + r) * weight[0], whole))
        top = maximum(whole, top)
    total = mantissa(C, c) * pow2(exponent(C, c) - top)
    for r in range(count):
        total = total + mantissa(terms, r) * pow2(exponent(terms, r) - top)
    return normalised(total, top)


@compiled
def outside(
    sibling_scores: Floats,
    lengths: Integers,
    members: Integers,
    tokens: int,
    multiroot: bool,
    charts: Charts,
    flows: Flows,
    sibling_marginals: Floats,
) -> None:
    """Passes the probability 1 of each whole sentence down to all cells of one group."""
    C, Ct, I, P, S = charts
    to_C, to_Ct, to_I, to_S = flows
    siblings = lane_offsets(members, tokens**3)
    row = lengths[members[0]] + 1
    for cell in range(row * row):
        for flow in flows:
            store(flow, cell, splat(0.0))
    for lane in range(LANES):
        end = lengths[members[lane]]
        to_C[end * LANES + lane] = 1.0 if C[end * CELL + lane] > 0.0 else 0.0
    for j in range(row - 1, 0, -1):
        for i in range(j):
            ij, ji, ii = i * row + j, j * row + i, i * row + i
            between = siblings_between(i, j, multiroot)
            prefetch_siblings(sibling_scores, siblings, tokens, i + 1, j)
            flow = load(to_C, ij) + load(to_Ct, ji)
            if has_flow(flow):
                spread(flow, C, ij, (I, to_I, ii + 1), (Ct, to_Ct, ji + 1), j - i)
            flow = load(to_C, ji) + load(to_Ct, ij)
            if has_flow(flow):
                spread(flow, C, ji, (Ct, to_Ct, ii), (I, to_I, ji), j - i)
            flow = load(to_I, ij)
            if has_flow(flow):
                scores = sibling_scores, siblings, (j * tokens + i) * tokens + i + 1
                rows = (C, to_C, ji + 1), (I, to_I, ii + 1), (S, to_S, ji + 1)
                sibling_spread(flow, P, ij, rows, scores, between, sibling_marginals)
            flow = load(to_I, ji)
            if has_flow(flow):
                scores = sibling_scores, siblings, (i * tokens + j) * tokens + i + 1
                rows = (C, to_C, ij - 1), (I, to_I, ji + 1), (S, to_S, ii + 1)
                sibling_spread(flow, P, ji, rows, scores, between, sibling_marginals)
            flow = load(to_S, ij) + load(to_S, ji)
            if has_flow(flow):
                spread(flow, S, ij, (C, to_C, ii), (C, to_C, ji + 1), j - i)


@compiled
def sibling_spread(
    flow: Vector,
    chart: Floats,
    cell: int,
    rows: tuple[FlowRow, FlowRow, FlowRow],
    scores: ScoreRow,
    count: int,
    sibling_marginals: Floats,
) -> None:
    """Passes the probability of a `sibling_sum` on to the cells that it was made of."""
    C, to_C, c = rows[0]
    I, to_I, a = rows[1]
    S, to_S, b = rows[2]
    sibling_scores, offsets, first = scores
    part, unit = share(flow, chart, cell), exponent(chart, cell)
    add(to_C, c, part * mantissa(C, c) * pow2(exponent(C, c) - unit))
    for r in range(count):
        weight = exponential(gather(sibling_scores, offsets, first + r))
        scale = pow2(exponent(I, a + r) + exponent(S, b + r) + weight[1] - unit)
        term = part * mantissa(I, a + r) * mantissa(S, b + r) * weight[0] * scale
        add(to_I, a + r, term)
        add(to_S, b + r, term)
        if sibling_marginals.size > 0:
            scatter(sibling_marginals, offsets, first + r, term)
