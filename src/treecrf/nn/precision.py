"""Precision of float32 matrix products on a GPU: one setting for the process."""

import torch

# Torch has an old and a new setting, and fails if both are used.
_NEW = hasattr(torch.backends.cuda.matmul, "fp32_precision")

FAST = "tf32" if _NEW else "high"
"""TF32, on tensor cores."""


def product_precision() -> str:
    """Return the current setting."""
    if _NEW:
        return str(torch.backends.cuda.matmul.fp32_precision)
    return torch.get_float32_matmul_precision()


def set_product_precision(precision: str) -> None:
    """Set the precision: `FAST`, or a former `product_precision()`."""
    if _NEW:
        torch.backends.cuda.matmul.fp32_precision = precision
    else:
        torch.set_float32_matmul_precision(precision)
