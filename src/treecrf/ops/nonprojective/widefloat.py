"""Numbers far beyond the range of a float: mantissa times a power of two, for Numba kernels.

Laid out as in `ops.constants`, weights of e^10000 and e^-10000 meet without overflow and keep all
their digits. A sum of numbers whose exponents lie far apart is the larger one, which also gives
leading-order arithmetic in a formal t -> 0.
"""

import math

import numpy as np
import numpy.typing as npt

from treecrf.ops.constants import BIAS, LN2_HIGH, LN2_LOW, LOG2_E, LOWEST, MANTISSA_BITS, ZERO
from treecrf.ops.numba.compiling import compiled, inlined, relaxed

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Number = tuple[float, int]
Numbers = tuple[Floats, Integers]
"""Mantissas and exponents, of the same shape."""


@inlined
def power(shift: int) -> float:
    """2^shift for shift below 1024, and 0 where that underflows."""
    return np.int64(max(shift + BIAS, 0) << MANTISSA_BITS).view(np.float64)


@compiled
def exponential(score: float) -> Number:
    """e^score, its mantissa in [0.7, 1.42], 0 for NaN; finite scores below -1e13 count as -1e13."""
    if not score > -np.inf:
        return 0.0, ZERO
    exponent = math.floor(score * LOG2_E + 0.5)
    if exponent < LOWEST:
        return 1.0, LOWEST
    return math.exp(score - exponent * LN2_HIGH - exponent * LN2_LOW), exponent


@compiled
def logarithm(mantissa: float, exponent: int) -> float:
    """Natural logarithm of a number other than 0, without a power of t."""
    return math.log(mantissa) + (exponent * LN2_LOW + exponent * LN2_HIGH)


@compiled
def normalised(mantissa: float, exponent: int) -> Number:
    """The same number with its mantissa in [1, 2), or 0 and ZERO."""
    if mantissa == 0.0:
        return 0.0, ZERO
    bits = np.float64(mantissa).view(np.int64)
    shift = int(bits >> MANTISSA_BITS) - BIAS
    return np.int64(bits - (shift << MANTISSA_BITS)).view(np.float64), exponent + shift


@compiled
def part(numbers: Numbers, row: int, first: int, end: int) -> Numbers:
    """Numbers `[row, first:end]` of a matrix."""
    return numbers[0][row, first:end], numbers[1][row, first:end]


@compiled
def normalise(numbers: Numbers) -> None:
    """Normalise every number in place."""
    mantissas, exponents = numbers
    for index in range(mantissas.shape[0]):
        mantissas[index], exponents[index] = normalised(mantissas[index], exponents[index])


@relaxed
def total(numbers: Numbers) -> Number:
    """The normalised sum."""
    mantissas, exponents = numbers
    largest = np.int64(ZERO)
    for index in range(mantissas.shape[0]):
        largest = max(largest, exponents[index])
    mantissa = 0.0
    for index in range(mantissas.shape[0]):
        mantissa += mantissas[index] * power(exponents[index] - largest)
    return normalised(mantissa, int(largest))


@relaxed
def dot(numbers: Numbers, others: Numbers) -> Number:
    """The normalised sum of products."""
    mantissas, exponents = numbers
    other_mantissas, other_exponents = others
    largest = np.int64(2 * ZERO)
    for index in range(mantissas.shape[0]):
        largest = max(largest, exponents[index] + other_exponents[index])
    mantissa = 0.0
    for index in range(mantissas.shape[0]):
        shift = exponents[index] + other_exponents[index] - largest
        mantissa += mantissas[index] * other_mantissas[index] * power(shift)
    return normalised(mantissa, int(largest))


@relaxed
def add_multiple(numbers: Numbers, factor: Number, others: Numbers) -> None:
    """numbers += factor * others, in place; the mantissas are not normalised."""
    mantissas, exponents = numbers
    other_mantissas, other_exponents = others
    for index in range(mantissas.shape[0]):
        old = exponents[index]
        new = factor[1] + other_exponents[index]
        largest = max(old, new)
        added = factor[0] * other_mantissas[index] * power(new - largest)
        mantissas[index] = mantissas[index] * power(old - largest) + added
        exponents[index] = largest
