"""Best and random trees from the charts of `inside`, compiled for the CPU."""

from types import ModuleType
from typing import Any

import numpy as np

from treecrf.ops.numba import maxima, sums
from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import LANES, Floats, Integers
from treecrf.ops.numba.packing import Groups, most_words
from treecrf.ops.projective.inside import Charts, inside, inside_best, new_charts, siblings_between

__all__ = ["best_trees", "random_trees"]


def _trees_by(algebra: ModuleType, inside: Any) -> Any:
    """Make the decoder for the sums and products of a module, `sums` or `maxima`."""

    @compiled
    def trees(
        arc_scores: Floats,
        sibling_scores: Floats | None,
        lengths: Integers,
        groups: Groups,
        tokens: int,
        multiroot: bool,
        chance: Floats,
        heads: Integers,
    ) -> None:
        most = most_words(lengths, groups)
        charts = new_charts(most, algebra.CELL, sibling_scores)
        # A stack that holds the spans of one tree: a row of heads, of ends, and of kinds.
        spans = np.empty((3, 5 * most + 1), np.int64)
        for group in range(len(groups)):
            members = groups[group]
            inside(arc_scores, sibling_scores, lengths, members, tokens, multiroot, charts)
            row = lengths[members[0]] + 1
            for lane in range(LANES):
                sentence = members[lane]
                n = lengths[sentence]
                if algebra.exists(charts[0], n, lane):
                    scores = sentence_part(sibling_scores, sentence, tokens)
                    for k in range(len(heads)):
                        backtrack(
                            chance[k, sentence],
                            charts,
                            row,
                            n,
                            lane,
                            spans,
                            scores,
                            multiroot,
                            heads[k, sentence],
                        )

    @compiled
    def backtrack(
        chance: Floats,
        charts: Charts,
        row: int,
        n: int,
        lane: int,
        spans: Integers,
        sibling_scores: Floats | None,
        multiroot: bool,
        heads: Integers,
    ) -> None:
        """Write one tree: at each cell the best term, or a random one."""
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
            if complete[depth]:
                uniform = chance[decisions]
                decisions += 1
                # C[i, j] = I[i, r] * C[r, j] or C[j, i] = C[r, i] * I[j, r]
                if head < end:
                    r = algebra.choose(uniform, (C, ij), (I, ii + 1), (Ct, ji + 1), j - i, lane)
                    child = i + 1 + r
                else:
                    r = algebra.choose(uniform, (C, ji), (Ct, ii), (I, ji), j - i, lane)
                    child = i + r
                span_heads[depth], span_ends[depth], complete[depth] = child, end, 1
                span_heads[depth + 1], span_ends[depth + 1], complete[depth + 1] = head, child, 0
                depth += 2
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
                    span_heads[depth], span_ends[depth], complete[depth] = end, neighbour, 1
                    depth += 1
                    continue
                sibling = i + 1 + r
                span_heads[depth], span_ends[depth], complete[depth] = head, sibling, 0
                depth += 1
                i, j = min(sibling, end), max(sibling, end)
                ii, ij, ji = i * row + i, i * row + j, j * row + i
            # S[i, j] = C[i, r] * C[j, r + 1]
            r = algebra.choose(chance[decisions], (S, ij), (C, ii), (C, ji + 1), j - i, lane)
            decisions += 1
            span_heads[depth], span_ends[depth], complete[depth] = i, i + r, 1
            span_heads[depth + 1], span_ends[depth + 1], complete[depth + 1] = j, i + r + 1, 1
            depth += 2

    return trees


@compiled
def sentence_part(sibling_scores: Floats | None, sentence: int, tokens: int) -> Floats | None:
    """Sibling scores of one sentence."""
    if sibling_scores is None:
        return None
    return sibling_scores[sentence * tokens**3 : (sentence + 1) * tokens**3]


_best, _random = _trees_by(maxima, inside_best), _trees_by(sums, inside)


@kernel
def best_trees(
    arc_scores: Floats,
    sibling_scores: Floats | None,
    lengths: Integers,
    groups: Groups,
    tokens: int,
    multiroot: bool,
    chance: Floats,
    heads: Integers,
) -> None:
    """Fill `heads [1, batch, token]`, which holds -1; `chance` is as for random trees."""
    _best(arc_scores, sibling_scores, lengths, groups, tokens, multiroot, chance, heads)


@kernel
def random_trees(
    arc_scores: Floats,
    sibling_scores: Floats | None,
    lengths: Integers,
    groups: Groups,
    tokens: int,
    multiroot: bool,
    chance: Floats,
    heads: Integers,
) -> None:
    """Fill `heads [draw, batch, token]`, which holds -1.

    `chance [draw, batch, decision]` are uniform random numbers: two decisions for each token, and
    three with siblings.
    """
    _random(arc_scores, sibling_scores, lengths, groups, tokens, multiroot, chance, heads)
