"""log Z and marginals in wide numbers (see `constants`), one Triton program a sentence.

The elimination of `matrix_tree`, forwards for log Z and then backwards for V(m, h) =
d log Z / d w(m, h), with p(h -> m) = w(m, h) V(m, h). Programs of sentences that ordinary floats
solved end at once. Matrices are `[sentence, word, word + root]`, mantissas and exponents apart.
"""

import triton
import triton.language as tl

from treecrf.ops import constants

LN2_HIGH = tl.constexpr(constants.LN2_HIGH)
LN2_LOW = tl.constexpr(constants.LN2_LOW)
LOG2_E = tl.constexpr(constants.LOG2_E)
LOWEST = tl.constexpr(float(constants.LOWEST))
MARKER = tl.constexpr(constants.MARKER)
ZERO = tl.constexpr(constants.ZERO)


@triton.jit
def power(shift):
    """2^shift for shift below 1024, and 0 where that underflows."""
    return (tl.maximum(shift + 1023, 0) << 52).to(tl.float64, bitcast=True)


@triton.jit
def normalised(mantissa, exponent):
    """Normalise: absolute mantissas in [1, 2), or 0 and ZERO."""
    bits = mantissa.to(tl.int64, bitcast=True)
    shift = ((bits >> 52) & 0x7FF) - 1023
    scaled = (bits - (shift << 52)).to(tl.float64, bitcast=True)
    return tl.where(mantissa == 0.0, 0.0, scaled), tl.where(mantissa == 0.0, ZERO, exponent + shift)


@triton.jit
def add(mantissa, exponent, other_mantissa, other_exponent):
    """Elementwise sums."""
    largest = tl.maximum(exponent, other_exponent)
    return (
        mantissa * power(exponent - largest) + other_mantissa * power(other_exponent - largest),
        largest,
    )


@triton.jit
def total(mantissa, exponent, AXIS: tl.constexpr):
    """Normalised sums along one axis."""
    largest = tl.max(exponent, AXIS)
    scale = power(exponent - tl.expand_dims(largest, AXIS))
    return normalised(tl.sum(mantissa * scale, AXIS), largest)


@triton.jit
def exponential(scores):
    """e^score, 0 for NaN."""
    scores = scores.to(tl.float64)
    is_zero = (scores > float("-inf")) == 0
    binary = tl.maximum(tl.where(is_zero, 0.0, scores) * LOG2_E, LOWEST)
    exponent = (binary + tl.where(binary < 0, -0.5, 0.5)).to(tl.int64)
    whole = exponent.to(tl.float64)
    rest = tl.where(is_zero | (binary <= LOWEST), 0.0, scores - whole * LN2_HIGH - whole * LN2_LOW)
    return tl.where(is_zero, 0.0, tl.exp(rest)), tl.where(is_zero, ZERO, exponent)


@triton.jit
def load_weights(scores, m, column, mask, words, multiroot):
    """Weights `[word, word + root]` from scores `[token, token]`; t in those of a single root."""
    tokens = words + 1
    head = tl.where(column == words, 0, column + 1)
    cell = (m + 1)[:, None] * tokens + head[None, :]
    mantissa, exponent = exponential(tl.load(scores + cell, mask, float("-inf")))
    is_marked = (column == words) & (multiroot == 0)
    return mantissa, exponent + tl.where(is_marked, MARKER, 0)[None, :]


@triton.jit
def load_numbers(mantissas, exponents, cells, mask):
    """Normalised numbers, 0 where masked."""
    return normalised(tl.load(mantissas + cells, mask, 0.0), tl.load(exponents + cells, mask, ZERO))


@triton.jit
def divisor(D, D_exponent):
    """D, or 1 in the place of 0."""
    return tl.where(D == 0.0, 1.0, D), tl.where(D == 0.0, 0, D_exponent)


@triton.jit
def eliminate(
    mantissas, exponents, pivots, pivot_exponents, length, words,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Fill `pivots [word]` with the D(v); row and column v stay as they are then."""
    width = words + 1
    column = tl.arange(0, COLUMNS)
    for v in range(0, length):
        remains = (column > v) & (column < width)
        row = v * width + column
        out, out_exponent = load_numbers(mantissas, exponents, row, remains)
        # D(v) = sum_h w(v, h)
        D, D_exponent = total(out, out_exponent, 0)
        tl.store(pivots + v, D)
        tl.store(pivot_exponents + v, D_exponent)
        D, D_exponent = divisor(D, D_exponent)
        for first in range(v + 1, length, ROWS):
            m = first + tl.arange(0, ROWS)
            is_word = m < length
            into, into_exponent = load_numbers(mantissas, exponents, m * width + v, is_word)
            # w(m, h) += w(m, v) w(v, h) / D(v), but no w(m, m)
            cell = (m * width)[:, None] + column[None, :]
            inside = is_word[:, None] & remains[None, :]
            new, new_exponent = add(
                tl.load(mantissas + cell, inside, 0.0),
                tl.load(exponents + cell, inside, ZERO),
                (into / D)[:, None] * out[None, :],
                (into_exponent - D_exponent)[:, None] + out_exponent[None, :],
            )
            loop = m[:, None] == column[None, :]
            tl.store(mantissas + cell, tl.where(loop, 0.0, new), inside)
            tl.store(exponents + cell, tl.where(loop, ZERO, new_exponent), inside)
        tl.debug_barrier()


@triton.jit
def differentiate(
    mantissas, exponents, pivots, pivot_exponents, V, V_exponents, length, words,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Fill `V [word, word + root]`, but for its diagonal, after `eliminate`."""
    width = words + 1
    column = tl.arange(0, COLUMNS)
    for step in range(0, length):
        v = length - 1 - step
        remains = (column > v) & ((column < length) | (column == words))
        row = v * width + column
        out, out_exponent = load_numbers(mantissas, exponents, row, remains)
        D, D_exponent = tl.load(pivots + v), tl.load(pivot_exponents + v)
        D, D_exponent = divisor(D, D_exponent)
        target = tl.zeros([COLUMNS], tl.float64)
        target_exponent = tl.full([COLUMNS], ZERO, tl.int64)
        children = tl.zeros([ROWS], tl.float64)
        for first in range(v + 1, length, ROWS):
            m = first + tl.arange(0, ROWS)
            is_word = m < length
            into, into_exponent = load_numbers(mantissas, exponents, m * width + v, is_word)
            cell = (m * width)[:, None] + column[None, :]
            inside = is_word[:, None] & remains[None, :] & (m[:, None] != column[None, :])
            old = tl.load(V + cell, inside, 0.0)
            old_exponent = tl.load(V_exponents + cell, inside, ZERO)
            # V(m, v) = sum_h V(m, h) w(v, h) / D(v)
            to_v, to_v_exponent = total(old * out[None, :], old_exponent + out_exponent[None, :], 1)
            to_v, to_v_exponent = normalised(to_v / D, to_v_exponent - D_exponent)
            tl.store(V + m * width + v, to_v, is_word)
            tl.store(V_exponents + m * width + v, to_v_exponent, is_word)
            children += into * to_v * power(into_exponent + to_v_exponent)
            # V(v, h) = sum_m V(m, h) w(m, v) / D(v) ...
            part, part_exponent = total(
                old * (into / D)[:, None], old_exponent + (into_exponent - D_exponent)[:, None], 0
            )
            target, target_exponent = add(target, target_exponent, part, part_exponent)
        # ... + (1 - sum_m w(m, v) V(m, v)) / D(v)
        rest = tl.zeros([COLUMNS], tl.float64) + (1.0 - tl.sum(children, 0)) / D
        target, target_exponent = add(target, target_exponent, rest, -D_exponent)
        target, target_exponent = normalised(target, target_exponent)
        tl.store(V + row, target, remains)
        tl.store(V_exponents + row, target_exponent, remains)
        tl.debug_barrier()


@triton.jit(do_not_specialize=["words", "multiroot"])
def solve(
    scores, lengths, values, marginals, solved, numbers, integers, words, multiroot,
    MARGINALS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Fill `values [sentence]` and `marginals [sentence, dependent, head]` of unsolved sentences.

    `numbers` and `integers` are memory to work in: pivots `[word]`, then weights, and V with
    MARGINALS, `[word, word + root]`, for each sentence.
    """
    sentence = tl.program_id(0).to(tl.int64)
    is_open = tl.load(solved + sentence) == 0
    length = tl.where(is_open, tl.load(lengths + sentence), 0).to(tl.int32)
    width = words + 1
    area = words * width
    scores += sentence * width * width
    marginals += sentence * width * width
    step = words + (2 if MARGINALS else 1) * area
    numbers += sentence * step
    integers += sentence * step
    mantissas, exponents = numbers + words, integers + words
    column = tl.arange(0, COLUMNS)
    for first in range(0, length, ROWS):
        m = first + tl.arange(0, ROWS)
        inside = (m < length)[:, None] & (column < width)[None, :]
        weight, exponent = load_weights(scores, m, column, inside, words, multiroot)
        cell = (m * width)[:, None] + column[None, :]
        tl.store(mantissas + cell, weight, inside)
        tl.store(exponents + cell, exponent, inside)
    tl.debug_barrier()
    eliminate(mantissas, exponents, numbers, integers, length, words, ROWS, COLUMNS)

    # Z = product of the D(v), of order t with a single root
    is_pivot = column < length
    D = tl.load(numbers + column, is_pivot, 1.0)
    D_exponent = tl.load(integers + column, is_pivot, 0)
    is_marked = D_exponent < MARKER // 2
    order = tl.sum(tl.where(is_marked, 1, 0), 0)
    exists = (tl.min(D, 0) > 0) & (order == tl.where(multiroot != 0, 0, tl.minimum(length, 1)))
    whole = tl.sum(tl.where(is_marked, D_exponent - MARKER, D_exponent), 0).to(tl.float64)
    value = tl.sum(tl.log(tl.maximum(D, 1.0)), 0) + (whole * LN2_LOW + whole * LN2_HIGH)
    tl.store(values + sentence, tl.where(exists, value, float("-inf")), is_open)

    if MARGINALS:
        V, V_exponents = mantissas + area, exponents + area
        differentiate(
            mantissas, exponents, numbers, integers, V, V_exponents, length, words, ROWS, COLUMNS
        )
        head = tl.where(column == words, 0, column + 1)
        for first in range(0, length, ROWS):
            m = first + tl.arange(0, ROWS)
            inside = (m < length)[:, None] & ((column < length) | (column == words))[None, :]
            inside &= m[:, None] != column[None, :]
            weight, exponent = load_weights(scores, m, column, inside, words, multiroot)
            cell = (m * width)[:, None] + column[None, :]
            # p(h -> m) = w(m, h) V(m, h), divided by their sum
            product = weight * tl.load(V + cell, inside, 0.0)
            product *= power(exponent + tl.load(V_exponents + cell, inside, ZERO))
            product = tl.where(exists, tl.maximum(product, 0.0), 0.0)
            share = product / tl.maximum(tl.sum(product, 1), 1e-300)[:, None]
            tl.store(marginals + (m + 1)[:, None] * width + head[None, :], share, inside)
