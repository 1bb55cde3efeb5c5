"""The inside pass with one exponent a span for all its grandparents, compiled for the CPU.

The charts are those of `inside`, but a cell has the mantissas of its grandparents, in blocks of
LANES, and one exponent. So a sum over split points is a row of vectors times a row of plain
numbers, its factors, without a power of two for every term. Mantissas of grandparents that a span
cannot have are 0.

Where the weights of the grandparents of a span differ by more than RANGE, digits would be lost: the
pass stops, and `inside` has to compute the sentence, with an exponent for each grandparent.
"""

from typing import NamedTuple

import numpy as np

from treecrf.ops.grandparent.inside import Sentence, block_count, split_points
from treecrf.ops.numba.compiling import borrowing, compiled, inlined
from treecrf.ops.numba.lanes import (
    LANES,
    Floats,
    Vector,
    any_above,
    lane_maximum,
    load,
    maximum,
    minimum,
    select_equal,
    splat,
    store,
)
from treecrf.ops.numba.packing import Siblings
from treecrf.ops.numba.scaled import (
    ZERO_EXPONENT,
    exponential,
    fraction,
    pow2,
    shifted_exponent,
)

RANGE = 2.0**-900
# Largest mantissas of a cell between these are left as they are.
LOW, HIGH = 2.0**-40, 2.0**40

Chart = tuple[Floats, Floats]  # mantissas of all blocks of all cells, exponents of the cells


class Spans(NamedTuple):
    """Charts of a sentence, and what the outside pass needs again."""

    C: Chart
    I: Chart
    S: Chart
    sums: Floats  # I without the weights of its arc
    C_factors: Floats  # factors of the terms of C, in as many vectors as grandparents
    I_factors: Floats
    right: Floats  # 1 for each grandparent of a head outside of its span to the right so far
    left: Floats
    numbers: Floats  # of one sum: its factors' mantissas, then their exponents
    scores: Floats  # of one sum: logarithms, then exponents


@compiled
def new_spans(n: int, siblings: Siblings) -> Spans:
    """Allocate charts for n words."""
    cells, row = (n + 1) ** 2, block_count(n) * LANES
    size, pairs = cells * row, 0 if siblings is None else cells
    return Spans(
        (np.empty(size), np.empty(cells)),
        (np.empty(size), np.empty(cells)),
        (np.empty(pairs * row), np.empty(pairs)),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty((n + 1) * row),
        np.empty((n + 1) * row),
        np.zeros(2 * row),
        np.zeros(2 * row),
    )


@inlined
def blocks_within(head: int, i: int, j: int, n: int) -> tuple[int, int]:
    """First block of grandparents that all lie within a span, and the first one after these."""
    blocks = block_count(n)
    if head == 0:
        return 1, blocks
    low = (i + LANES - 1) // LANES
    return low, blocks if j == n else max(low, (j + 1) // LANES)


@borrowing
def inside(sentence: Sentence, siblings: Siblings, spans: Spans) -> bool:
    """Fill the charts; False if the weights of grandparents differ by more than RANGE."""
    arcs, _, n, tokens, _ = sentence
    row, blocks = n + 1, block_count(n)
    width = blocks * LANES
    for head in range(row):
        for g in range(width):
            possible = g == 0 if head == 0 else g <= n and arcs[head * tokens + g] > -np.inf
            spans.right[head * width + g] = spans.left[head * width + g] = 1.0 if possible else 0.0
    for j in range(row):
        for chart in (spans.C, spans.I):
            for block in range(blocks):
                mask = load(spans.right, j * blocks + block)
                store(chart[0], (j * row + j) * blocks + block, mask)
            chart[1][j * row + j] = 0.0
        for i in range(j - 1, -1, -1):
            spans.right[i * width + j] = 0.0
            spans.left[j * width + i] = 0.0
            if i > 0 and siblings is not None and not pairs(spans, n, i, j):
                return False
            for head, end in ((i, j), (j, i)):
                if end > 0 and not (
                    incomplete(sentence, siblings, spans, head, end)
                    and complete(sentence, spans, head, end)
                ):
                    return False
    return True


@borrowing
def set_zero(chart: Chart, cell: int, blocks: int) -> bool:
    """Make a cell zero; True for its callers."""
    for block in range(cell * blocks, (cell + 1) * blocks):
        store(chart[0], block, splat(0.0))
    chart[1][cell] = ZERO_EXPONENT
    return True


@inlined
def read(
    spans: Spans, place: int, chart: Chart, cell: int, n: int, lane: int, step: int, count: int
) -> None:
    """Copy the numbers of one grandparent in successive cells, from `place` on."""
    mantissas, exponents = chart
    numbers, width = spans.numbers, block_count(n) * LANES
    half = numbers.size // 2
    for r in range(count):
        numbers[place + r] = mantissas[(cell + r * step) * width + lane]
        numbers[half + place + r] = exponents[cell + r * step]


@inlined
def align(numbers: Floats, count: int, factors: Floats, first: int) -> float:
    """Write numbers over two to the exponent that is returned, that of the largest."""
    blocks, second = (count + LANES - 1) // LANES, numbers.size // 2 // LANES
    numbers[count : blocks * LANES] = 0.0
    tops = splat(2.0 * ZERO_EXPONENT)
    for block in range(blocks):
        exponents = shifted_exponent(load(numbers, block), load(numbers, second + block))
        store(numbers, second + block, exponents)
        tops = maximum(exponents, tops)
    top = lane_maximum(tops)
    for block in range(blocks):
        scale = pow2(load(numbers, second + block) - splat(top))
        store(factors, first + block, fraction(load(numbers, block)) * scale)
    return top


@inlined
def total(chart: Floats, first: int, stride: int, factors: Floats, at: int, count: int) -> Vector:
    """sum_{r < count} chart[first + r * stride] * factors[at + r]"""
    value = splat(0.0)
    for r in range(count):
        value = value + load(chart, first + r * stride) * splat(factors[at + r])
    return value


@inlined
def settle(
    chart: Chart, cell: int, blocks: int, limits: tuple[Vector, Vector], unit: float
) -> float:
    """Set the exponent of a cell, and scale its mantissas by the power of two that is returned.

    Their unit is 2**unit so far; `limits` are their smallest, of possible grandparents, and their
    largest. 0 is returned if digits were lost.
    """
    smallest, largest = limits
    if not any_above(largest, 0.0):
        lost = any_above(splat(1.0) - smallest, 0.0)
        return 0.0 if lost or not set_zero(chart, cell, blocks) else 1.0
    chart[1][cell] = unit
    scale = 1.0
    if any_above(largest, HIGH) or not any_above(largest, LOW):
        power = np.floor(np.log2(lane_maximum(largest)))
        scale = 2.0**-power
        chart[1][cell] += power
        for block in range(cell * blocks, (cell + 1) * blocks):
            store(chart[0], block, load(chart[0], block) * splat(scale))
    return 0.0 if any_above(splat(0.0) - smallest * splat(min(scale, 1.0)), -RANGE) else scale


@inlined
def pairs(spans: Spans, n: int, i: int, j: int) -> bool:
    """Compute S^h[i, j] = sum_{i <= r < j} C^h[i, r] * C^h[j, r + 1]."""
    C = spans.C[0]
    row, blocks = n + 1, block_count(n)
    cell = i * row + j
    top = pair_factors(spans, n, i, j)
    if top < 0.5 * ZERO_EXPONENT:
        return set_zero(spans.S, cell, blocks)
    low, high = blocks_within(i, i, j, n)
    smallest, largest = splat(1.0), splat(0.0)
    for index in range(blocks - high + low):
        block = index if index < low else index + high - low
        left, right = (i * row + i) * blocks + block, (j * row + i + 1) * blocks + block
        value = splat(0.0)
        for r in range(j - i):
            product = load(C, left + r * blocks) * load(C, right + r * blocks)
            value = value + product * splat(spans.numbers[r])
        mask = load(spans.right, i * blocks + block) * load(spans.left, j * blocks + block)
        smallest = minimum(select_equal(mask, 0.0, splat(1.0), value), smallest)
        largest = maximum(value, largest)
        store(spans.S[0], cell * blocks + block, value)
    spans.S[1][cell] = top
    if not any_above(largest, 0.0) and not any_above(splat(1.0) - smallest, 0.0):
        return set_zero(spans.S, cell, blocks)
    return not any_above(splat(0.0) - smallest, -RANGE)


@inlined
def pair_factors(spans: Spans, n: int, i: int, j: int) -> float:
    """Fill `numbers` with the powers of two of the terms of S[i, j]; returns its exponent."""
    exponents, numbers, row = spans.C[1], spans.numbers, n + 1
    half = numbers.size // 2
    for r in range(j - i):
        numbers[r] = 1.0
        numbers[half + r] = exponents[i * row + i + r] + exponents[j * row + i + 1 + r]
    return align(numbers, j - i, numbers, 0)


@inlined
def read_arc(
    sentence: Sentence, siblings: Siblings, spans: Spans, head: int, dependent: int
) -> None:
    """Fill `numbers` with the factors of the terms of I[head, dependent], from left to right."""
    _, _, n, tokens, multiroot = sentence
    numbers, scores, row = spans.numbers, spans.scores, n + 1
    i, j = min(head, dependent), max(head, dependent)
    if siblings is None:
        # C^i[j, r + 1] or C^j[i, r], i <= r < j
        first = j * row + i + 1 if head == i else i * row + i
        read(spans, 0, spans.C, first, n, head, 1, j - i)
        return
    count = split_points(head, j - i, multiroot, siblings)
    if head == i:
        # C^i[j, i + 1], then S^i[r, j] * w2(i, r, j), i < r < j
        cell, step, alone, place, start = (i + 1) * row + j, row, j * row + i + 1, 0, 1
    else:
        # S^j[i, r] * w2(j, r, i), i < r < j, then C^j[i, j - 1]
        cell, step, alone, place, start = i * row + i + 1, 1, i * row + j - 1, count - 1, 0
    read(spans, place, spans.C, alone, n, head, 1, 1)
    if count == 1:
        return
    read(spans, start, spans.S, cell, n, head, step, count - 1)
    first = (dependent * tokens + head) * tokens + i + 1
    scores[place] = 0.0
    for r in range(count - 1):
        scores[start + r] = siblings[first + r]
    second = numbers.size // 2 // LANES
    for block in range((count + LANES - 1) // LANES):
        weights = exponential(load(scores, block))
        store(numbers, block, load(numbers, block) * weights[0])
        store(numbers, second + block, load(numbers, second + block) + weights[1])


@inlined
def incomplete(
    sentence: Sentence, siblings: Siblings, spans: Spans, head: int, dependent: int
) -> bool:
    """Compute I[head, dependent] for all grandparents, as `inside` does."""
    arcs, grandparents, n, tokens, multiroot = sentence
    numbers, scores = spans.numbers, spans.scores
    row, blocks = n + 1, block_count(n)
    i, j = min(head, dependent), max(head, dependent)
    cell = head * row + dependent
    arc = arcs[dependent * tokens + head]
    if arc == -np.inf:
        return set_zero(spans.I, cell, blocks)
    read_arc(sentence, siblings, spans, head, dependent)
    count = split_points(head, j - i, multiroot, siblings)
    left, exponents = spans.C if siblings is None else spans.I
    first, half = i * row + i if head == i else j * row + i + 1, numbers.size // 2
    for r in range(count):
        numbers[half + r] += exponents[first + r]
    top = align(numbers, count, spans.I_factors, cell * blocks)
    if top < 0.5 * ZERO_EXPONENT:
        return set_zero(spans.I, cell, blocks)
    start = (dependent * tokens + head) * tokens
    for g in range(row):
        scores[g] = arc + (grandparents[start + g] if head > 0 else 0.0)
    low, high = blocks_within(head, i, j, n)
    masks = spans.right if head == i else spans.left
    second, tops = scores.size // 2 // LANES, splat(2.0 * ZERO_EXPONENT)
    for index in range(blocks - high + low):
        block = index if index < low else index + high - low
        mask, weight = load(masks, head * blocks + block), exponential(load(scores, block))
        whole = select_equal(mask, 0.0, splat(ZERO_EXPONENT), weight[1])
        store(scores, block, weight[0] * mask)
        store(scores, second + block, whole)
        tops = maximum(whole, tops)
    unit = lane_maximum(tops)
    smallest, largest = splat(1.0), splat(0.0)
    for index in range(blocks - high + low):
        block = index if index < low else index + high - low
        value = total(
            left, first * blocks + block, blocks, spans.I_factors, cell * blocks * LANES, count
        )
        store(spans.sums, cell * blocks + block, value)
        weight = load(scores, block) * pow2(load(scores, second + block) - splat(unit))
        value = value * weight
        mask = load(masks, head * blocks + block)
        smallest = minimum(select_equal(mask, 0.0, splat(1.0), value), smallest)
        largest = maximum(value, largest)
        store(spans.I[0], cell * blocks + block, value)
    return settle(spans.I, cell, blocks, (smallest, largest), top + unit) > 0.0


@inlined
def complete(sentence: Sentence, spans: Spans, head: int, end: int) -> bool:
    """Compute C[head, end] for all grandparents, as `inside` does."""
    n, multiroot = sentence[2], sentence[4]
    numbers, factors = spans.numbers, spans.C_factors
    row, blocks = n + 1, block_count(n)
    i, j = min(head, end), max(head, end)
    cell = head * row + end
    if head == 0 and end < n and not multiroot:
        return set_zero(spans.C, cell, blocks)
    # C^i[r, j], i < r <= j, or C^j[r, i], i <= r < j
    read(spans, 0, spans.C, (i + 1) * row + j if head == i else i * row + i, n, head, row, j - i)
    I, exponents = spans.I
    first, half = i * row + i + 1 if head == i else j * row + i, numbers.size // 2
    for r in range(j - i):
        numbers[half + r] += exponents[first + r]
    top = align(numbers, j - i, factors, cell * blocks)
    if top < 0.5 * ZERO_EXPONENT:
        return set_zero(spans.C, cell, blocks)
    low, high = blocks_within(head, i, j, n)
    masks = spans.right if head == i else spans.left
    smallest, largest = splat(1.0), splat(0.0)
    for index in range(blocks - high + low):
        block = index if index < low else index + high - low
        mask = load(masks, head * blocks + block)
        at = cell * blocks * LANES
        value = total(I, first * blocks + block, blocks, factors, at, j - i) * mask
        smallest = minimum(select_equal(mask, 0.0, splat(1.0), value), smallest)
        largest = maximum(value, largest)
        store(spans.C[0], cell * blocks + block, value)
    scale = settle(spans.C, cell, blocks, (smallest, largest), top)
    if scale != 1.0:
        for block in range(cell * blocks, cell * blocks + (j - i + LANES - 1) // LANES):
            store(factors, block, load(factors, block) * splat(scale))
    return scale > 0.0
