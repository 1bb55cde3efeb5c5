"""The outside pass with grandparents, the derivative of `inside`, compiled for the CPU."""

import numpy as np

from treecrf.ops.grandparent import sums
from treecrf.ops.grandparent.inside import (
    Batch,
    Charts,
    Sentence,
    Work,
    below_arc,
    below_last,
    block_count,
    grandparent_scores,
    inside,
    new_charts,
    new_work,
    part_of,
    sentence_of,
    split_points,
)
from treecrf.ops.grandparent.sums import spread_below
from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import LANES, Floats, Integers, lane_total, load, splat, store
from treecrf.ops.numba.packing import Siblings
from treecrf.ops.numba.scaled import exponent
from treecrf.ops.numba.sums import has_flow, log_value, share, spread

Flows = tuple[Floats, Floats, Floats]
"""The probabilities that the cells of C, I and S are used, one vector a block of grandparents."""


@compiled
def outside(
    sentence: Sentence,
    siblings: Siblings,
    charts: Charts,
    flows: Flows,
    work: Work,
    marginals: Floats,
    grandparent_marginals: Floats,
    sibling_marginals: Siblings,
) -> None:
    """Pass the probability 1 of the sentence down to all cells, and write the marginals.

    They are flat like the scores; those of grandparents and siblings may be empty.
    """
    n, tokens = sentence[2], sentence[3]
    C, _, S = charts
    to_C, to_I, to_S = flows
    row, blocks = n + 1, block_count(n)
    for cell in range(row * row * blocks):
        store(to_C, cell, splat(0.0))
        store(to_I, cell, splat(0.0))
        if siblings is not None:
            store(to_S, cell, splat(0.0))
    to_C[n * blocks * LANES] = 1.0
    for j in range(n, 0, -1):
        for i in range(j):
            for head, end in ((i, j), (j, i)):
                if head > 0 and end == 0:
                    continue
                share_complete(charts, flows, n, head, end, work)
                cell = (head * row + end) * blocks
                total = 0.0
                for g in range(n + 1):
                    total += to_I[cell * LANES + g]
                if total == 0.0:
                    continue
                arc = end * tokens + head
                marginals[arc] = total
                if grandparent_marginals.size > 0 and head > 0:
                    for g in range(n + 1):
                        grandparent_marginals[arc * tokens + g] = to_I[cell * LANES + g]
                share_incomplete(
                    sentence, siblings, charts, flows, head, end, work, sibling_marginals
                )
            if i > 0 and siblings is not None:
                for block in range(blocks):
                    flow = load(to_S, (i * row + j) * blocks + block)
                    if has_flow(flow):
                        cell = (i * row + j) * blocks + block
                        left = C, to_C, (i * row + i) * blocks + block
                        right = C, to_C, (j * row + i + 1) * blocks + block
                        spread(flow, S, cell, left, right, j - i, blocks)


@compiled
def share_complete(charts: Charts, flows: Flows, n: int, head: int, end: int, work: Work) -> None:
    """Pass the probability of C[head, end] on to its terms."""
    C, I, _ = charts
    to_C, to_I, _ = flows
    below, _, shares = work
    row, blocks = n + 1, block_count(n)
    i, j = min(head, end), max(head, end)
    cell = (head * row + end) * blocks
    first = (i * row + i + 1 if head == i else j * row + i) * blocks
    used = False
    for block in range(blocks):
        flow = load(to_C, cell + block)
        if has_flow(flow):
            if not used:
                used = True
                below_last(charts, n, head, end, work)
                shares[: (j - i) * LANES] = 0.0
            part, unit = share(flow, C, cell + block), exponent(C, cell + block)
            spread_below(part, unit, (I, to_I, first + block), blocks, below, shares, j - i)
    if used:
        first = (i + 1) * row + j if head == i else i * row + i
        for r in range(j - i):
            to_C[(first + r * row) * blocks * LANES + head] += lane_total(load(shares, r))


@compiled
def share_incomplete(
    sentence: Sentence,
    siblings: Siblings,
    charts: Charts,
    flows: Flows,
    head: int,
    dependent: int,
    work: Work,
    sibling_marginals: Siblings,
) -> None:
    """Pass the probability of I[head, dependent] on to its terms."""
    _, _, n, tokens, multiroot = sentence
    C, I, _ = charts
    to_C, to_I, to_S = flows
    below, scores, shares = work
    row, blocks = n + 1, block_count(n)
    i, j = min(head, dependent), max(head, dependent)
    cell = (head * row + dependent) * blocks
    count = split_points(head, j - i, multiroot, siblings)
    shares[: count * LANES] = 0.0
    below_arc(sentence, siblings, charts, head, dependent, work)
    grandparent_scores(sentence, head, dependent, scores)
    first = (i * row + i if head == i else j * row + i + 1) * blocks
    for block in range(blocks):
        flow = load(to_I, cell + block)
        if has_flow(flow):
            # The sum without the score of the arc and its grandparent is I / w.
            weight = sums.weight(load(scores, block))
            part = share(flow, I, cell + block) * weight[0]
            unit = exponent(I, cell + block) - weight[1]
            left = (C, to_C, first + block) if siblings is None else (I, to_I, first + block)
            spread_below(part, unit, left, blocks, below, shares, count)
    if siblings is None:
        first = j * row + i + 1 if head == i else i * row + i
        for r in range(count):
            to_C[(first + r) * blocks * LANES + head] += lane_total(load(shares, r))
        return
    if head == i:
        cell, step, alone, place, start = (i + 1) * row + j, row, j * row + i + 1, 0, 1
    else:
        cell, step, alone, place, start = i * row + i + 1, 1, i * row + j - 1, count - 1, 0
    to_C[alone * blocks * LANES + head] += lane_total(load(shares, place))
    for r in range(count - 1):
        flow_of_pair = lane_total(load(shares, start + r))
        to_S[(cell + r * step) * blocks * LANES + head] += flow_of_pair
        if sibling_marginals is not None and sibling_marginals.size > 0:
            sibling_marginals[(dependent * tokens + head) * tokens + i + 1 + r] = flow_of_pair


@kernel
def inside_outside(
    batch: Batch,
    siblings: Siblings,
    sentences: Integers,
    log_partition: Floats,
    marginals: Floats,
    grandparent_marginals: Floats,
    sibling_marginals: Siblings,
) -> None:
    """Fill `log_partition [batch]` and the marginals, flat like the scores, unless empty."""
    lengths, tokens = batch[2], batch[3]
    area, volume = tokens**2, tokens**3
    most = lengths[sentences].max()
    charts = new_charts(most, sums.CELL, siblings)
    if marginals.size > 0:
        flows = new_charts(most, LANES, siblings)
    else:
        flows = new_charts(0, LANES, siblings)
    for sentence in sentences:
        own = sentence_of(batch, sentence)
        beside = part_of(siblings, sentence, volume)
        n = lengths[sentence]
        work = new_work(n)
        inside(own, beside, charts, work)
        log_partition[sentence] = log_value(charts[0], n * block_count(n), 0)
        if marginals.size > 0 and log_partition[sentence] > -np.inf:
            arcs = marginals[sentence * area : (sentence + 1) * area]
            above = grandparent_marginals[sentence * volume : (sentence + 1) * volume]
            pairs = part_of(sibling_marginals, sentence, volume)
            outside(own, beside, charts, flows, work, arcs, above, pairs)
