"""Weights of a model in fewer bits, in several files; `treecrf.nn.compact` reads them back."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from treecrf.nn.compact import SCALE
from treecrf.nn.int8.linear import scale_of_rows
from treecrf.parser.folder import WEIGHTS, WEIGHTS_FORM, save_weights
from treecrf.storage import save_tensors

__all__ = ["Stored", "compacted", "save_compact", "shards"]

Stored = Literal["half", "bytes"]

_SMALLEST = 4096  # smaller matrices are stored as float16
# A little under 16 MiB with the names of tensors: hosts of repositories want no larger files.
_SHARD_BYTES = (16 << 20) - (1 << 16)


def save_compact(
    folder: Path, weights: Mapping[str, Tensor], stored: Stored, *, most: int = _SHARD_BYTES
) -> None:
    """Write the weights of a model in fewer bits, in files of at most `most` bytes."""
    parts = list(shards(compacted(weights, stored), most=most))
    save_weights(folder, weights)  # these are read until every part is there
    for number, part in enumerate(parts, 1):
        path = folder / f"model-{number}-of-{len(parts)}.safetensors"
        save_tensors(path, part, {"format": WEIGHTS_FORM})
    (folder / WEIGHTS).unlink(missing_ok=True)


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
            compact[name + SCALE] = scale.flatten()
        else:
            compact[name] = tensor.detach().half()
    return compact


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
