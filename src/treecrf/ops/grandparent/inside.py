"""The inside pass with grandparents, compiled for the CPU: one sentence, its grandparents as lanes.

`C^g[i, j]` is the complete span of head i, whose own head is g, that reaches to j on either side;
`I^g[i, j]` the incomplete span of the arc i -> j; `S^h[i, j]`, i < j, two complete spans of
neighbouring children of h that meet between them. The grandparents of a cell are vectors of LANES:
block b of cell [i, j] is number `(i * (n + 1) + j) * blocks + b` of a chart. No grandparent lies
within its span, so blocks that do are left out. The root symbol as a head has the grandparent 0,
for none.

The factor of a sum that belongs to the dependent has the head as its grandparent, whatever the
head's own one is. So each sum over split points is a row of vectors times one row of numbers,
called `below`. Without sibling scores, which are None then, Numba compiles a version without S.
"""

from types import ModuleType
from typing import Any

import numpy as np

from treecrf.ops.grandparent import maxima, sums
from treecrf.ops.numba.compiling import compiled, compiled_for
from treecrf.ops.numba.lanes import LANES, Floats, Integers, load
from treecrf.ops.numba.packing import Siblings

Batch = tuple[Floats, Floats, Integers, int, bool]
"""Flat scores of arcs and grandparents, lengths, the tokens of a row of the scores, and whether
there are many roots."""

Sentence = tuple[Floats, Floats, int, int, bool]
"""The same for one sentence, with its words. Scores of siblings, flat too, are arguments of their
own, as Numba leaves out branches for arguments that are None."""

Charts = tuple[Floats, Floats, Floats]  # C, I, S
Work = tuple[Floats, Floats, Floats]
"""Numbers of `below`, scores of grandparents or siblings, and probabilities of `below`."""


@compiled
def sentence_of(batch: Batch, sentence: int) -> Sentence:
    """Scores of one sentence but those of siblings."""
    arcs, grandparents, lengths, tokens, multiroot = batch
    area, volume = tokens**2, tokens**3
    own = arcs[sentence * area : (sentence + 1) * area]
    above = grandparents[sentence * volume : (sentence + 1) * volume]
    return own, above, lengths[sentence], tokens, multiroot


@compiled
def part_of(values: Siblings, sentence: int, size: int) -> Siblings:
    """Values of one sentence of so many; none of no values."""
    if values is None:
        return None
    return values[sentence * size : (sentence + 1) * size]


@compiled
def block_count(n: int) -> int:
    """Number of blocks of LANES grandparents."""
    return (n + LANES) // LANES


@compiled
def new_charts(n: int, cell: int, siblings: Siblings) -> Charts:
    """Allocate charts, or flows, for n words with `cell` floats in a block of grandparents."""
    size = (n + 1) ** 2 * block_count(n) * cell
    return np.empty(size), np.empty(size), np.empty(0 if siblings is None else size)


@compiled
def new_work(n: int) -> Work:
    """Allocate memory for one row of a sum."""
    row = block_count(n) * LANES
    return np.zeros(2 * row), np.zeros(row), np.zeros(row * LANES)


@compiled
def is_within(block: int, i: int, j: int, n: int) -> bool:
    """Whether all grandparents of a block lie from i to j; of the root symbol, those but 0."""
    if i == 0:
        return block > 0
    return block * LANES >= i and min((block + 1) * LANES, n + 1) <= j + 1


@compiled
def grandparent_scores(sentence: Sentence, head: int, dependent: int, scores: Floats) -> bool:
    """Fill scores of an arc with each grandparent, -inf for those that it cannot have.

    False if the arc itself is impossible.
    """
    arcs, grandparents, n, tokens, _ = sentence
    arc = arcs[dependent * tokens + head]
    if arc == -np.inf:
        return False
    scores[:] = -np.inf
    if head == 0:
        scores[0] = arc
        return True
    i, j = min(head, dependent), max(head, dependent)
    first = (dependent * tokens + head) * tokens
    for g in range(i):
        if arcs[head * tokens + g] > -np.inf:
            scores[g] = arc + grandparents[first + g]
    for g in range(j + 1, n + 1):
        if arcs[head * tokens + g] > -np.inf:
            scores[g] = arc + grandparents[first + g]
    return True


@compiled
def split_points(head: int, width: int, multiroot: bool, siblings: Siblings) -> int:
    """Number of terms of I: one alone under a root symbol with one child."""
    return 1 if siblings is not None and head == 0 and not multiroot else width


def _rows_by(algebra: ModuleType) -> tuple[Any, Any]:
    """Make the functions that fill `below` for I and for C, by `sums` or `maxima`."""

    @compiled_for(algebra)
    def below_arc(
        sentence: Sentence,
        siblings: Siblings,
        charts: Charts,
        head: int,
        dependent: int,
        work: Work,
    ) -> None:
        """The factors of the terms of I[head, dependent], from left to right."""
        _, _, n, tokens, multiroot = sentence
        C, _, S = charts
        below, scores, _ = work
        row, blocks = n + 1, block_count(n)
        i, j = min(head, dependent), max(head, dependent)
        block, lane = head // LANES, head % LANES
        if siblings is None:
            # C^i[j, r + 1] or C^j[i, r], i <= r < j
            first = j * row + i + 1 if head == i else i * row + i
            algebra.read(below, 0, C, first * blocks + block, lane, blocks, j - i)
            return
        count = split_points(head, j - i, multiroot, siblings)
        first_score = (dependent * tokens + head) * tokens
        if head == i:
            # C^i[j, i + 1], then S^i[r, j] * w2(i, r, j), i < r < j
            cell, step = (i + 1) * row + j, row
            alone, place, start = j * row + i + 1, 0, 1
        else:
            # S^j[i, r] * w2(j, r, i), i < r < j, then C^j[i, j - 1]
            cell, step = i * row + i + 1, 1
            alone, place, start = i * row + j - 1, count - 1, 0
        algebra.read(below, place, C, alone * blocks + block, lane, blocks, 1)
        scores[place] = 0.0
        if count > 1:
            algebra.read(below, start, S, cell * blocks + block, lane, step * blocks, count - 1)
            for r in range(count - 1):
                scores[start + r] = siblings[first_score + i + 1 + r]
            algebra.add_scores(below, scores, count)

    @compiled_for(algebra)
    def below_last(charts: Charts, n: int, head: int, end: int, work: Work) -> None:
        """The factors of the terms of C[head, end]: C^i[r, j], i < r <= j, or C^j[r, i]."""
        row, blocks = n + 1, block_count(n)
        i, j = min(head, end), max(head, end)
        first = (i + 1) * row + j if head == i else i * row + i
        cell = first * blocks + head // LANES
        algebra.read(work[0], 0, charts[0], cell, head % LANES, row * blocks, j - i)

    return below_arc, below_last


def _inside_by(algebra: ModuleType, below_arc: Any, below_last: Any) -> Any:
    """Make the inside pass for the sums and products of a module, `sums` or `maxima`."""

    @compiled_for(algebra)
    def inside(sentence: Sentence, siblings: Siblings, charts: Charts, work: Work) -> None:
        """Fill the charts; the value of the sentence is lane 0 of block 0 of `C[0, n]`."""
        n = sentence[2]
        C, I, S = charts
        row, blocks = n + 1, block_count(n)
        for j in range(row):
            for block in range(blocks):
                algebra.put(C, (j * row + j) * blocks + block, algebra.one())
                algebra.put(I, (j * row + j) * blocks + block, algebra.one())
            for i in range(j - 1, -1, -1):
                if i > 0 and siblings is not None:
                    # S^h[i, j] = sum_{i <= r < j} C^h[i, r] * C^h[j, r + 1]
                    for block in range(blocks):
                        if not is_within(block, i, j, n):
                            left = C, (i * row + i) * blocks + block
                            right = C, (j * row + i + 1) * blocks + block
                            value = algebra.sum_of_products(left, right, j - i, blocks)
                            algebra.put(S, (i * row + j) * blocks + block, value)
                incomplete(sentence, siblings, charts, i, j, work)
                complete(sentence, charts, i, j, work)
                if i > 0:
                    incomplete(sentence, siblings, charts, j, i, work)
                    complete(sentence, charts, j, i, work)

    @compiled_for(algebra)
    def incomplete(
        sentence: Sentence,
        siblings: Siblings,
        charts: Charts,
        head: int,
        dependent: int,
        work: Work,
    ) -> None:
        """Compute I[head, dependent] for all grandparents."""
        _, _, n, _, multiroot = sentence
        C, I, _ = charts
        below, scores, _ = work
        row, blocks = n + 1, block_count(n)
        i, j = min(head, dependent), max(head, dependent)
        cell = (head * row + dependent) * blocks
        below_arc(sentence, siblings, charts, head, dependent, work)
        if not grandparent_scores(sentence, head, dependent, scores):
            for block in range(blocks):
                algebra.put(I, cell + block, algebra.zero())
            return
        count = split_points(head, j - i, multiroot, siblings)
        # I^g[i, j] = (sum_{i <= r < j} C^g[i, r] * below[r]) * w(i, j) * w(g, i, j), or with
        # siblings I^g[i, r], the first of which is 1;  I^g[j, i] with r + 1, the last of which is 1
        first = (i * row + i if head == i else j * row + i + 1) * blocks
        left = C if siblings is None else I
        for block in range(blocks):
            if not is_within(block, i, j, n):
                value = algebra.sum_below(left, first + block, blocks, below, count)
                arc = algebra.weight(load(scores, block))
                algebra.put(I, cell + block, algebra.times(value, arc))

    @compiled_for(algebra)
    def complete(sentence: Sentence, charts: Charts, head: int, end: int, work: Work) -> None:
        """Compute C[head, end] for all grandparents."""
        n, multiroot = sentence[2], sentence[4]
        C, I, _ = charts
        row, blocks = n + 1, block_count(n)
        i, j = min(head, end), max(head, end)
        cell = (head * row + end) * blocks
        if head == 0 and end < n and not multiroot:
            algebra.put(C, cell, algebra.zero())
            return
        below_last(charts, n, head, end, work)
        # C^g[i, j] = sum_{i < r <= j} I^g[i, r] * C^i[r, j]
        # C^g[j, i] = sum_{i <= r < j} I^g[j, r] * C^j[r, i]
        first = (i * row + i + 1 if head == i else j * row + i) * blocks
        for block in range(blocks):
            if not is_within(block, i, j, n):
                value = algebra.sum_below(I, first + block, blocks, work[0], j - i)
                algebra.put(C, cell + block, value)

    return inside


below_arc, below_last = _rows_by(sums)
best_below_arc, best_below_last = _rows_by(maxima)
inside = _inside_by(sums, below_arc, below_last)
inside_best = _inside_by(maxima, best_below_arc, best_below_last)
