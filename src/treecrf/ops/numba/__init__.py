"""What the CPU kernels share: compiling, threads, vectors, scaled numbers, k-best lists."""
