"""Minus infinity, and the constants of float64 that kernels take numbers apart with."""

__all__ = ["BIAS", "LN2_HIGH", "LN2_LOW", "LOG2_E", "MANTISSA_BITS", "NEGATIVE_INFINITY"]

NEGATIVE_INFINITY = float("-inf")

# A float64 is 2^(exponent - BIAS) times a mantissa of so many bits.
BIAS = 1023
MANTISSA_BITS = 52

LOG2_E = 1.4426950408889634
# ln 2 in two parts, the first with trailing zeros: times an exponent up to 2^20 it is exact.
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
