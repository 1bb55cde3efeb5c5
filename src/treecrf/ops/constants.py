"""Minus infinity, the longest list of trees, and the constants of float64 in kernels."""

__all__ = [
    "BIAS",
    "LN2_HIGH",
    "LN2_LOW",
    "LOG2_E",
    "MANTISSA_BITS",
    "MOST_TREES",
    "NEGATIVE_INFINITY",
]

NEGATIVE_INFINITY = float("-inf")

MOST_TREES = 1 << 21  # in a list of the best ones: two ranks and an option are one int64

# A float64 is 2^(exponent - BIAS) times a mantissa of so many bits.
BIAS = 1023
MANTISSA_BITS = 52

LOG2_E = 1.4426950408889634
# ln 2 in two parts, the first with trailing zeros: times an exponent up to 2^20 it is exact.
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
