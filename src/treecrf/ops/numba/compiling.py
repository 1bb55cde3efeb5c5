"""Compilation for the CPU backend; kernels stay on disk until their sources change."""

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numba

from treecrf.ops.numba.disk import keep_on_disk

Function = TypeVar("Function", bound=Callable[..., Any])

# No checks: a division by zero has the result of NumPy.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_PACKAGE, *_OWN = __name__.split(".")
_FOLDER = Path(__file__).parents[len(_OWN) - 1]
_IMPORT = re.compile(rf"^from {_PACKAGE}\b\.?([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def kernel(function: Function) -> Function:
    """Compile a function on its first call, to run without the GIL, and keep it on disk."""
    # Numba names the file on disk after the function, and looks for changes in its module only: the
    # digest covers the modules that the function calls.
    function.__qualname__ += f"_{_digest(Path(inspect.getfile(function)))}"
    jitted = compiled(function)
    keep_on_disk(jitted)
    return jitted


def _compiling(**options: Any) -> Callable[[Function], Function]:
    def compile_(function: Function) -> Function:
        if function.__closure__ and function.__qualname__.endswith(f">.{function.__name__}"):
            raise TypeError(f"{function.__qualname__}: compile closures with compiled_for")
        return numba.njit(**_OPTIONS, **options)(function)

    return compile_


def compiled_for(algebra: ModuleType) -> Callable[[Function], Function]:
    """Compile like `compiled` what a function makes for several modules of sums and products.

    Code on disk is linked by name, and Numba tells functions of one name apart by a number that it
    counts in each process: kernels that two processes compiled could take each other's functions.
    """

    def compile_(function: Function) -> Function:
        function.__qualname__ += f"_{algebra.__name__.rpartition('.')[2]}"
        return compiled(function)

    return compile_


compiled = _compiling()
"""Compile a function together with the kernels that call it."""
relaxed = _compiling(fastmath={"reassoc", "contract", "nsz"})
"""Compile like `compiled`; sums may be reordered, but infinities keep their meaning."""
borrowing = _compiling(_nrt=False)
"""Compile like `compiled`, for functions that make no arrays: no counting of references to them,
which takes most of the time where many arrays go through many small functions."""
inlined = _compiling(inline="always")
"""Compile like `compiled`, but inlined into the loops of its callers."""


@cache
def sources(path: Path) -> frozenset[Path]:
    """A module and all modules of this package that it imports, directly or not."""
    return frozenset({path}).union(*map(sources, _imports(path)))


def _imports(path: Path) -> Iterator[Path]:
    for module, names in _IMPORT.findall(path.read_text("utf-8")):
        for name in ("", *re.findall(r"\w+", names)):
            file = _FOLDER.joinpath(*module.split("."), name).with_suffix(".py")
            if file.is_file():
                yield file


@cache
def _digest(path: Path) -> str:
    """Digest of the sources of the kernels of a module."""
    digest = hashlib.sha256()
    for source in sorted(sources(path)):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
