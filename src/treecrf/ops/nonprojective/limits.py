"""Bounds of what ordinary floating point solves; beyond them numbers are wide (see `constants`).

Two checks after the fact find the sentences that need wide numbers:

- Every number of the elimination is finite and, where it is not 0, far from underflow. The
  elimination subtracts nothing, so then its relative error is about that of the sums.
- The marginals of each word, p(h -> m) = w(m, h) V(m, h), sum to 1. There is one subtraction in V,
  so the smallest marginals have an absolute error of about 1e-15.
"""

# Scores beyond this are not exponentiated.
LIMIT = 100.0
# Of two numbers above this, the product is above 1e-260, and its quotient by any D(v), at most
# n e^LIMIT, is a normal float. All numbers of the elimination are sums of such products.
SMALLEST = 1e-130
# Marginals of a word may sum to 1 within this.
TOLERANCE = 1e-9
