"""File locks of a process, which end with the process, however it ends."""

import contextlib
import errno
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

__all__ = ["HOLDER", "LOCK_FILES", "NO_LOCKS", "FileLock", "LockedError", "locked_folder"]

_FOLDER_LOCK = ".training.lock"
HOLDER = ".holder"
"""Suffix of the file that names the process that has a lock."""
LOCK_FILES = (_FOLDER_LOCK, _FOLDER_LOCK + HOLDER)
"""The files of a lock in a folder; both are removed when it is released."""
NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""Errors of file systems that have no locks."""

_PATIENCE = 0.5  # seconds: a process that is ending may be about to release it


class LockedError(RuntimeError):
    """Another process has the lock; the text names it: its number, its machine, since when."""


class FileLock:
    """A lock of the operating system on a file, from when it is made until `release`.

    Its two files are removed at the end; after a kill they stay, unlocked.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock, or raise `LockedError`."""
        import filelock  # not with every command that only reads models

        if not path.parent.is_dir():  # which filelock would make
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        self.path = path
        # Beside it, because a locked file cannot be read everywhere.
        self._holder = path.with_name(path.name + HOLDER)
        self._lock = filelock.FileLock(path)
        try:
            self._lock.acquire(timeout=_PATIENCE)
        except filelock.Timeout:
            raise LockedError(self._read_holder()) from None
        self._identity = _identity(path)
        holder = {
            "process": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now().isoformat(" ", "seconds"),
        }
        self._holder.write_text(json.dumps(holder), encoding="utf-8")

    @property
    def in_place(self) -> bool:
        """Whether the lock file is still in its place, where the next process looks."""
        return self._identity is not None and _identity(self.path) == self._identity

    def release(self) -> None:
        """Release the lock and remove its files; further calls do nothing."""
        if self._lock.is_locked and self.in_place:
            for path in (self._holder, self.path):
                with contextlib.suppress(OSError):  # Windows removes no open file
                    path.unlink()
        self._lock.release()

    def _read_holder(self) -> str:
        try:
            holder = json.loads(self._holder.read_bytes())
            return f"process {holder['process']} on {holder['host']}, since {holder['since']}"
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return "another process"


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


_held: dict[tuple[int, str], FileLock] = {}  # by thread and folder


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """A model folder, made where there is none, that no other process or thread locks meanwhile.

    The thread that has the lock may take it again. A new folder that stays empty is removed.
    """
    real = os.path.realpath(folder)
    key = threading.get_ident(), real
    if (own := _held.get(key)) is not None:
        if not own.in_place:
            problem = "it was removed or replaced while a model was written to it"
            raise LockedError(f"{problem}; nothing more is written")
        yield
        return
    made = [path for path in (Path(real), *Path(real).parents) if not path.exists()]
    try:
        Path(real).mkdir(parents=True, exist_ok=True)
        _held[key] = _lock_of(Path(real))
        try:
            yield
        finally:
            _held.pop(key).release()
    finally:
        with contextlib.suppress(OSError):  # it is not empty, or another process has removed it
            for path in made:
                path.rmdir()


def _lock_of(folder: Path) -> FileLock:
    try:
        return FileLock(folder / _FOLDER_LOCK)
    except LockedError as error:
        hint = "wait until that has ended, or choose another folder"
        raise LockedError(f"a model is being written here already ({error}); {hint}") from None
