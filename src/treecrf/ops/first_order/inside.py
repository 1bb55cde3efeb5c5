"""The inside and outside passes over first-order trees, compiled for the CPU.

The letters are the paper's. `C[i, j]` is the complete span of head i that reaches to j, on either
side; `I[i, j]` the incomplete span of the arc i -> j; `S[i, j]`, i < j, two complete spans that
meet between i and j. `Ct[j, i]` is `C[i, j]` again, so that every sum over split points r walks
along rows. Charts are flat: cell [i, j] is number `i * (n + 1) + j`.
"""

import numpy as np

from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import LANES, Floats, Integers, gather, load, splat, store
from treecrf.ops.numba.packing import (
    Groups,
    lane_lengths,
    lane_offsets,
    most_words,
    write_marginals,
)
from treecrf.ops.numba.scaled import (
    CELL,
    exponential,
    has_flow,
    log_value,
    one,
    put,
    spread,
    sum_of_products,
    times,
    zero_unless_equal,
)

__all__ = ["Charts", "inside", "inside_outside", "new_charts"]

Charts = tuple[Floats, Floats, Floats, Floats]  # C, Ct, I, S
Flows = tuple[Floats, Floats, Floats]  # C, Ct, I: the probability that a cell is used


@kernel
def inside_outside(
    arc_scores: Floats,
    lengths: Integers,
    groups: Groups,
    tokens: int,
    multiroot: bool,
    log_partition: Floats,
    marginals: Floats,
) -> None:
    """Fills `log_partition [batch]` and, if not empty, `marginals [batch * dependent * head]`."""
    most = most_words(lengths, groups)
    charts = new_charts(most)
    flows = new_flows(most)
    for group in range(len(groups)):
        members = groups[group]
        inside(arc_scores, lengths, members, tokens, multiroot, charts)
        for lane in range(LANES):
            sentence = members[lane]
            log_partition[sentence] = log_value(charts[0], lengths[sentence], lane)
        if marginals.size > 0:
            outside(lengths, members, charts, flows)
            write_marginals(lengths[members[0]], members, tokens, flows[2], marginals)


@compiled
def new_charts(n: int) -> Charts:
    size = (n + 1) ** 2 * CELL
    return np.empty(size), np.empty(size), np.empty(size), np.empty(size)


@compiled
def new_flows(n: int) -> Flows:
    size = (n + 1) ** 2 * LANES
    return np.empty(size), np.empty(size), np.empty(size)


@compiled
def inside(
    arc_scores: Floats,
    lengths: Integers,
    members: Integers,
    tokens: int,
    multiroot: bool,
    charts: Charts,
) -> None:
    """Fills the charts of one group; Z of a sentence is `C[0, length]` in its lane."""
    C, Ct, I, S = charts
    offsets = lane_offsets(members, tokens * tokens)
    ends = lane_lengths(members, lengths)
    row = lengths[members[0]] + 1
    for j in range(row):
        put(C, j * row + j, one())
        put(Ct, j * row + j, one())
        for i in range(j - 1, -1, -1):
            ij, ji, ii = i * row + j, j * row + i, i * row + i
            # S[i, j] = sum_{i <= r < j} C[i, r] * C[j, r + 1]
            value = sum_of_products((C, ii), (C, ji + 1), j - i)
            put(S, ij, value)
            # I[i, j] = S[i, j] * w(i -> j);  I[j, i] = S[i, j] * w(j -> i)
            right = exponential(gather(arc_scores, offsets, j * tokens + i))
            left = exponential(gather(arc_scores, offsets, i * tokens + j))
            put(I, ij, times(value, right))
            put(I, ji, times(value, left))
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
def outside(lengths: Integers, members: Integers, charts: Charts, flows: Flows) -> None:
    """Passes the probability 1 of each whole sentence down to all cells of one group."""
    C, Ct, I, S = charts
    to_C, to_Ct, to_I = flows
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
            flow = load(to_C, ij) + load(to_Ct, ji)
            if has_flow(flow):
                spread(flow, C, ij, (I, to_I, ii + 1), (Ct, to_Ct, ji + 1), j - i)
            flow = load(to_C, ji) + load(to_Ct, ij)
            if has_flow(flow):
                spread(flow, C, ji, (Ct, to_Ct, ii), (I, to_I, ji), j - i)
            flow = load(to_I, ij) + load(to_I, ji)
            if has_flow(flow):
                spread(flow, S, ij, (C, to_C, ii), (C, to_C, ji + 1), j - i)
