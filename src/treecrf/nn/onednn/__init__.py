"""Float32 products by oneDNN, for inference on a CPU with AVX-512.

torch multiplies float32 with MKL, which uses AVX-512 on Intel's CPUs alone.
"""
