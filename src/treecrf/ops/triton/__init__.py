"""What the CUDA kernels share: launches, tiles, and what they leave to the host."""
