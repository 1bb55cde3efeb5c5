"""Compiled kernels on disk; damaged or unreadable ones are compiled again."""

import hashlib
import logging
import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)

_log = logging.getLogger("treecrf")
_told = False


def keep_on_disk(jitted: Any) -> None:
    """Make a jitted function load and save its compiled code."""
    try:
        jitted._cache = KernelCache(jitted.py_func)
    except Exception as error:  # no folder can be used
        _tell("compiled kernels cannot be kept", error)


def _tell(problem: str, error: Exception) -> None:
    """Warn once in a process that kernels have to be compiled."""
    global _told
    if not _told:
        _told = True
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        _log.warning("%s (%s); compiling takes a while", problem, reason)


def _existing(locator: Any) -> Any:
    """Make a locator like this one for a folder that exists but cannot be written."""

    class Existing(locator):
        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            try:
                found = cls(py_func, py_file)
                return found if os.path.isdir(found.get_cache_path()) else None
            except (OSError, TypeError):  # no NUMBA_CACHE_DIR
                return None

    return Existing


class _Places(CompileResultCacheImpl):
    """The places of Numba, then folders that can only be read."""

    _locator_classes = [  # noqa: RUF012
        *CompileResultCacheImpl._locator_classes,
        *map(_existing, (UserProvidedCacheLocator, InTreeCacheLocator, UserWideCacheLocator)),
    ]


class KernelCache(FunctionCache):
    """Numba's cache of a function, with a checksum of each file; errors become warnings."""

    _impl_class = _Places

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        # Numba would crash on a damaged object file.
        self._cache_file._load_data = self._load_data
        self._cache_file._save_data = self._save_data

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code for these types; None if there is none or it is damaged."""
        try:
            found = super().load_overload(sig, target_context)
            # Two processes that compile for different types at once may write to the same file.
            if found is not None and found.signature.args != tuple(getattr(sig, "args", sig)):
                raise ValueError(f"code for {found.signature.args} instead of {sig}")
            return found
        except Exception as error:  # unpickling damaged bytes raises anything
            _tell(f"{self.cache_path}: damaged kernels are compiled again", error)
            with suppress(Exception):
                self.flush()  # so that new ones can be saved
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the compiled code if possible."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _tell(f"{self.cache_path}: compiled kernels cannot be saved", error)

    def _save_data(self, name: str, data: Any) -> None:
        dumped: bytes = self._cache_file._dump(data)
        with self._cache_file._open_for_write(self._cache_file._data_path(name)) as file:
            file.write(hashlib.sha256(dumped).digest() + dumped)

    def _load_data(self, name: str) -> Any:
        content = Path(self._cache_file._data_path(name)).read_bytes()
        digest, dumped = content[:32], content[32:]
        if hashlib.sha256(dumped).digest() != digest:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(dumped)
