"""Modules without initialised weights, to be loaded from a file."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from treecrf.memory import machine_memory

_WEIGHT_BYTES = 4
_MAKERS = (torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn)


class TooLargeError(ValueError):
    """Weights that do not fit in the memory of this machine."""


@contextmanager
def blank_weights() -> Iterator[None]:
    """Make modules inside the `with` block without memory or time; load their weights afterwards.

    Raises TooLargeError if the weights would not fit into the memory of this machine.
    """
    with torch.device("meta"), _NoInitialisation():
        yield


class _NoInitialisation(TorchFunctionMode):
    """Skip `nn.init`: to fill even meta tensors, torch would load its compiler."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = machine_memory()
        self.needed = 0

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return given["tensor"] if "tensor" in given else args[0]
        if func in _MAKERS:
            self._count(given.get("size", args))
        return func(*args, **given)

    def _count(self, size: Any) -> None:
        """Add the memory of a tensor of this size, in Python integers, which do not overflow."""
        if len(size) and isinstance(size[0], Sequence):
            size = size[0]
        if any(type(number) is not int or number < 0 for number in size):
            return  # torch raises its own error
        self.needed += _WEIGHT_BYTES * math.prod(size)
        if self.needed > self.memory:
            raise TooLargeError(
                f"the weights need more than {self.needed / 2**30:,.0f} GiB of memory, and this "
                f"machine has {self.memory / 2**30:,.0f} GiB"
            )
