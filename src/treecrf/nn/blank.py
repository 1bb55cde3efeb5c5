"""Modules made to be loaded: their weights have shapes, and no numbers yet."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

__all__ = ["TooLargeError", "blank_weights", "machine_memory"]

# Where the machine does not say how much it has.
_USUAL_BYTES = 16 << 30
_WEIGHT_BYTES = 4
_MAKERS = (torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn)


class TooLargeError(ValueError):
    """Weights that do not fit in the memory of this machine."""


@contextmanager
def blank_weights() -> Iterator[None]:
    """Inside the `with` block modules take no memory and no time; load their weights afterwards.

    An error says what they would take if that is more than the machine has.
    """
    with torch.device("meta"), _NoInitialisation():
        yield


def machine_memory() -> int:
    """Bytes of memory of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _USUAL_BYTES


class _NoInitialisation(TorchFunctionMode):
    """Leaves tensors as they are: to fill even those without numbers torch loads its compiler."""

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
        """Add up what tensors of these sizes take, in integers that do not overflow."""
        if len(size) and isinstance(size[0], Sequence):
            size = size[0]
        if any(type(number) is not int or number < 0 for number in size):
            return  # torch says what is wrong with it
        self.needed += _WEIGHT_BYTES * math.prod(size)
        if self.needed > self.memory:
            raise TooLargeError(
                f"the weights need more than {self.needed / 2**30:,.0f} GiB of memory, and this "
                f"machine has {self.memory / 2**30:,.0f} GiB"
            )
