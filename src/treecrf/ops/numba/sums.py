"""Sums of products of scaled numbers in compiled code: inside, outside, and draws.

One inside pass computes with this module or with `maxima`, which has the same functions.
"""

import math

import numpy as np

from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numba.lanes import (
    LANES,
    Floats,
    FlowRow,
    Row,
    ScoreRow,
    Vector,
    any_above,
    gather,
    load,
    maximum,
    scatter,
    select_equal,
    splat,
    store,
)
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

LOG2 = math.log(2.0)
# Smaller probabilities count as zero; their products would lose digits.
NEGLIGIBLE = 1e-300

weight = exponential


@compiled
def one() -> Scaled:
    return splat(1.0), splat(0.0)


@compiled
def zero_unless_equal(keys: Vector, key: int, value: Scaled) -> Scaled:
    """Keep the value in the lanes whose key is `key`; zero in the rest."""
    return (
        select_equal(keys, key, value[0], splat(0.0)),
        select_equal(keys, key, value[1], splat(ZERO_EXPONENT)),
    )


@compiled
def times(first: Scaled, second: Scaled) -> Scaled:
    """Product, its mantissa not normalised."""
    return first[0] * second[0], first[1] + second[1]


@compiled
def exists(chart: Floats, cell: int, lane: int) -> bool:
    """Whether a cell is not zero in one lane."""
    return chart[cell * CELL + lane] > 0.0


@compiled
def sum_of_products(left: Row, right: Row, count: int, stride: int = 1) -> Scaled:
    """sum_{r < count} left[r * stride] * right[r * stride]"""
    A, a = left
    B, b = right
    top = exponent(A, a) + exponent(B, b)
    for r in range(1, count):
        top = maximum(exponent(A, a + r * stride) + exponent(B, b + r * stride), top)
    total = splat(0.0)
    for r in range(count):
        total = total + product(A, a + r * stride, B, b + r * stride, top)
    return normalised(total, top)


@compiled
def product(A: Floats, a: int, B: Floats, b: int, unit: Vector) -> Vector:
    """A[a] * B[b] / 2**unit."""
    return mantissa(A, a) * mantissa(B, b) * pow2(exponent(A, a) + exponent(B, b) - unit)


@compiled
def sum_with_scores(
    alone: Row, left: Row, right: Row, scores: ScoreRow, count: int, terms: Floats
) -> Scaled:
    """alone[0] + sum_{r < count} left[r] * right[r] * exp(scores[r])"""
    C, c = alone
    A, a = left
    B, b = right
    values, offsets, first = scores
    top = exponent(C, c)
    for r in range(count):
        weight = exponential(gather(values, offsets, first + r))
        whole = exponent(A, a + r) + exponent(B, b + r) + weight[1]
        put(terms, r, (mantissa(A, a + r) * mantissa(B, b + r) * weight[0], whole))
        top = maximum(whole, top)
    total = mantissa(C, c) * pow2(exponent(C, c) - top)
    for r in range(count):
        total = total + mantissa(terms, r) * pow2(exponent(terms, r) - top)
    return normalised(total, top)


@compiled
def has_flow(flow: Vector) -> bool:
    """Whether the probability is not negligible in some lane."""
    return any_above(flow, NEGLIGIBLE)


@compiled
def share(flow: Vector, chart: Floats, cell: int) -> Vector:
    """Probability of a cell divided by the mantissa of its sum; 0 where the cell is zero."""
    return flow / maximum(mantissa(chart, cell), splat(0.5))


@compiled
def add(flows: Floats, cell: int, flow: Vector) -> None:
    store(flows, cell, load(flows, cell) + flow)


@compiled
def spread(
    flow: Vector,
    chart: Floats,
    cell: int,
    left: FlowRow,
    right: FlowRow,
    count: int,
    stride: int = 1,
) -> None:
    """Pass the probability of a `sum_of_products` on to its terms, each by its part of the sum."""
    A, to_A, a = left
    B, to_B, b = right
    part, unit = share(flow, chart, cell), exponent(chart, cell)
    for r in range(count):
        term = part * product(A, a + r * stride, B, b + r * stride, unit)
        add(to_A, a + r * stride, term)
        add(to_B, b + r * stride, term)


@compiled
def spread_with_scores(
    flow: Vector,
    chart: Floats,
    cell: int,
    rows: tuple[FlowRow, FlowRow, FlowRow],
    scores: ScoreRow,
    count: int,
    marginals: Floats,
) -> None:
    """Pass the probability of a `sum_with_scores` on, and to `marginals` unless empty."""
    C, to_C, c = rows[0]
    A, to_A, a = rows[1]
    B, to_B, b = rows[2]
    values, offsets, first = scores
    part, unit = share(flow, chart, cell), exponent(chart, cell)
    add(to_C, c, part * mantissa(C, c) * pow2(exponent(C, c) - unit))
    for r in range(count):
        weight = exponential(gather(values, offsets, first + r))
        scale = pow2(exponent(A, a + r) + exponent(B, b + r) + weight[1] - unit)
        term = part * mantissa(A, a + r) * mantissa(B, b + r) * weight[0] * scale
        add(to_A, a + r, term)
        add(to_B, b + r, term)
        if marginals.size > 0:
            scatter(marginals, offsets, first + r, term)


@compiled
def choose(uniform: float, parent: Row, left: Row, right: Row, count: int, lane: int) -> int:
    """Term of a `sum_of_products` drawn by a uniform number in [0, 1), in one lane."""
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


@compiled
def choose_with_scores(
    uniform: float, rows: tuple[Row, Row, Row, Row], scores: Floats, lane: int
) -> int:
    """Term of a `sum_with_scores` drawn like `choose`; -1 for the term alone."""
    total, cell = rows[0]
    C, c = rows[1]
    A, a = rows[2]
    B, b = rows[3]
    unit = total[cell * CELL + LANES + lane]
    remaining = uniform * total[cell * CELL + lane]
    choice = -1
    for r in range(len(scores)):
        at_a, at_b = (a + r) * CELL + lane, (b + r) * CELL + lane
        shift = A[at_a + LANES] + B[at_b + LANES] - unit + scores[r] / LOG2
        part = A[at_a] * B[at_b] * np.exp2(shift)
        if part > 0.0:  # false for an impossible sibling, whose score may be NaN
            choice = r
            remaining -= part
            if remaining < 0.0:
                return choice
    return -1 if C[c * CELL + lane] > 0.0 else choice


@compiled
def log_value(chart: Floats, cell: int, lane: int) -> float:
    """Natural logarithm of a cell in one lane."""
    value = chart[cell * CELL + lane]
    if value == 0.0:
        return -math.inf
    return (math.log2(value) + chart[cell * CELL + LANES + lane]) * math.log(2.0)
