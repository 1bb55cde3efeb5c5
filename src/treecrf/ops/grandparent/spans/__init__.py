"""Third-order sums on the CPU with one exponent for all grandparents of a span."""
