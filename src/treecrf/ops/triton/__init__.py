"""Shared parts of the CUDA kernels: launches, tiles, and the operations of the host."""
