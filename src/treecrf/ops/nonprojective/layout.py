"""How numbers far beyond the range of a float are laid out, on the CPU and on CUDA.

A number is a float64 mantissa and an int64 exponent of 2. A formal t -> 0 is the number 2^MARKER.
"""

# Exponents of weights stay above LOWEST, of products of thousands of them within 2^57, a power of t
# moves them by 2^58, and an exponent near ZERO (its mantissa is 0) is below all of that.
LOWEST = -(1 << 44)
MARKER = -(1 << 58)
ZERO = -(1 << 61)
