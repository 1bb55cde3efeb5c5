"""The outside pass over the charts of `spans`, its derivative, compiled for the CPU."""

import math

import numpy as np

from treecrf.ops.grandparent.inside import (
    Batch,
    Sentence,
    block_count,
    new_charts,
    part_of,
    sentence_of,
    split_points,
)
from treecrf.ops.grandparent.outside import Flows
from treecrf.ops.grandparent.spans.inside import (
    Spans,
    blocks_within,
    inside,
    new_spans,
    pair_factors,
)
from treecrf.ops.numba.compiling import borrowing, inlined, kernel
from treecrf.ops.numba.lanes import (
    LANES,
    Floats,
    Integers,
    any_above,
    lane_total,
    load,
    maximum,
    splat,
    store,
)
from treecrf.ops.numba.packing import Siblings

TINY = 2.0**-1000  # below all sums but zero


@borrowing
def outside(
    sentence: Sentence,
    siblings: Siblings,
    spans: Spans,
    flows: Flows,
    marginals: Floats,
    grandparent_marginals: Floats,
    sibling_marginals: Siblings,
) -> None:
    """Pass the probability 1 of the sentence down to all cells, and write the marginals.

    They are flat like the scores; those of grandparents and siblings may be empty.
    """
    n, tokens = sentence[2], sentence[3]
    to_C, to_I, _ = flows
    row, blocks = n + 1, block_count(n)
    for flow in flows:
        flow[: row * row * blocks * LANES] = 0.0
    to_C[n * blocks * LANES] = 1.0
    for j in range(n, 0, -1):
        for i in range(j):
            for head, end in ((i, j), (j, i)):
                if end == 0:
                    continue
                share_complete(spans, flows, n, head, end)
                cell, total = (head * row + end) * blocks, splat(0.0)
                for block in range(cell, cell + blocks):
                    total = total + load(to_I, block)
                if not any_above(total, 0.0):
                    continue
                arc = end * tokens + head
                marginals[arc] = lane_total(total)
                if grandparent_marginals.size > 0 and head > 0:
                    for g in range(n + 1):
                        grandparent_marginals[arc * tokens + g] = to_I[cell * LANES + g]
                share_incomplete(sentence, siblings, spans, flows, head, end, sibling_marginals)
            if i > 0 and siblings is not None:
                share_pairs(spans, flows, n, i, j)


@inlined
def parts_of(
    spans: Spans, flow: Floats, sums: Floats, cell: int, within: tuple[int, int], n: int
) -> bool:
    """Fill `scores` with the probabilities of a cell over its sums; False if all are 0."""
    low, high = within
    blocks, most = block_count(n), splat(0.0)
    for index in range(blocks - high + low):
        block = index if index < low else index + high - low
        own = load(flow, cell * blocks + block)
        value = maximum(load(sums, cell * blocks + block), splat(TINY))
        store(spans.scores, block, own / value)
        most = maximum(own, most)
    return any_above(most, 0.0)


@inlined
def spread(
    spans: Spans,
    row: tuple[Floats, Floats, int],
    within: tuple[int, int],
    n: int,
    factors: Floats,
    at: int,
    count: int,
) -> None:
    """Pass the parts in `scores` on to the terms of a sum.

    The probabilities of its factors, which all grandparents share, are left in `numbers`.
    """
    chart, to_chart, first = row
    low, high = within
    blocks = block_count(n)
    for r in range(count):
        factor, share = splat(factors[at + r]), splat(0.0)
        for index in range(blocks - high + low):
            block = index if index < low else index + high - low
            term = load(spans.scores, block) * load(chart, (first + r) * blocks + block)
            to = (first + r) * blocks + block
            store(to_chart, to, load(to_chart, to) + term * factor)
            share = share + term
        spans.numbers[r] = lane_total(share) * factors[at + r]


@inlined
def share_complete(spans: Spans, flows: Flows, n: int, head: int, end: int) -> None:
    """Pass the probability of C[head, end] on to its terms."""
    to_C, to_I, _ = flows
    row, blocks = n + 1, block_count(n)
    i, j = min(head, end), max(head, end)
    cell, within = head * row + end, blocks_within(head, i, j, n)
    if not parts_of(spans, to_C, spans.C[0], cell, within, n):
        return
    first = i * row + i + 1 if head == i else j * row + i
    terms = (spans.I[0], to_I, first)
    spread(spans, terms, within, n, spans.C_factors, cell * blocks * LANES, j - i)
    first = (i + 1) * row + j if head == i else i * row + i
    for r in range(j - i):
        to_C[(first + r * row) * blocks * LANES + head] += spans.numbers[r]


@inlined
def share_incomplete(
    sentence: Sentence,
    siblings: Siblings,
    spans: Spans,
    flows: Flows,
    head: int,
    dependent: int,
    sibling_marginals: Siblings,
) -> None:
    """Pass the probability of I[head, dependent] on to its terms."""
    _, _, n, tokens, multiroot = sentence
    to_C, to_I, to_S = flows
    row, blocks = n + 1, block_count(n)
    width = blocks * LANES
    i, j = min(head, dependent), max(head, dependent)
    cell, within = head * row + dependent, blocks_within(head, i, j, n)
    count = split_points(head, j - i, multiroot, siblings)
    parts_of(spans, to_I, spans.sums, cell, within, n)
    first = i * row + i if head == i else j * row + i + 1
    terms = (spans.C[0], to_C, first) if siblings is None else (spans.I[0], to_I, first)
    spread(spans, terms, within, n, spans.I_factors, cell * width, count)
    if siblings is None:
        first = j * row + i + 1 if head == i else i * row + i
        for r in range(count):
            to_C[(first + r) * width + head] += spans.numbers[r]
        return
    if head == i:
        cell, step, alone, place, start = (i + 1) * row + j, row, j * row + i + 1, 0, 1
    else:
        cell, step, alone, place, start = i * row + i + 1, 1, i * row + j - 1, count - 1, 0
    to_C[alone * width + head] += spans.numbers[place]
    for r in range(count - 1):
        to_S[(cell + r * step) * width + head] += spans.numbers[start + r]
        if sibling_marginals is not None and sibling_marginals.size > 0:
            at = (dependent * tokens + head) * tokens + i + 1 + r
            sibling_marginals[at] = spans.numbers[start + r]


@inlined
def share_pairs(spans: Spans, flows: Flows, n: int, i: int, j: int) -> None:
    """Pass the probability of S[i, j] on to its terms."""
    C, to_C = spans.C[0], flows[0]
    row, blocks = n + 1, block_count(n)
    low, high = blocks_within(i, i, j, n)
    if not parts_of(spans, flows[2], spans.S[0], i * row + j, (low, high), n):
        return
    pair_factors(spans, n, i, j)
    for r in range(j - i):
        factor = splat(spans.numbers[r])
        for index in range(blocks - high + low):
            block = index if index < low else index + high - low
            left, right = (i * row + i + r) * blocks + block, (j * row + i + 1 + r) * blocks + block
            term = load(spans.scores, block) * load(C, left) * load(C, right) * factor
            store(to_C, left, load(to_C, left) + term)
            store(to_C, right, load(to_C, right) + term)


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
    """Fill `log_partition [batch]` and the marginals, flat like the scores, unless empty.

    log Z is NaN, and there are no marginals, where `spans` cannot compute a sentence.
    """
    lengths, tokens = batch[2], batch[3]
    area, volume = tokens**2, tokens**3
    most = lengths[sentences].max()
    spans = new_spans(most, siblings)
    flows = new_charts(most if marginals.size > 0 else 0, LANES, siblings)
    for sentence in sentences:
        own, beside = sentence_of(batch, sentence), part_of(siblings, sentence, volume)
        n = lengths[sentence]
        whole = n * block_count(n) * LANES
        if not inside(own, beside, spans):
            log_partition[sentence] = np.nan
            continue
        value = spans.C[0][whole]
        log_partition[sentence] = -np.inf
        if value > 0.0:
            log_partition[sentence] = (math.log2(value) + spans.C[1][n]) * math.log(2.0)
            if marginals.size > 0:
                arcs = marginals[sentence * area : (sentence + 1) * area]
                above = grandparent_marginals[sentence * volume : (sentence + 1) * volume]
                pairs = part_of(sibling_marginals, sentence, volume)
                outside(own, beside, spans, flows, arcs, above, pairs)
