"""Non-projective trees on CUDA: log Z and marginals in one Triton program a sentence.

The elimination of `matrix_tree` in the same wide numbers (see `constants`), forwards for log Z and
then backwards for V(m, h) = d log Z / d w(m, h), with p(h -> m) = w(m, h) V(m, h). Matrices are
`[sentence, word, word + root]`, mantissas and exponents apart. Spanning trees are found and drawn
on the CPU.
"""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from treecrf.ops import constants
from treecrf.ops.backend import Scores
from treecrf.ops.constants import BIAS, LN2_HIGH, LN2_LOW, LOG2_E, LOWEST, MANTISSA_BITS, MARKER
from treecrf.ops.triton.fused import on_host

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
def load_numbers(mantissas, exponents, cells, mask):
    """Normalised numbers, 0 where masked."""
    return normalised(tl.load(mantissas + cells, mask, 0.0), tl.load(exponents + cells, mask, ZERO))


@triton.jit
def divisor(D, D_exponent):
    """D, or 1 in the place of 0."""
    return tl.where(D == 0.0, 1.0, D), tl.where(D == 0.0, 0, D_exponent)


@triton.jit(do_not_specialize=["words"])
def eliminate(
    mantissas, exponents, lengths, pivots, pivot_exponents, words,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Fill `pivots [sentence, word]` with the D(v); row and column v stay as they are then."""
    sentence = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + sentence).to(tl.int32)
    width = words + 1
    mantissas += sentence * words * width
    exponents += sentence * words * width
    column = tl.arange(0, COLUMNS)
    for v in range(0, length):
        remains = (column > v) & (column < width)
        row = v * width + column
        out, out_exponent = load_numbers(mantissas, exponents, row, remains)
        # D(v) = sum_h w(v, h)
        D, D_exponent = total(out, out_exponent, 0)
        tl.store(pivots + sentence * words + v, D)
        tl.store(pivot_exponents + sentence * words + v, D_exponent)
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


@triton.jit(do_not_specialize=["words"])
def differentiate(
    mantissas, exponents, lengths, pivots, pivot_exponents, V, V_exponents, words,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Fill `V [sentence, word, word + root]`, which holds zeros, after `eliminate`."""
    sentence = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + sentence).to(tl.int32)
    width = words + 1
    mantissas += sentence * words * width
    exponents += sentence * words * width
    V += sentence * words * width
    V_exponents += sentence * words * width
    column = tl.arange(0, COLUMNS)
    for step in range(0, length):
        v = length - 1 - step
        remains = (column > v) & (column < width)
        row = v * width + column
        out, out_exponent = load_numbers(mantissas, exponents, row, remains)
        D = tl.load(pivots + sentence * words + v)
        D_exponent = tl.load(pivot_exponents + sentence * words + v)
        D, D_exponent = divisor(D, D_exponent)
        target = tl.zeros([COLUMNS], tl.float64)
        target_exponent = tl.full([COLUMNS], ZERO, tl.int64)
        children = tl.zeros([ROWS], tl.float64)
        for first in range(v + 1, length, ROWS):
            m = first + tl.arange(0, ROWS)
            is_word = m < length
            into, into_exponent = load_numbers(mantissas, exponents, m * width + v, is_word)
            cell = (m * width)[:, None] + column[None, :]
            inside = is_word[:, None] & remains[None, :]
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


def log_partition(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    mantissas, exponents = _weights(scores[0], multiroot)
    tile = _tile(mantissas.shape[1])
    pivots, pivot_exponents = _pivots(mantissas, exponents, lengths, tile)
    return _log_product(pivots, pivot_exponents, lengths, multiroot).to(scores[0].dtype)


def marginals(scores: Scores, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    tile = _tile(scores[0].shape[1] - 1)
    return tiled_marginals(scores, lengths, multiroot=multiroot, tile=tile)


def tiled_marginals(
    scores: Scores, lengths: Tensor, *, multiroot: bool, tile: dict[str, int]
) -> tuple[Tensor, Tensor]:
    """The same by kernels that work in this tile."""
    (arc_scores,) = scores
    weights, weight_exponents = _weights(arc_scores, multiroot)
    mantissas, exponents = weights.clone(), weight_exponents.clone()
    pivots, pivot_exponents = _pivots(mantissas, exponents, lengths, tile)
    value = _log_product(pivots, pivot_exponents, lengths, multiroot)
    V = torch.zeros_like(mantissas)
    V_exponents = torch.full_like(exponents, constants.ZERO)
    with torch.cuda.device_of(mantissas):
        if mantissas.numel():
            differentiate[(len(lengths),)](
                mantissas, exponents, lengths, pivots, pivot_exponents, V, V_exponents,
                mantissas.shape[1], **tile,
            )  # fmt: skip
    # p(h -> m) = w(m, h) V(m, h), each word's divided by their sum
    shift = (weight_exponents + V_exponents + BIAS).clamp(min=0)
    products = weights * V * (shift << MANTISSA_BITS).view(torch.float64)
    products = torch.where(value[:, None, None] > -torch.inf, products.clamp(min=0), 0)
    shares = products / products.sum(2, keepdim=True).clamp(min=torch.finfo(torch.float64).tiny)
    probabilities = torch.zeros_like(arc_scores)
    probabilities[:, 1:, 1:] = shares[:, :, :-1]
    probabilities[:, 1:, 0] = shares[:, :, -1]
    return value.to(arc_scores.dtype), probabilities


argmax = on_host("nonprojective", "argmax")
topk = on_host("nonprojective", "topk")
sample = on_host("nonprojective", "sample")


def _weights(arc_scores: Tensor, multiroot: bool) -> tuple[Tensor, Tensor]:
    """e^score, `[sentence, word, word + root]`: mantissas and exponents."""
    scores = torch.cat([arc_scores[:, 1:, 1:], arc_scores[:, 1:, :1]], 2).double()
    is_zero = ~(scores > -torch.inf)
    scores = scores.clamp(min=LOWEST / LOG2_E)
    exponents = (scores * LOG2_E).round()
    rest = scores - exponents * LN2_HIGH - exponents * LN2_LOW
    mantissas = torch.where(is_zero, 0, rest.exp())
    exponents = torch.where(is_zero, constants.ZERO, exponents.long())
    if not multiroot:
        exponents[:, :, -1] += MARKER
    return mantissas, exponents


def _pivots(
    mantissas: Tensor, exponents: Tensor, lengths: Tensor, tile: dict[str, int]
) -> tuple[Tensor, Tensor]:
    """Eliminate in place; returns the D(v) `[sentence, word]`, 1 for padding."""
    batch, words, _ = mantissas.shape
    pivots, pivot_exponents = mantissas.new_ones(batch, words), exponents.new_zeros(batch, words)
    with torch.cuda.device_of(mantissas):
        if mantissas.numel():
            eliminate[(batch,)](
                mantissas, exponents, lengths, pivots, pivot_exponents, words, **tile
            )
    return pivots, pivot_exponents


def _tile(words: int) -> dict[str, int]:
    """Tile as wide as the matrix, with as many rows as fit into registers."""
    columns = max(32, triton.next_power_of_2(words + 1))
    rows = max(1, min(columns, 2048 // columns))
    return {"ROWS": rows, "COLUMNS": columns, "num_warps": 4 if columns <= 32 else 8}


def _log_product(pivots: Tensor, exponents: Tensor, lengths: Tensor, multiroot: bool) -> Tensor:
    """log Z `[sentence]` from the D(v); -inf when there is no tree."""
    has_marker = exponents < MARKER // 2
    order = torch.zeros_like(lengths) if multiroot else lengths.clamp(max=1)
    exists = (pivots > 0).all(1) & (has_marker.sum(1) == order)
    exponents = torch.where(has_marker, exponents - MARKER, exponents)
    logarithms = pivots.clamp(min=1).log() + exponents.double() * math.log(2)
    return torch.where(exists, logarithms.sum(1), -torch.inf)
