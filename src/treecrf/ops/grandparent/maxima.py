"""Maxima of sums of scores, a vector lane for each grandparent; the functions are those of `sums`.

A cell is one vector of scores, and `below` holds scores in its first half.
"""

import numpy as np

from treecrf.ops.numba import maxima
from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numba.lanes import LANES, Floats, Vector, load, maximum, splat

CELL = LANES
NOTHING = -np.inf

put, one, weight, times = maxima.put, maxima.one, maxima.weight, maxima.times
sum_of_products = maxima.sum_of_products


@compiled
def zero() -> Vector:
    return splat(-np.inf)


@compiled
def read(
    below: Floats, place: int, chart: Floats, cell: int, lane: int, stride: int, count: int
) -> None:
    """Copy one lane of successive cells to `below`, from `place` on."""
    for r in range(count):
        below[place + r] = chart[(cell + r * stride) * CELL + lane]


@compiled
def add_scores(below: Floats, scores: Floats, count: int) -> None:
    """Add scores to the first numbers; -inf where a score is -inf or NaN."""
    for r in range(count):
        below[r] = below[r] + scores[r] if scores[r] > -np.inf else -np.inf


@compiled
def sum_below(chart: Floats, cell: int, stride: int, below: Floats, count: int) -> Vector:
    """max_{r < count} chart[cell + r * stride] + below[r]"""
    best = splat(-np.inf)
    for r in range(count):  # NaN, of what no tree uses, is never the larger one
        best = maximum(load(chart, cell + r * stride) + splat(below[r]), best)
    return best


@compiled
def choose(
    _: float, chart: Floats, cell: int, lane: int, stride: int, below: Floats, count: int
) -> int:
    """Best r of a `sum_below`, in one lane."""
    best, choice = -np.inf, 0
    for r in range(count):
        value = chart[(cell + r * stride) * CELL + lane] + below[r]
        if value > best:
            best, choice = value, r
    return choice
