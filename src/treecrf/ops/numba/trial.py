"""A small kernel that tells whether this machine compiles those of the CPU backend."""

import numpy as np

from treecrf.ops.numba.compiling import kernel
from treecrf.ops.numba.lanes import LANES, Floats, load, store

__all__ = ["check"]


@kernel
def _double(values: Floats) -> None:
    store(values, 0, load(values, 0) + load(values, 0))


def check() -> None:
    """Raise an error unless a kernel over lanes can be compiled and computes what it should."""
    values = np.arange(float(LANES))
    expected = 2 * values
    _double(values)
    if not np.array_equal(values, expected):
        raise ArithmeticError(f"a compiled kernel gave {values} instead of {expected}")
