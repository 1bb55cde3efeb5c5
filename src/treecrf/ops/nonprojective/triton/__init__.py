"""The CUDA kernels: ordinary floats in one tile or in blocks of words, and wide numbers."""
