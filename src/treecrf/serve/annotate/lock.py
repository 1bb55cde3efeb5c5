"""A lock on a file that one process writes: it ends with the process, however that ends."""

import contextlib
import os
from pathlib import Path
from typing import IO

from treecrf.storage import hidden
from treecrf.treebank import TreebankError

__all__ = ["FileLock"]


class FileLock:
    """Held from when it is made until `release`, in a file beside the one that it is for."""

    def __init__(self, path: Path) -> None:
        """Take the lock, or say why that cannot be."""
        self._place = path.with_name(hidden(path, 5) + ".lock")
        self._file = self._taken(path)
        while not self._is_in_place():  # the process that had it has just removed it
            self._file.close()
            self._file = self._taken(path)

    def _taken(self, path: Path) -> IO[str]:
        try:
            import fcntl
        except ModuleNotFoundError:  # Windows
            raise TreebankError(
                f"{path}: this system has no locks that end with a process, and annotation needs "
                "one; run `treecrf annotate` under Linux, macOS or the Windows Subsystem for Linux"
            ) from None
        try:
            file = open(self._place, "w")  # noqa: SIM115
        except OSError as error:
            error.filename = str(path)  # the name that the user knows
            raise
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise TreebankError(
                f"{path}: another `treecrf annotate` has it; end that one first"
            ) from None
        except OSError as error:
            file.close()
            raise TreebankError(
                f"{path}: it cannot be locked there ({error.strerror}), and annotation needs a "
                "lock; name a file on another disk"
            ) from None
        return file

    def _is_in_place(self) -> bool:
        """Whether the next process would find this very file."""
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), os.stat(self._place))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Leave nothing behind; whoever waits with the file open sees that it has gone."""
        with self._file, contextlib.suppress(OSError):  # a folder that may not be written any more
            if self._is_in_place():
                self._place.unlink()
