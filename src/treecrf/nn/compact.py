"""Weights stored in fewer bits: float16, or int8 with a scale for each row of a matrix."""

from collections.abc import Mapping

import torch
from torch import Tensor

from treecrf.storage import StorageError

SCALE = " scale"
"""Suffix of the name of an int8 matrix, for the scales of its rows."""


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
