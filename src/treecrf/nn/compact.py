"""Weights in fewer bits: float16, or int8 with a scale for each row of a matrix."""

from collections.abc import Iterator, Mapping
from typing import Literal

import torch
from torch import Tensor

from treecrf.nn.int8.linear import scale_of_rows
from treecrf.storage import StorageError

Stored = Literal["half", "bytes"]

_SCALE = " scale"  # suffix of the name of an int8 matrix
_SMALLEST = 4096  # smaller matrices are stored as float16


def compacted(tensors: Mapping[str, Tensor], stored: Stored) -> dict[str, Tensor]:
    """Convert to float16, or with "bytes" large matrices to int8 and the rest to float16."""
    compact: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            compact[name] = tensor
        elif stored == "bytes" and tensor.dim() > 1 and tensor.numel() >= _SMALLEST:
            rows = tensor.detach().float().flatten(0, -2)
            scale = scale_of_rows(rows)
            compact[name] = (rows / scale).round().to(torch.int8).view(tensor.shape)
            compact[name + _SCALE] = scale.flatten()
        else:
            compact[name] = tensor.detach().half()
    return compact


def restored(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert stored tensors back to float32."""
    whole: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(_SCALE):
            continue
        if tensor.dtype == torch.int8:
            scale = tensors.get(name + _SCALE)
            rows = tensor.shape[:-1]
            if scale is None or scale.numel() != rows.numel():
                raise StorageError(f"damaged: {name} has no scale for each of its rows")
            tensor = tensor.float() * scale.view(*rows, 1)
        half = tensor.is_floating_point() and tensor.itemsize < 4
        whole[name] = tensor.float() if half else tensor
    return whole


def shards(tensors: Mapping[str, Tensor], *, most: int) -> Iterator[dict[str, Tensor]]:
    """Split into parts of at most `most` bytes; a larger tensor is a part of its own."""
    part: dict[str, Tensor] = {}
    size = 0
    for name, tensor in tensors.items():
        if part and size + tensor.nbytes > most:
            yield part
            part, size = {}, 0
        part[name] = tensor
        size += tensor.nbytes
    if part:
        yield part
