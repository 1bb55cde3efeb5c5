"""How precisely a GPU multiplies single-precision numbers, which is one setting for a process."""

import torch

__all__ = ["FAST", "product_precision", "set_product_precision"]

# Torch has an old and a new way to say it, and fails where both are used.
_NEW = hasattr(torch.backends.cuda.matmul, "fp32_precision")

FAST = "tf32" if _NEW else "high"
"""By its tensor cores."""


def product_precision() -> str:
    """What it is; `FAST`, or something else."""
    if _NEW:
        return str(torch.backends.cuda.matmul.fp32_precision)
    return torch.get_float32_matmul_precision()


def set_product_precision(precision: str) -> None:
    """Make it what it was, or `FAST`."""
    if _NEW:
        torch.backends.cuda.matmul.fp32_precision = precision
    else:
        torch.set_float32_matmul_precision(precision)
