"""Projective trees of the first and second order: sums over all of them, the best, and draws."""
