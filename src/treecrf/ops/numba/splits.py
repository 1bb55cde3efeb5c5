"""Largest sums in compiled code, and the split point of a cell that a tree takes."""

import numpy as np

from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numba.lanes import LANES, Vector, load, maximum
from treecrf.ops.numba.scaled import CELL, Row

__all__ = ["choose", "largest_sum"]


@compiled
def largest_sum(left: Row, right: Row, count: int) -> Vector:
    """The largest left[r] + right[r], r < count; a cell is one vector here."""
    A, a = left
    B, b = right
    best = load(A, a) + load(B, b)
    for r in range(1, count):
        best = maximum(load(A, a + r) + load(B, b + r), best)
    return best


@compiled
def choose(
    sampling: bool, uniform: float, parent: Row, left: Row, right: Row, count: int, lane: int
) -> int:
    """The term of a cell that a tree takes in one lane.

    It is the r of a `largest_sum` or, when sampling, the term of a `sum_of_products` that a uniform
    number in [0, 1) falls on.
    """
    if sampling:
        return draw(uniform, parent, left, right, count, lane)
    chart, cell = parent
    A, a = left
    B, b = right
    for r in range(count):
        if A[(a + r) * LANES + lane] + B[(b + r) * LANES + lane] == chart[cell * LANES + lane]:
            return r
    return 0


@compiled
def draw(uniform: float, parent: Row, left: Row, right: Row, count: int, lane: int) -> int:
    chart, cell = parent
    A, a = left
    B, b = right
    unit = chart[cell * CELL + LANES + lane]
    remaining = uniform * chart[cell * CELL + lane]
    choice = 0
    for r in range(count):
        at_a, at_b = (a + r) * CELL + lane, (b + r) * CELL + lane
        weight = A[at_a] * B[at_b] * np.exp2(A[at_a + LANES] + B[at_b + LANES] - unit)
        if weight > 0.0:
            choice = r
            remaining -= weight
            if remaining < 0.0:
                break
    return choice
