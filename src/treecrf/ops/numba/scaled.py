"""Scaled numbers for compiled code: any magnitude without logarithms.

A scaled number is `mantissa * 2**exponent`, both float64, the exponent an integer. Zero has
mantissa 0 and an exponent below all others. A chart is a flat array of cells; a cell is a vector of
mantissas and a vector of exponents (see `lanes`), so that every lane works on its own sentence.
The exponents being exact, a sum of n terms is right to about n rounding errors at any magnitude.
"""

import math
from typing import Any

from llvmlite import ir

from treecrf.ops.constants import BIAS, LN2_HIGH, LN2_LOW, MANTISSA_BITS
from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numba.lanes import (
    DOUBLES,
    INTEGERS,
    LANES,
    Floats,
    Vector,
    constant,
    doubles,
    load,
    operation,
    store,
)

Scaled = tuple[Vector, Vector]  # mantissas and exponents

CELL = 2 * LANES  # floats in one cell of a chart

# A power of two, so that `pow2` of a difference with it is 0 on either side: a lane whose sum is
# zero only multiplies its terms by 0 or 1.
ZERO_EXPONENT = -(2.0**996)
# Finite scores beyond this would make exponents that float64 cannot add exactly.
LARGEST_SCORE = 1e12

INTEGER_MAGIC = 1.5 * 2.0**MANTISSA_BITS  # adding it leaves an integer in the low bits

# exp(x) for |x| <= log(2) / 2 within 4e-17: the coefficients of x**0, x**1, ...
EXP_POLYNOMIAL = (
    1.0,
    1.0,
    0.4999999999999999,
    0.1666666666666584,
    0.04166666666665237,
    0.008333333334054506,
    0.0013888888909454012,
    0.00019841267988081554,
    2.4801528077202076e-05,
    2.7559119443764285e-06,
    2.7618336756154373e-07,
    2.448066298488469e-08,
)


@operation(doubles, doubles)
def pow2(builder: Any, x: ir.Value) -> ir.Value:
    """2**x of integers below 1024; 0 from -1023 downwards, and of `-ZERO_EXPONENT`."""
    flat = builder.select(builder.fcmp_ordered(">", x, constant(-BIAS)), x, constant(-BIAS))
    shifted = builder.fadd(flat, constant(INTEGER_MAGIC + BIAS))
    bits = builder.shl(builder.bitcast(shifted, INTEGERS), constant(MANTISSA_BITS, INTEGERS))
    return builder.bitcast(bits, DOUBLES)


@operation(doubles, doubles)
def fraction(builder: Any, x: ir.Value) -> ir.Value:
    """Mantissa of x, in [1, 2); 0 of 0."""
    bits = builder.bitcast(x, INTEGERS)
    bits = builder.and_(bits, constant((1 << MANTISSA_BITS) - 1, INTEGERS))
    bits = builder.or_(bits, constant(BIAS << MANTISSA_BITS, INTEGERS))
    positive = builder.fcmp_ordered(">", x, constant(0.0))
    return builder.select(positive, builder.bitcast(bits, DOUBLES), constant(0.0))


@operation(doubles, doubles, doubles)
def shifted_exponent(builder: Any, x: ir.Value, exponent: ir.Value) -> ir.Value:
    """Exponent of x * 2**exponent."""
    bits = builder.lshr(builder.bitcast(x, INTEGERS), constant(MANTISSA_BITS, INTEGERS))
    # The bits of 2.0**52: the or makes the float64 2**52 + biased exponent.
    bits = builder.or_(bits, constant((BIAS + MANTISSA_BITS) << MANTISSA_BITS, INTEGERS))
    own = builder.fsub(builder.bitcast(bits, DOUBLES), constant(2.0**MANTISSA_BITS + BIAS))
    positive = builder.fcmp_ordered(">", x, constant(0.0))
    return builder.select(positive, builder.fadd(own, exponent), constant(ZERO_EXPONENT))


@operation(doubles, doubles)
def exponential_exponent(builder: Any, score: ir.Value) -> ir.Value:
    """Exponent of exp(score) with its mantissa in [0.7, 1.42]."""
    quotient = builder.fmul(bounded(builder, score), constant(1 / math.log(2)))
    magic = constant(INTEGER_MAGIC)
    rounded = builder.fsub(builder.fadd(quotient, magic), magic)
    possible = builder.fcmp_ordered(">", score, constant(-math.inf))
    return builder.select(possible, rounded, constant(ZERO_EXPONENT))


@operation(doubles, doubles, doubles)
def exponential_mantissa(builder: Any, score: ir.Value, exponent: ir.Value) -> ir.Value:
    """exp(score) / 2**exponent."""
    fused: Any = {"flags": ("contract",)}
    x = bounded(builder, score)
    for part in (LN2_HIGH, LN2_LOW):
        x = builder.fsub(x, builder.fmul(exponent, constant(part), **fused), **fused)
    total = constant(EXP_POLYNOMIAL[-1])
    for coefficient in EXP_POLYNOMIAL[-2::-1]:
        total = builder.fadd(builder.fmul(total, x, **fused), constant(coefficient), **fused)
    possible = builder.fcmp_ordered(">", score, constant(-math.inf))
    return builder.select(possible, total, constant(0.0))


def bounded(builder: Any, score: ir.Value) -> ir.Value:
    """Clamp a score; -inf and NaN become the lower bound (for emitters)."""
    low, high = constant(-LARGEST_SCORE), constant(LARGEST_SCORE)
    score = builder.select(builder.fcmp_ordered(">", score, low), score, low)
    return builder.select(builder.fcmp_ordered("<", score, high), score, high)


@compiled
def exponential(score: Vector) -> Scaled:
    """exp(score); zero where the score is -inf or NaN."""
    whole = exponential_exponent(score)
    return exponential_mantissa(score, whole), whole


@compiled
def normalised(total: Vector, unit: Vector) -> Scaled:
    """total * 2**unit with its mantissa in [1, 2)."""
    return fraction(total), shifted_exponent(total, unit)


@compiled
def mantissa(chart: Floats, cell: int) -> Vector:
    return load(chart, 2 * cell)


@compiled
def exponent(chart: Floats, cell: int) -> Vector:
    return load(chart, 2 * cell + 1)


@compiled
def put(chart: Floats, cell: int, value: Scaled) -> None:
    store(chart, 2 * cell, value[0])
    store(chart, 2 * cell + 1, value[1])
