"""Weights and other files of models on disk: safetensors, written whole or not at all."""

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from treecrf.atomic import replace_file

__all__ = ["StorageError", "is_finite", "load_tensors", "misfit", "save_tensors"]


class StorageError(ValueError):
    """A file that is not what it should be; each layer above makes it an error of its own."""


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> None:
    """Write tensors, from whatever device, in the place of what is there; the same are the same
    bytes.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    data = memoryview(save(plain, metadata))
    stop = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(bytes(data[8:stop]))
    header["__metadata__"] = metadata  # safetensors writes it in any order
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    replace_file(path, len(text).to_bytes(8, "little"), text, data[stop:])


def load_tensors(path: Path, form: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a file of this form, on the host, and its metadata."""
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != form:
                raise StorageError(f"{path}: not a file of this version of treecrf ({form})")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except StorageError:
        raise
    # Types of numbers that this version of torch lacks are attributes or keys that are missing.
    except (OSError, SafetensorError, AttributeError, KeyError, ValueError) as error:
        raise StorageError(f"{path}: damaged, or not a safetensors file: {error}") from None
    for name, tensor in tensors.items():
        if tensor.is_complex():
            raise StorageError(f"{path}: damaged: {name} has complex numbers")
        if not is_finite(tensor):
            raise StorageError(f"{path}: damaged: {name} has numbers that are not finite")
    return tensors, metadata


def misfit(error: RuntimeError) -> str:
    """The end of what torch says about weights that do not fit a module, in a part of a line."""
    return textwrap.shorten(str(error).splitlines()[-1], 200, placeholder=" ...")


def is_finite(tensor: Tensor) -> bool:
    """Whether all numbers are finite; nearly always one sum tells."""
    if not tensor.is_floating_point():
        return True
    if tensor.itemsize < 4:
        tensor = tensor.float()
    return bool(tensor.sum().isfinite()) or bool(tensor.isfinite().all())
