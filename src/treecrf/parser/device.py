"""The device of a parser, and the precision of its matrix products."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from treecrf.nn.precision import FAST, product_precision, set_product_precision
from treecrf.parser.errors import ParserError

__all__ = ["choose_device", "fast_products"]


def choose_device(name: str) -> torch.device:
    """The device of this name; "auto" is a GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device: torch.device | None
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise ParserError(f"no device is called {name!r}; try cpu, cuda or cuda:1")
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device.type == "cuda" and (device.index or 0) >= found:
        raise ParserError(f"this torch finds no CUDA device {name!r}; use the device cpu")
    return device


class _Shared:
    """State of `fast_products`: the precision of products is one for the process."""

    lock = threading.Lock()
    users = 0
    before = ""


@contextmanager
def fast_products() -> Iterator[None]:
    """Compute matrix products on a GPU by its tensor cores (TF32) inside the `with` block.

    Scores need no more: parsers trained so are as good, in a fraction of the time.
    """
    with _Shared.lock:
        if not _Shared.users:
            _Shared.before = product_precision()
            set_product_precision(FAST)
        _Shared.users += 1
    try:
        yield
    finally:
        with _Shared.lock:
            _Shared.users -= 1
            if not _Shared.users:  # the last thread to leave puts it back
                set_product_precision(_Shared.before)
