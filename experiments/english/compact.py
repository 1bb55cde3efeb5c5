"""Weights of a model in fewer bits, in several files; `treecrf.nn.compact` reads them back."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from torch import Tensor

from treecrf.nn.compact import Stored as Precision
from treecrf.nn.compact import compacted
from treecrf.parser.folder import WEIGHTS, WEIGHTS_FORM, save_weights
from treecrf.storage import save_tensors

__all__ = ["Stored", "save_compact", "shards"]

Stored = Literal["half", "bytes"]

# A little under 16 MiB with the names of tensors: hosts of repositories want no larger files.
_SHARD_BYTES = (16 << 20) - (1 << 16)


def save_compact(
    folder: Path, weights: Mapping[str, Tensor], stored: Stored, *, most: int = _SHARD_BYTES
) -> None:
    """Write the weights of a model in fewer bits, in files of at most `most` bytes."""
    kind: Precision = "float16" if stored == "half" else "int8"
    parts = list(shards(compacted(weights, kind), most=most))
    save_weights(folder, weights)  # these are read until every part is there
    for number, part in enumerate(parts, 1):
        path = folder / f"model-{number}-of-{len(parts)}.safetensors"
        save_tensors(path, part, {"format": WEIGHTS_FORM})
    (folder / WEIGHTS).unlink(missing_ok=True)


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
