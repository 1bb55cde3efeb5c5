"""Maxima of sums of scores in compiled code, and their arguments.

The functions are those of `sums`, so that one inside pass computes with either: a cell is one
vector of scores, a product is a sum, and a sum is a maximum.
"""

import numpy as np

from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numba.lanes import (
    LANES,
    Floats,
    Row,
    ScoreRow,
    Vector,
    gather,
    load,
    maximum,
    select_equal,
    splat,
    store,
)

CELL = LANES  # floats in one cell of a chart

put = store


@compiled
def one() -> Vector:
    return splat(0.0)


@compiled
def weight(score: Vector) -> Vector:
    return score


@compiled
def times(value: Vector, weight: Vector) -> Vector:
    """value + weight; -inf where the weight is, whatever the value."""
    return select_equal(weight, -np.inf, weight, value + weight)


@compiled
def zero_unless_equal(keys: Vector, key: int, value: Vector) -> Vector:
    """Keep the value in the lanes whose key is `key`; -inf in the rest."""
    return select_equal(keys, key, value, splat(-np.inf))


@compiled
def exists(chart: Floats, cell: int, lane: int) -> bool:
    """Whether a cell is not -inf in one lane."""
    return chart[cell * CELL + lane] > -np.inf


@compiled
def sum_of_products(left: Row, right: Row, count: int, stride: int = 1) -> Vector:
    """max_{r < count} left[r * stride] + right[r * stride]"""
    A, a = left
    B, b = right
    best = load(A, a) + load(B, b)
    for r in range(1, count):
        best = maximum(load(A, a + r * stride) + load(B, b + r * stride), best)
    return best


@compiled
def sum_with_scores(
    alone: Row, left: Row, right: Row, scores: ScoreRow, count: int, _: Floats
) -> Vector:
    """Maximum of alone[0] and left[r] + right[r] + scores[r], r < count."""
    A, a = left
    B, b = right
    values, offsets, first = scores
    best = load(alone[0], alone[1])
    for r in range(count):
        score = gather(values, offsets, first + r)
        # A score that no tree uses may be NaN, which is never the larger one.
        best = maximum(load(A, a + r) + load(B, b + r) + score, best)
    return best


@compiled
def choose(_: float, parent: Row, left: Row, right: Row, count: int, lane: int) -> int:
    """Best r of a `sum_of_products`, in one lane."""
    chart, cell = parent
    A, a = left
    B, b = right
    for r in range(count):
        if A[(a + r) * LANES + lane] + B[(b + r) * LANES + lane] == chart[cell * LANES + lane]:
            return r
    return 0


@compiled
def choose_with_scores(_: float, rows: tuple[Row, Row, Row, Row], scores: Floats, lane: int) -> int:
    """Best r of a `sum_with_scores`, in one lane; -1 for the term alone."""
    best, cell = rows[0]
    A, a = rows[2]
    B, b = rows[3]
    for r in range(len(scores)):
        value = A[(a + r) * LANES + lane] + B[(b + r) * LANES + lane] + scores[r]
        if value == best[cell * LANES + lane]:
            return r
    return -1
