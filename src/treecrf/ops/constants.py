"""Minus infinity, the longest list of trees, and the layout of numbers in kernels."""

NEGATIVE_INFINITY = float("-inf")

MOST_TREES = 1 << 21  # in a k-best list: two ranks and an option fit into one int64

# A float64 is 2^(exponent - BIAS) times a mantissa of MANTISSA_BITS.
BIAS = 1023
MANTISSA_BITS = 52

LOG2_E = 1.4426950408889634
# ln 2 in two parts, the first with trailing zeros: times an exponent up to 2^20 it is exact.
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10

# A wide number is a float64 mantissa and an int64 exponent of 2; a formal t -> 0 is 2^MARKER.
# Exponents of weights stay above LOWEST, of products of thousands of them within 2^57, a power of t
# moves them by 2^58, and an exponent near ZERO (its mantissa is 0) is below all of that.
LOWEST = -(1 << 44)
MARKER = -(1 << 58)
ZERO = -(1 << 61)
