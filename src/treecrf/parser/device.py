"""Where a parser computes, and how precisely."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from treecrf.nn.precision import FAST, product_precision, set_product_precision
from treecrf.parser.errors import ParserError

__all__ = ["choose_device", "fast_products"]


def choose_device(name: str) -> torch.device:
    """The device of this name; "auto" is a GPU where there is one."""
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


class _Precision:
    """That of products, which is one for the process: the last thread to leave puts it back."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.before = ""

    def enter(self) -> None:
        with self.lock:
            if not self.users:
                self.before = product_precision()
                set_product_precision(FAST)
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                set_product_precision(self.before)


_precision = _Precision()


@contextmanager
def fast_products() -> Iterator[None]:
    """Matrix products on a GPU by its tensor cores (TF32) inside the `with` block.

    Scores need no more: parsers trained so are as good, in a fraction of the time.
    """
    _precision.enter()
    try:
        yield
    finally:
        _precision.leave()
