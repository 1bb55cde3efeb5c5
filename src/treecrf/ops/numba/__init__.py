"""Shared parts of the CPU kernels: compiling, threads, vectors, scaled numbers, k-best lists."""
