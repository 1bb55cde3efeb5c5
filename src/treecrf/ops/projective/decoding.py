"""Best and random trees from the charts of `inside`, compiled for the CPU."""

from types import ModuleType
from typing import Any

import numpy as np

from treecrf.ops.numba import maxima, sums
from treecrf.ops.numba.compiling import compiled_for, kernel
from treecrf.ops.numba.lanes import LANES, Floats, Integers
from treecrf.ops.numba.packing import Batch, Groups, Siblings, most_words
from treecrf.ops.projective.inside import (
    Charts,
    inside,
    inside_best,
    new_charts,
    push,
    sentence_part,
    siblings_between,
)


def _trees_by(algebra: ModuleType, inside: Any) -> Any:
    """Make the decoder for the sums and products of a module, `sums` or `maxima`."""

    @compiled_for(algebra)
    def trees(
        batch: Batch, sibling_scores: Siblings, groups: Groups, chance: Floats, heads: Integers
    ) -> None:
        """Fill `heads [draw, batch, token]`, which holds -1.

        `chance [draw, batch, decision]` are uniform random numbers: two decisions for each token,
        and three with siblings. The best trees do not depend on them.
        """
        _, lengths, tokens, multiroot = batch
        most = most_words(lengths, groups)
        charts = new_charts(most, algebra.CELL, sibling_scores)
        spans = np.empty((4, 5 * most + 1), np.int64)  # a stack that holds the spans of one tree
        for group in range(len(groups)):
            members = groups[group]
            inside(batch, sibling_scores, members, charts)
            row = lengths[members[0]] + 1
            for lane in range(LANES):
                sentence = members[lane]
                place = row, lengths[sentence], lane
                if algebra.exists(charts[0], lengths[sentence], lane):
                    scores = sentence_part(sibling_scores, sentence, tokens)
                    for k in range(len(heads)):
                        draws, tree = chance[k, sentence], heads[k, sentence]
                        backtrack(draws, charts, place, spans, scores, multiroot, tree)

    @compiled_for(algebra)
    def backtrack(
        chance: Floats,
        charts: Charts,
        place: tuple[int, int, int],
        spans: Integers,
        sibling_scores: Siblings,
        multiroot: bool,
        heads: Integers,
    ) -> None:
        """Write one tree: at each cell the best term, or a random one."""
        C, Ct, I, P, S = charts
        row, n, lane = place
        tokens = len(heads)
        heads[:] = 0
        depth, decisions = push(spans, 0, 0, n, 1), 0
        while depth > 0:
            depth -= 1
            head, end, complete = spans[0, depth], spans[1, depth], spans[2, depth]
            if head == end:
                continue
            i, j = min(head, end), max(head, end)
            ii, ij, ji = i * row + i, i * row + j, j * row + i
            if complete:
                uniform = chance[decisions]
                decisions += 1
                # C[i, j] = I[i, r] * C[r, j] or C[j, i] = C[r, i] * I[j, r]
                if head < end:
                    r = algebra.choose(uniform, (C, ij), (I, ii + 1), (Ct, ji + 1), j - i, lane)
                    child = i + 1 + r
                else:
                    r = algebra.choose(uniform, (C, ji), (Ct, ii), (I, ji), j - i, lane)
                    child = i + r
                depth = push(spans, depth, child, end, 1)
                depth = push(spans, depth, head, child, 0)
                continue
            heads[end] = head
            if sibling_scores is not None:
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
                r = algebra.choose_with_scores(chance[decisions], rows, scores, lane)
                decisions += 1
                if r < 0:
                    depth = push(spans, depth, end, neighbour, 1)
                    continue
                sibling = i + 1 + r
                depth = push(spans, depth, head, sibling, 0)
                i, j = min(sibling, end), max(sibling, end)
                ii, ij, ji = i * row + i, i * row + j, j * row + i
            # S[i, j] = C[i, r] * C[j, r + 1]
            r = algebra.choose(chance[decisions], (S, ij), (C, ii), (C, ji + 1), j - i, lane)
            decisions += 1
            depth = push(spans, depth, i, i + r, 1)
            depth = push(spans, depth, j, i + r + 1, 1)

    return trees


_best, _random = _trees_by(maxima, inside_best), _trees_by(sums, inside)


@kernel
def best_trees(
    batch: Batch, sibling_scores: Siblings, groups: Groups, chance: Floats, heads: Integers
) -> None:
    _best(batch, sibling_scores, groups, chance, heads)


@kernel
def random_trees(
    batch: Batch, sibling_scores: Siblings, groups: Groups, chance: Floats, heads: Integers
) -> None:
    _random(batch, sibling_scores, groups, chance, heads)
