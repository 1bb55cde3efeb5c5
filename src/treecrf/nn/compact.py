"""Weights stored in fewer bits: float16, or int8 with a scale for each row of a matrix."""

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor

from treecrf.storage import StorageError

__all__ = ["SCALE", "Stored", "compacted", "restored"]

Stored = Literal["float32", "float16", "int8"]
"""Precision of stored weights; they are computed with in float32 again."""

SCALE = " scale"
"""Suffix of the name of an int8 matrix, for the scales of its rows."""

_SMALLEST = 4096  # smaller matrices are stored as float16


def compacted(tensors: Mapping[str, Tensor], stored: Stored) -> dict[str, Tensor]:
    """Convert to float16, or with "int8" large matrices to int8 and the rest to float16."""
    if stored == "float32":
        return dict(tensors)
    from treecrf.nn.int8.linear import scale_of_rows  # more than those load who only read weights

    compact: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            compact[name] = tensor
        elif stored == "int8" and tensor.dim() > 1 and tensor.numel() >= _SMALLEST:
            rows = tensor.detach().float().flatten(0, -2)
            scale = scale_of_rows(rows)
            compact[name] = (rows / scale).round().to(torch.int8).view(tensor.shape)
            compact[name + SCALE] = scale.flatten()
        else:
            compact[name] = tensor.detach().half()
    return compact


def restored(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert stored tensors back to float32."""
    whole: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(SCALE):
            continue
        if tensor.dtype == torch.int8:
            scale = tensors.get(name + SCALE)
            rows = tensor.shape[:-1]
            if scale is None or scale.numel() != rows.numel():
                raise StorageError(f"damaged: {name} has no scale for each of its rows")
            tensor = tensor.float() * scale.view(*rows, 1)
        half = tensor.is_floating_point() and tensor.itemsize < 4
        whole[name] = tensor.float() if half else tensor
    return whole
