"""Files in and out: plain, gzip or a stream; read in pieces, written whole or not at all."""

import codecs
import contextlib
import gzip
import io
import os
import shutil
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TypeAlias, cast

from treecrf.treebank.errors import TreebankError

__all__ = ["File", "open_source", "open_target", "read_blocks"]

File: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str]

_CHUNK = 1 << 18
_GZIP_MAGIC = b"\x1f\x8b"


@contextlib.contextmanager
def open_source(source: File) -> Iterator[tuple[IO[bytes] | IO[str], str]]:
    """A file to read from, unpacked where it is gzip, and its name; `-` is standard input."""
    if not isinstance(source, (str, os.PathLike)):
        name = getattr(source, "name", None)
        yield _unpacked(source), name if isinstance(name, str) else "<file>"
    elif os.fspath(source) == "-":
        yield _unpacked(getattr(sys.stdin, "buffer", sys.stdin)), "<stdin>"
    else:
        with open(source, "rb") as file:
            yield _unpacked(file), os.fspath(source)


def _unpacked(file: IO[bytes] | IO[str]) -> IO[bytes] | IO[str]:
    if isinstance(file, io.TextIOBase):
        return file
    if hasattr(file, "peek"):
        start = file.peek(2)[:2]
    elif file.seekable():
        place = file.tell()
        start = file.read(2)
        file.seek(place)
    else:
        return file
    return cast(IO[bytes], gzip.open(cast(IO[bytes], file))) if start == _GZIP_MAGIC else file


def read_blocks(file: IO[bytes] | IO[str], name: str) -> Iterator[tuple[int, int, str]]:
    """What stands between the empty lines of a file: its first line, its line breaks, its text."""
    line = 1
    rest = b""
    chunks = _chunks(file)
    while True:
        try:
            chunk = next(chunks, b"")
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            problem = f"broken gzip data: {error}"
            raise TreebankError(problem, source=name, line=line + rest.count(b"\n")) from None
        except UnicodeError as error:  # of a file that was opened as text
            problem = f"not UTF-8: {error}"
            raise TreebankError(problem, source=name, line=line + rest.count(b"\n")) from None
        if not chunk:
            break
        blocks = (rest + chunk).split(b"\n\n")
        rest = blocks.pop()
        for block in blocks:
            if block[:1] in (b"\n", b""):
                line += len(block) - len(block := block.lstrip(b"\n"))
            breaks = block.count(b"\n")
            if block:
                try:
                    text = block.decode()
                except UnicodeDecodeError as error:
                    raise _not_utf8(error, name, line) from None
                yield line, breaks, text
            line += breaks + 2
    if rest.strip(b"\n"):
        try:
            rest.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(error, name, line) from None
        problem = "the file ends inside a sentence: there is no empty line after its last word"
        raise TreebankError(problem, source=name, line=line + rest.rstrip(b"\n").count(b"\n"))


def _not_utf8(error: UnicodeDecodeError, name: str, line: int) -> TreebankError:
    line += error.object.count(b"\n", 0, error.start)
    problem = f"not UTF-8: {error.reason} (byte 0x{error.object[error.start]:02x})"
    return TreebankError(problem, source=name, line=line)


def _chunks(file: IO[bytes] | IO[str]) -> Iterator[bytes]:
    """Pieces of a file that end where a line ends, with `\\n` as the line break."""
    # A pipe gives what it has: no waiting until a whole piece is full.
    read: Callable[[int], bytes | str] = getattr(file, "read1", file.read)
    first = True
    while chunk := read(_CHUNK):
        if chunk[-1:] not in (b"\n", "\n"):
            chunk += file.readline()  # type: ignore[operator]
        if isinstance(chunk, str):
            chunk = chunk.encode()
        if first:
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
            first = False
        if chunk:
            yield chunk.replace(b"\r\n", b"\n") if b"\r" in chunk else chunk


@contextlib.contextmanager
def open_target(target: File) -> Iterator[Callable[[str], object]]:
    """Something that writes text to a file; a path has its old content until all is written."""
    if not isinstance(target, (str, os.PathLike)):
        yield _writer(target)
    elif os.fspath(target) == "-":
        sys.stdout.flush()
        yield _writer(getattr(sys.stdout, "buffer", sys.stdout))
        sys.stdout.flush()
    else:
        # Through a link to the file it names; a device or a pipe has nothing to keep.
        path = Path(os.path.realpath(target))
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            with open(path, "wb") as file:
                yield _writer(file)
            return
        temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
        try:
            with _create(temporary, target) as file:
                if path.suffix == ".gz":
                    # No name and time in it: the same sentences give the same bytes.
                    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                        yield _writer(cast(IO[bytes], packed))
                else:
                    yield _writer(file)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                shutil.copymode(path, temporary)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def _create(temporary: Path, target: str | os.PathLike[str]) -> IO[bytes]:
    try:
        return open(temporary, "xb")
    except OSError as error:
        error.filename = os.fspath(target)  # the name that the user knows
        raise


def _writer(file: IO[bytes] | IO[str]) -> Callable[[str], object]:
    if hasattr(file, "encoding"):
        return file.write  # type: ignore[return-value]
    return lambda text: file.write(_encode(text))  # type: ignore[arg-type]


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise TreebankError(f"UTF-8 has no such character: {character!r}") from None
