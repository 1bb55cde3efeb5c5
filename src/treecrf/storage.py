"""Files of any kind, written whole or not at all, and weights.

Nothing here needs torch until weights are read or written.
"""

import contextlib
import errno
import glob
import hashlib
import io
import json
import os
import re
import shutil
import stat
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from torch import Tensor

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "StorageError",
    "all_beside",
    "beside",
    "copy_modes",
    "hidden",
    "is_finite",
    "load_tensors",
    "misfit",
    "naming",
    "open_replacing",
    "remove_temporary",
    "replace_file",
    "save_tensors",
]

_LONGEST_NAME = 255  # bytes
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})|/dev/stderr")


class StorageError(ValueError):
    """A file that is not what it should be; each layer above makes it an error of its own."""


@contextlib.contextmanager
def open_replacing(target: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write; the path has its old content until the block ends without an error.

    No more people may read the temporary file than the one that it replaces. A link stays a link; a
    device or a pipe is written to as it is.
    """
    name = os.fspath(target)
    if not _is_replaceable(name):
        with _open_as_it_is(name) as file:
            yield file
        return
    path = Path(os.path.realpath(name))
    remove_temporary(path)
    temporary = beside(path, ".tmp")
    try:
        with naming(name):
            old = path.stat() if path.exists() else None
            descriptor = _create(temporary, 0o666 if old is None else 0o600)
        with io.BufferedWriter(_NamedFile(descriptor, name)) as file:
            if old is not None:
                _copy_owner_and_mode(old, descriptor)
            yield file
            file.flush()
            with naming(name):
                os.fsync(descriptor)
                # Replaced while the lock is held: until then it is nobody's leftover.
                if fcntl is None:
                    file.close()  # Windows moves no open file
                os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def replace_file(path: str | os.PathLike[str], *parts: bytes | memoryview) -> None:
    """Write a file so that the path has the old content or the new, never a part of it."""
    with open_replacing(path) as file:
        file.writelines(parts)


def remove_temporary(path: Path) -> None:
    """Remove temporary files of this path that killed processes left; those in use stay."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            for temporary in all_beside(path, ".tmp"):
                _remove_unused(temporary)


def copy_modes(old: Path, new: Path) -> None:
    """Give a new folder, and each file in it that the old one has too, the modes of the old."""
    for path in [*new.rglob("*"), new]:
        before = old / path.relative_to(new)
        if before.exists():
            shutil.copymode(before, path)


def beside(path: Path, end: str) -> Path:
    """A new hidden name in the same folder with this ending; a name that is too long is cut."""
    return path.with_name(f"{hidden(path, 9 + len(end))}.{os.urandom(4).hex()}{end}")


def all_beside(path: Path, end: str) -> list[Path]:
    """The files that are there by names that `beside` gave."""
    start = glob.escape(hidden(path, 9 + len(end)))
    return list(path.parent.glob(f"{start}.{'[0-9a-f]' * 8}{end}"))


def hidden(path: Path, room: int) -> str:
    """The name with a dot before it, cut so that there is room for as many bytes behind it."""
    name = f".{path.name}"
    room = _LONGEST_NAME - room
    if len(os.fsencode(name)) <= room:
        return name
    mark = "-" + hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
    while len(os.fsencode(name)) > room - len(mark):
        name = name[:-1]
    return name + mark


@contextlib.contextmanager
def naming(name: str) -> Iterator[None]:
    """Have errors of the system name the file that the user knows."""
    try:
        yield
    except OSError as error:
        folder = os.path.dirname(name) or os.curdir
        if error.errno == errno.ENOENT and not os.path.isdir(folder):
            problem = f"there is no folder {folder}; make it first"
            raise FileNotFoundError(errno.ENOENT, problem, name) from None
        if error.errno is not None:
            error.filename, error.filename2 = name, None
        raise


class _NamedFile(io.FileIO):
    """A file to write whose errors have a name, such as that of a full disk."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__(descriptor, "wb")
        self.shown_name = name

    def write(self, data: "ReadableBuffer", /) -> int:
        with naming(self.shown_name):
            return super().write(data)


def _create(temporary: Path, mode: int) -> int:
    """Create and lock a file: the lock, which ends with the process, says that it is in use."""
    binary = getattr(os, "O_BINARY", 0)  # Windows
    while True:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | binary, mode)
        if fcntl is None:
            return descriptor
        with contextlib.suppress(OSError):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is_in_place(descriptor, temporary):
            return descriptor
        os.close(descriptor)  # taken for a leftover before it was locked


def _is_in_place(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _remove_unused(temporary: Path) -> None:
    """Remove a file of this user that no process has locked."""
    with contextlib.suppress(OSError):
        status = temporary.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return
        descriptor = os.open(temporary, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_in_place(descriptor, temporary):
                temporary.unlink()
        finally:
            os.close(descriptor)


def _copy_owner_and_mode(old: os.stat_result, descriptor: int) -> None:
    if not hasattr(os, "fchmod"):  # Windows
        return
    for user, group in ((-1, old.st_gid), (old.st_uid, -1)):
        with contextlib.suppress(OSError):  # not everyone may give files away
            os.fchown(descriptor, user, group)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _is_replaceable(name: str) -> bool:
    """Whether this is the path of a file, there or not: a device or a pipe has nothing to keep."""
    if not name or name.startswith("/proc/") or _DESCRIPTOR.fullmatch(name):
        return False
    try:
        # Not of its real path: the links under /proc name pipes that are no paths.
        return stat.S_ISREG(os.stat(name).st_mode)
    except FileNotFoundError:
        return True


def _open_as_it_is(name: str) -> IO[bytes]:
    with naming(name):
        if descriptor := _DESCRIPTOR.fullmatch(name):
            # Opened by its name, a log that the shell appends to would be emptied.
            number = os.dup(int(descriptor[1] or 2))
        else:
            number = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    return io.BufferedWriter(_NamedFile(number, name))


def save_tensors(path: Path, tensors: Mapping[str, "Tensor"], metadata: dict[str, str]) -> None:
    """Write tensors of any device to a file; equal tensors give equal files."""
    from safetensors.torch import save

    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    data = memoryview(save(plain, metadata))
    stop = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(bytes(data[8:stop]))
    header["__metadata__"] = metadata  # safetensors writes it in any order
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    replace_file(path, len(text).to_bytes(8, "little"), text, data[stop:])


def load_tensors(path: Path, form: str) -> tuple[dict[str, "Tensor"], dict[str, str]]:
    """The tensors of a file of this form, on the host, and its metadata."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != form:
                raise StorageError(f"{path}: not a file of this version of treecrf ({form})")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except StorageError:
        raise
    # Types of numbers that this version of torch lacks are attributes or keys that are missing.
    except (OSError, SafetensorError, AttributeError, KeyError, ValueError) as error:
        raise StorageError(f"{path}: damaged, or not a safetensors file: {error}") from None
    for name, tensor in tensors.items():
        if tensor.is_complex():
            raise StorageError(f"{path}: damaged: {name} has complex numbers")
        if not is_finite(tensor):
            raise StorageError(f"{path}: damaged: {name} has numbers that are not finite")
    return tensors, metadata


def misfit(error: RuntimeError) -> str:
    """The end of what torch says about weights that do not fit a module, in a part of a line."""
    return textwrap.shorten(str(error).splitlines()[-1], 200, placeholder=" ...")


def is_finite(tensor: "Tensor") -> bool:
    """Whether all numbers are finite; nearly always one sum tells."""
    if not tensor.is_floating_point():
        return True
    if tensor.itemsize < 4:
        tensor = tensor.float()
    return bool(tensor.sum().isfinite()) or bool(tensor.isfinite().all())
