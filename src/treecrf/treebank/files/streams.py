"""Files in and out: plain, gzip or a stream; read in pieces, written whole or not at all."""

import codecs
import contextlib
import errno
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TypeAlias, cast

from treecrf.storage import naming, open_replacing
from treecrf.treebank.errors import TreebankError

__all__ = [
    "File",
    "binary_problem",
    "decode",
    "next_chunk",
    "not_utf8",
    "open_source",
    "open_target",
    "read_blocks",
    "read_chunks",
    "read_lines",
    "read_piece",
    "rejoined",
]

File: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str]

_CHUNK = 1 << 18
_LONGEST_LINE = 1 << 24
_GZIP_MAGIC = b"\x1f\x8b"
# How PDF, pictures and archives begin; most others have a zero soon.
_NO_TEXT = (
    b"%PDF-",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"PK\3\4",
    b"BZh",
    b"\xfd7zXZ",
    b"7z\xbc",
)
_STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


@contextlib.contextmanager
def open_source(source: File) -> Iterator[tuple[IO[bytes] | IO[str], str]]:
    """A file to read from, unpacked where it is gzip, and its name; `-` is standard input."""
    if not isinstance(source, (str, os.PathLike)):
        name = getattr(source, "name", None)
        yield _unpacked(source), name if isinstance(name, str) else "<file>"
    elif os.fspath(source) == "-":
        if sys.stdin is None:
            raise TreebankError("standard input is closed")
        yield _unpacked(getattr(sys.stdin, "buffer", sys.stdin)), "<stdin>"
    else:
        with open(source, "rb") as file:
            yield _unpacked(file), os.fspath(source)


def _unpacked(file: IO[bytes] | IO[str]) -> IO[bytes] | IO[str]:
    if isinstance(file, io.TextIOBase):
        return file
    binary = cast(IO[bytes], file)
    start = b""
    if hasattr(binary, "peek"):
        start = binary.peek(2)[:2]
    elif binary.seekable():
        place = binary.tell()
        start = binary.read(2)
        binary.seek(place)
    if start == _GZIP_MAGIC[:1]:  # a pipe gave one byte, and peek does not wait for more
        start = binary.read(2)
        binary = rejoined(start, binary)
    return cast(IO[bytes], gzip.open(binary)) if start == _GZIP_MAGIC else binary


def rejoined(start: bytes, file: IO[bytes] | IO[str]) -> IO[bytes]:
    """A stream with the bytes that were taken from it in front again."""
    return io.BufferedReader(_Rejoined(start, file))


class _Rejoined(io.RawIOBase):
    def __init__(self, start: bytes, file: IO[bytes] | IO[str]) -> None:
        self.start = start
        self.read_on: Callable[[int], bytes | str] = getattr(file, "read1", file.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        ready = self.start or _encoded(self.read_on(len(buffer)))
        data, self.start = ready[: len(buffer)], ready[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def read_chunks(file: IO[bytes] | IO[str], size: int = _CHUNK) -> Iterator[bytes]:
    """Pieces of a file, read `size` bytes at a time; they end where a line ends, with `\\n`."""
    first = True
    for chunk in _whole_lines(file, size):
        if first:
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
            first = False
        if chunk:
            yield chunk.replace(b"\r\n", b"\n") if b"\r" in chunk else chunk


def _whole_lines(file: IO[bytes] | IO[str], size: int) -> Iterator[bytes]:
    # A pipe gives what it has: no waiting until a whole piece, or a line, is full.
    read: Callable[[int], bytes | str] = getattr(file, "read1", file.read)
    rest: list[bytes] = []  # of a line that goes on
    while chunk := _encoded(read(size)):
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, chunk[:end]])
            rest = []
        rest.append(chunk[end:])
        if sum(map(len, rest)) >= _LONGEST_LINE:
            raise _LineTooLongError
    if last := b"".join(rest):
        yield last


def _encoded(text: bytes | str) -> bytes:
    return text.encode() if isinstance(text, str) else text


class _LineTooLongError(Exception):
    """Whatever this file is, it would not fit in memory."""


def next_chunk(
    chunks: Iterator[bytes], name: str, *, line: int, before: Iterable[bytes] = ()
) -> bytes:
    """The next piece of a file, empty at its end; it starts at `line` and as many as before it."""
    return read_piece(lambda: next(chunks, b""), name, line=line, before=before)


def read_piece(
    read: Callable[[], bytes | str], name: str, *, line: int = 0, before: Iterable[bytes] = ()
) -> bytes:
    """Call `read` on a file; an error names the file, and the line."""
    try:
        return _encoded(read())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        problem = f"broken gzip data: {error}"
    except UnicodeError as error:  # of a file that was opened as text
        problem = not_utf8(str(error), name)
    except _LineTooLongError:
        problem = f"a line of more than {_LONGEST_LINE >> 20} MiB; this is no text with sentences"
    line += sum(piece.count(b"\n") for piece in before)
    raise TreebankError(problem, source=name, line=line)


def read_blocks(
    chunks: Iterator[bytes], name: str, *, line: int = 1, seen: bool = False
) -> Iterator[tuple[int, int, bytes]]:
    """The blocks between empty lines: first line, number of line breaks, bytes.

    Of a part of a file, `line` is where it starts, and `seen` whether there are blocks before it.
    """
    rest = [b""]  # in pieces, joined once: a file without empty lines takes linear time
    while chunk := next_chunk(chunks, name, line=line, before=rest):
        rest.append(chunk)
        if b"\n\n" not in chunk and rest[-2][-1:] + chunk[:1] != b"\n\n":
            continue
        blocks = b"".join(rest).split(b"\n\n")
        rest = [blocks.pop()]
        for block in blocks:
            if block[:1] in (b"\n", b""):
                line += len(block) - len(block := block.lstrip(b"\n"))
            breaks = block.count(b"\n")
            if block:
                seen = True
                yield line, breaks, block
            line += breaks + 2
    if end := b"".join(rest).rstrip(b"\n"):
        decode(end, name, line)
        if b"\t" not in end and not end.startswith(b"#") and not seen:
            # No end of CoNLL-U, but something else: its first line is what is wrong.
            line += len(end) - len(end := end.lstrip(b"\n"))
            yield line, end.count(b"\n"), end
            return
        problem = "the file ends inside a sentence: there is no empty line after its last word"
        raise TreebankError(problem, source=name, line=line + end.count(b"\n"))


def read_lines(chunks: Iterator[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, without their line breaks; the last may lack one."""
    line = 1
    while chunk := next_chunk(chunks, name, line=line):
        lines = chunk.removesuffix(b"\n").split(b"\n")
        yield from enumerate(lines, line)
        line += len(lines)


def decode(block: bytes, name: str, line: int, *, start: bytes = b"") -> str:
    """The text of a block that begins at `line`; `start` are the first bytes of the file."""
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        reason = f"{error.reason} (byte 0x{block[error.start]:02x})"
        problem = not_utf8(reason, name, start=block if line == 1 else start)
        line += block.count(b"\n", 0, error.start)
        raise TreebankError(problem, source=name, line=line) from None


def not_utf8(reason: str, name: str, *, start: bytes = b"") -> str:
    """The error for another encoding of a file that starts so, with the command to convert it."""
    if problem := _other_kind(start):
        return problem
    advice = "" if name == "--text" else "; for Latin-1: iconv -f latin1 -t utf-8 FILE > NEW"
    return f"not UTF-8: {reason}{advice}"


def binary_problem(start: bytes) -> str:
    """The error for a file that is not text, by its first bytes; empty where it may be text."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "" if start.startswith(_GZIP_MAGIC) else _other_kind(start)
    return ""


def _other_kind(start: bytes) -> str:
    """The error for a picture, an archive or UTF-16; empty for anything else."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "this is UTF-16, not UTF-8: iconv -f utf-16 -t utf-8 FILE > NEW"
    if b"\0" in start or start.startswith(_NO_TEXT):
        return "this is no text file; a picture, a document or an archive has to be made text first"
    return ""


@contextlib.contextmanager
def open_target(target: File) -> Iterator[Callable[[str | bytes], object]]:
    """Something that writes text or UTF-8; a path has its old content until all is written."""
    if not isinstance(target, (str, os.PathLike)):
        yield _writer(target)
    elif os.fspath(target) in ("-", *_STANDARD_OUTPUT):
        if sys.stdout is None:
            raise TreebankError("standard output is closed")
        sys.stdout.flush()
        yield _named(_writer(getattr(sys.stdout, "buffer", sys.stdout)), "standard output")
        with naming("standard output"):
            sys.stdout.flush()
    else:
        with open_replacing(target) as file:
            if _is_packed(os.fspath(target)):
                # No name and time in it: the same sentences give the same bytes.
                with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                    yield _writer(cast(IO[bytes], packed))
            else:
                yield _writer(file)


def _is_packed(name: str) -> bool:
    """Whether a path, or what a link names, is that of a gzip file; a descriptor takes bytes."""
    return not name.startswith(("/dev/", "/proc/")) and os.path.realpath(name).endswith(".gz")


def _writer(file: IO[bytes] | IO[str]) -> Callable[[str | bytes], object]:
    if hasattr(file, "encoding"):
        characters = cast(IO[str], file)
        return lambda text: characters.write(text if isinstance(text, str) else text.decode())
    binary = cast(IO[bytes], file)
    return lambda text: binary.write(_encode(text) if isinstance(text, str) else text)


def _named(write: Callable[[str | bytes], object], name: str) -> Callable[[str | bytes], object]:
    def named(text: str | bytes) -> object:
        try:
            return write(text)
        except OSError as error:
            if error.errno != errno.EBADF:  # which says itself what is closed
                error.filename = name
            raise

    return named


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise TreebankError(f"UTF-8 has no such character: {character!r}") from None
