"""Best and random trees with grandparents from the charts of `inside`, compiled for the CPU."""

from types import ModuleType
from typing import Any

import numpy as np

from treecrf.ops.grandparent import maxima, sums
from treecrf.ops.grandparent.inside import (
    Batch,
    Charts,
    Sentence,
    Work,
    below_arc,
    below_last,
    best_below_arc,
    best_below_last,
    block_count,
    inside,
    inside_best,
    new_charts,
    new_work,
    part_of,
    sentence_of,
    split_points,
)
from treecrf.ops.numba.compiling import compiled_for, kernel
from treecrf.ops.numba.lanes import LANES, Floats, Integers
from treecrf.ops.numba.packing import Siblings
from treecrf.ops.projective.inside import push


def _trees_by(algebra: ModuleType, inside: Any, below_arc: Any, below_last: Any) -> Any:
    """Make the decoder for the sums and products of a module, `sums` or `maxima`."""

    @compiled_for(algebra)
    def trees(
        batch: Batch, siblings: Siblings, sentences: Integers, chance: Floats, heads: Integers
    ) -> None:
        """Fill `heads [draw, batch, token]`, which holds -1.

        `chance [draw, batch, decision]` are uniform random numbers: two decisions for each token,
        and three with siblings. The best trees do not depend on them.
        """
        lengths, tokens = batch[2], batch[3]
        most = lengths[sentences].max()
        charts = new_charts(most, algebra.CELL, siblings)
        spans = np.empty((4, 5 * most + 1), np.int64)  # a stack that holds the spans of one tree
        for sentence in sentences:
            own, beside = sentence_of(batch, sentence), part_of(siblings, sentence, tokens**3)
            n = lengths[sentence]
            work = new_work(n)
            inside(own, beside, charts, work)
            if exists(charts[0][n * block_count(n) * algebra.CELL]):
                for k in range(len(heads)):
                    draws, tree = chance[k, sentence], heads[k, sentence]
                    backtrack(draws, own, beside, charts, spans, work, tree)

    @compiled_for(algebra)
    def exists(value: float) -> bool:
        """Whether the value of a sentence is the weight, or the score, of some tree."""
        return value > algebra.NOTHING

    @compiled_for(algebra)
    def backtrack(
        chance: Floats,
        sentence: Sentence,
        siblings: Siblings,
        charts: Charts,
        spans: Integers,
        work: Work,
        heads: Integers,
    ) -> None:
        """Write one tree: at each cell the best term, or a random one."""
        _, _, n, _, multiroot = sentence
        C, I, _ = charts
        below = work[0]
        row, blocks = n + 1, block_count(n)
        heads[:] = 0
        # The head of the head of a span is known when it is taken: spans above come first.
        depth, decisions = push(spans, 0, 0, n, 1), 0
        while depth > 0:
            depth -= 1
            head, end, complete = spans[0, depth], spans[1, depth], spans[2, depth]
            if head == end:
                continue
            i, j = min(head, end), max(head, end)
            g = heads[head]
            block, lane = g // LANES, g % LANES
            uniform = chance[decisions]
            decisions += 1
            if complete:
                # C^g[i, j] = I^g[i, r] * C^i[r, j] or C^g[j, i] = I^g[j, r] * C^j[r, i]
                below_last(charts, n, head, end, work)
                first = i * row + i + 1 if head == i else j * row + i
                cell = first * blocks + block
                r = algebra.choose(uniform, I, cell, lane, blocks, below, j - i)
                child = i + r + (1 if head == i else 0)
                heads[child] = head
                depth = push(spans, depth, child, end, 1)
                depth = push(spans, depth, head, child, 0)
                continue
            below_arc(sentence, siblings, charts, head, end, work)
            first = i * row + i if head == i else j * row + i + 1
            cell = first * blocks + block
            if siblings is None:
                # I^g[i, j] = C^g[i, r] * C^i[j, r + 1] or I^g[j, i] = C^g[j, r + 1] * C^j[i, r]
                r = i + algebra.choose(uniform, C, cell, lane, blocks, below, j - i)
                depth = push(spans, depth, i, r, 1)
                depth = push(spans, depth, j, r + 1, 1)
                continue
            # I^g[i, j] = C^i[j, i + 1] or I^g[i, r] * S^i[r, j], and I^g[j, i] likewise
            count = split_points(head, j - i, multiroot, siblings)
            r = algebra.choose(uniform, I, cell, lane, blocks, below, count)
            sibling = i + r if head == i else i + 1 + r
            if sibling == head:
                depth = push(spans, depth, end, i + 1 if head == i else j - 1, 1)
                continue
            heads[sibling] = head
            depth = push(spans, depth, head, sibling, 0)
            # S^h[i, j] = C^h[i, r] * C^h[j, r + 1]
            i, j = min(sibling, end), max(sibling, end)
            block, lane = head // LANES, head % LANES
            cell = (j * row + i + 1) * blocks + block
            algebra.read(below, 0, C, cell, lane, blocks, j - i)
            cell = (i * row + i) * blocks + block
            r = i + algebra.choose(chance[decisions], C, cell, lane, blocks, below, j - i)
            decisions += 1
            depth = push(spans, depth, i, r, 1)
            depth = push(spans, depth, j, r + 1, 1)

    return trees


_best = _trees_by(maxima, inside_best, best_below_arc, best_below_last)
_random = _trees_by(sums, inside, below_arc, below_last)


@kernel
def best_trees(
    batch: Batch, siblings: Siblings, sentences: Integers, chance: Floats, heads: Integers
) -> None:
    _best(batch, siblings, sentences, chance, heads)


@kernel
def random_trees(
    batch: Batch, siblings: Siblings, sentences: Integers, chance: Floats, heads: Integers
) -> None:
    _random(batch, siblings, sentences, chance, heads)
