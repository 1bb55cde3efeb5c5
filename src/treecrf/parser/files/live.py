"""Standard input that is a pipe or a terminal: what is complete is answered when no more comes."""

import io
import os
import re
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import IO

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.files import streams
from treecrf.treebank.files.streams import File

__all__ = ["More", "more_of", "paragraphs", "parts", "whole_lines"]

More = Callable[[], bool]
"""Whether there is more to read without waiting for it."""

_MOST_BYTES = 1 << 21  # that are held while more comes
_LONGEST_PART = 1 << 25
_MOST_CHARACTERS = 1 << 18
_LONGEST_PARAGRAPH = 1 << 16  # characters
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


def more_of(source: File) -> More | None:
    """Make a function that tells whether more input is waiting; None for a regular file."""
    if source != "-" or sys.stdin is None:
        return None
    try:
        descriptor = sys.stdin.fileno()
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    except (OSError, ValueError):  # it is something of Python's own
        return None
    return None if is_file else partial(_is_ready, descriptor)


def _is_ready(descriptor: int) -> bool:
    try:
        return bool(select.select([descriptor], [], [], 0)[0])
    except (OSError, ValueError):  # there are systems that cannot tell
        return False


def parts(file: IO[bytes], name: str, *, blocks: bool, more: More) -> Iterator[tuple[int, bytes]]:
    """Whole lines of a file, or whole `blocks` up to an empty line; how many lines are before."""
    read = getattr(file, "read1", file.read)
    held = b""
    lines = 0
    while data := streams.read_piece(partial(read, _MOST_BYTES), name, line=lines + 1):
        held += data
        if len(held) < _MOST_BYTES and more():
            continue
        ends = [held.rfind(b"\n\n") + 2, held.rfind(b"\n\r\n") + 3] if blocks else []
        end = max(ends, default=held.rfind(b"\n") + 1)
        if end < (2 if blocks else 1):
            if len(held) < _LONGEST_PART:
                continue
            end = len(held)  # whoever reads it says what is wrong with it
        yield lines, held[:end]
        lines += held.count(b"\n", 0, end)
        held = held[end:]
    if held:
        yield lines, held


def whole_lines(pieces: Iterable[str], name: str, more: More) -> Iterator[list[str]]:
    """Lists of whole lines, with their line breaks."""
    held = ""
    for piece in pieces:
        held += piece
        if len(held) < _MOST_CHARACTERS and more():
            continue
        end = held.rfind("\n") + 1
        if end:
            yield list(io.StringIO(held[:end]))
            held = held[end:]
        elif len(held) > _LONGEST_PART:
            problem = "a line without an end; a text without sentences by the line is --input text"
            raise TreebankError(problem, source=name)
    if held:
        yield list(io.StringIO(held))


def paragraphs(pieces: Iterable[str], more: More) -> Iterator[list[str] | Iterator[str]]:
    """Lists of paragraphs, each with the blank line after it.

    They are the same however the text comes: a very long paragraph, and all that follows it, is an
    iterator over the rest of the text.
    """
    rest = iter(pieces)
    held = ""
    ended = False
    while not ended:
        ended = (piece := next(rest, None)) is None
        held += piece or ""
        if not ended and len(held) < _MOST_CHARACTERS and more():
            continue
        found: list[str] = []
        start = last = 0
        for match in _BLANK_LINE.finditer(held):
            if held[last : match.end()].strip():  # else they are blank lines before a paragraph
                if match.end() - start > _LONGEST_PARAGRAPH:
                    break
                found.append(held[start : match.end()])
                start = match.end()
            last = match.end()
        held = held[start:]
        if found:
            yield found
        if ended or len(held) > _LONGEST_PARAGRAPH:
            yield chain([held], rest)
            return
