"""Sums of products of scaled numbers, a vector lane for each grandparent.

A chart holds cells of LANES grandparents (see `scaled`); `stride` is the distance of successive
cells of a sum. Its other factors are the same for all grandparents of the cell: they are numbers in
`below`, mantissas in the first half and exponents in the second. One inside pass computes with this
module or with `maxima`, which has the same functions.
"""

import numpy as np

from treecrf.ops.numba import sums
from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numba.lanes import LANES, Floats, Vector, load, maximum, splat, store
from treecrf.ops.numba.scaled import (
    CELL,
    ZERO_EXPONENT,
    Scaled,
    exponent,
    exponential,
    mantissa,
    normalised,
    pow2,
    put,
)

__all__ = [
    "CELL",
    "NOTHING",
    "add_scores",
    "choose",
    "one",
    "put",
    "read",
    "sum_below",
    "sum_of_products",
    "times",
    "weight",
    "zero",
]

NOTHING = 0.0  # mantissa of zero

weight, one, times, sum_of_products = sums.weight, sums.one, sums.times, sums.sum_of_products


@compiled
def zero() -> Scaled:
    return splat(0.0), splat(ZERO_EXPONENT)


@compiled
def read(
    below: Floats, place: int, chart: Floats, cell: int, lane: int, stride: int, count: int
) -> None:
    """Copy one lane of successive cells to `below`, from `place` on."""
    half = below.size // 2
    for r in range(count):
        at = (cell + r * stride) * CELL + lane
        below[place + r] = chart[at]
        below[half + place + r] = chart[at + LANES]


@compiled
def add_scores(below: Floats, scores: Floats, count: int) -> None:
    """Multiply the first numbers by exp(scores); zero where a score is -inf or NaN."""
    second = below.size // 2 // LANES
    for block in range((count + LANES - 1) // LANES):
        weights = exponential(load(scores, block))
        store(below, block, load(below, block) * weights[0])
        store(below, second + block, load(below, second + block) + weights[1])


@compiled
def sum_below(chart: Floats, cell: int, stride: int, below: Floats, count: int) -> Scaled:
    """sum_{r < count} chart[cell + r * stride] * below[r]"""
    half = below.size // 2
    top = exponent(chart, cell) + splat(below[half])
    for r in range(1, count):
        top = maximum(exponent(chart, cell + r * stride) + splat(below[half + r]), top)
    total = splat(0.0)
    for r in range(count):
        total = total + product_below(chart, cell + r * stride, below, r, top)
    return normalised(total, top)


@compiled
def product_below(chart: Floats, cell: int, below: Floats, r: int, unit: Vector) -> Vector:
    """chart[cell] * below[r] / 2**unit"""
    shift = exponent(chart, cell) + splat(below[below.size // 2 + r]) - unit
    return mantissa(chart, cell) * splat(below[r]) * pow2(shift)


@compiled
def choose(
    uniform: float, chart: Floats, cell: int, lane: int, stride: int, below: Floats, count: int
) -> int:
    """Term of a `sum_below` drawn by a uniform number in [0, 1), in one lane."""
    half = below.size // 2
    top = -np.inf
    for r in range(count):
        at = (cell + r * stride) * CELL + lane
        if chart[at] * below[r] > 0.0:
            top = max(top, chart[at + LANES] + below[half + r])
    total = 0.0
    for r in range(count):
        total += part(chart, (cell + r * stride) * CELL + lane, below, r, top)
    remaining = uniform * total
    choice = 0
    for r in range(count):
        amount = part(chart, (cell + r * stride) * CELL + lane, below, r, top)
        if amount > 0.0:
            choice = r
            remaining -= amount
            if remaining < 0.0:
                break
    return choice


@compiled
def part(chart: Floats, at: int, below: Floats, r: int, top: float) -> float:
    """Term of a sum over 2**top, in one lane."""
    value = chart[at] * below[r]
    if value > 0.0:
        value *= np.exp2(chart[at + LANES] + below[below.size // 2 + r] - top)
    return value


@compiled
def spread_below(
    flow: Vector,
    unit: Vector,
    row: tuple[Floats, Floats, int],
    stride: int,
    below: Floats,
    shares: Floats,
    count: int,
) -> None:
    """Pass the probability of a `sum_below`, over its mantissa, on to its terms.

    `unit` is the exponent of the sum; the probabilities of `below` are added to `shares`, a vector
    each.
    """
    chart, to_chart, cell = row
    for r in range(count):
        at = cell + r * stride
        term = flow * product_below(chart, at, below, r, unit)
        store(to_chart, at, load(to_chart, at) + term)
        store(shares, r, load(shares, r) + term)
