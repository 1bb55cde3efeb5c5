"""Compiles functions for the CPU backend, and keeps kernels on disk until their sources change."""

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

from treecrf.ops.numba.disk import keep_on_disk

__all__ = ["compiled", "inlined", "kernel", "relaxed", "sources"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Kernels check nothing: a division by zero has the result that it has in NumPy.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_PACKAGE, *_OWN = __name__.split(".")
_FOLDER = Path(__file__).parents[len(_OWN) - 1]
_IMPORT = re.compile(rf"^from {_PACKAGE}\b\.?([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def kernel(function: Function) -> Function:
    """Compiles a function on its first call, to run without the GIL, and keeps it on disk."""
    # Numba names the file on disk after the function, and looks no further than its own module
    # for changes: the digest makes it notice changes in what the function calls.
    function.__qualname__ += f"_{_digest(Path(inspect.getfile(function)))}"
    jitted: Function = numba.njit(**_OPTIONS)(function)
    keep_on_disk(jitted)
    return jitted


def compiled(function: Function) -> Function:
    """Compiles a function together with the kernels that call it."""
    jitted: Function = numba.njit(**_OPTIONS)(function)
    return jitted


def relaxed(function: Function) -> Function:
    """Like `compiled`; sums may be reordered, for vector instructions."""
    # Not all that fast mathematics could do: infinities keep their meaning.
    jitted: Function = numba.njit(fastmath={"reassoc", "contract", "nsz"}, **_OPTIONS)(function)
    return jitted


def inlined(function: Function) -> Function:
    """Like `compiled`, but written into the loops of its callers."""
    jitted: Function = numba.njit(inline="always", **_OPTIONS)(function)
    return jitted


@cache
def sources(path: Path) -> frozenset[Path]:
    """A module and the modules of this package that it imports, with those that they import."""
    return frozenset({path}).union(*map(sources, _imports(path)))


def _imports(path: Path) -> Iterator[Path]:
    for module, names in _IMPORT.findall(path.read_text("utf-8")):
        for name in ("", *re.findall(r"\w+", names)):
            file = _FOLDER.joinpath(*module.split("."), name).with_suffix(".py")
            if file.is_file():
                yield file


@cache
def _digest(path: Path) -> str:
    """Of all that takes part in the kernels of a module."""
    digest = hashlib.sha256()
    for source in sorted(sources(path)):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
