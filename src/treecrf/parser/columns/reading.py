"""CoNLL-U files in columns: pieces of whole sentences, and windows of them to parse together."""

from collections.abc import Iterable, Iterator

import numpy as np

from treecrf.parser.columns.columns import Columns
from treecrf.parser.columns.kernels import LINE, START, WORD
from treecrf.parser.files.pipeline import WINDOW_ITEMS, WINDOW_WORDS
from treecrf.treebank.files.conllu import ConlluReader
from treecrf.treebank.files.streams import next_chunk

__all__ = ["column_windows", "read_columns", "whole_blocks"]


def read_columns(reader: ConlluReader, data: bytes, *, line: int) -> Iterator[Columns]:
    """The sentences of a piece of a file, which starts at this line; the reader says what is wrong.

    It also reads older formats, and the sentence that tells which format this is.
    """
    while data and reader.format in (None, "conllu"):
        try:
            data.decode()
            stop = len(data)
        except UnicodeDecodeError as error:  # its sentence is the one that is odd
            before = data.rfind(b"\n\n", 0, error.start)
            stop = before + 2 if before >= 0 else 0
        known = reader.format == "conllu"
        found = Columns.find(data[:stop], reader.name, line=line, known=known)
        if len(found):
            reader.seen = True
            yield found
        start, line = found.bounds[-1, [START, LINE]].tolist()
        data = data[start:]
        if data:  # the first sentence is odd
            end = data.find(b"\n\n") + 2
            odd, data = (data[:end], data[end:]) if end > 1 else (data, b"")
            yield from _careful(reader, odd, line)
            line += odd.count(b"\n")
    if data:
        yield from _careful(reader, data, line)


def _careful(reader: ConlluReader, data: bytes, line: int) -> Iterator[Columns]:
    for sentence in reader.read(iter([data]), line=line):
        yield Columns.of([sentence])


def column_windows(parts: Iterable[Columns], *, words: int = WINDOW_WORDS) -> Iterator[Columns]:
    """The sentences of a file, in the windows that `pipeline.windows` makes of them."""
    held: list[Columns] = []
    room, places = words // 16, WINDOW_ITEMS
    largest = room
    for part in parts:
        first = 0
        while True:
            before = part.bounds[:, WORD]
            full = int(np.searchsorted(before, before[first] + room))
            stop = min(full, first + places)
            if stop > len(part):
                break
            yield Columns.joined([*held, part.part(first, stop)])
            held, first = [], stop
            largest = min(2 * largest, words)
            room, places = largest, WINDOW_ITEMS
        if first < len(part):
            held.append(part.part(first, len(part)))
            room -= len(held[-1].cells)
            places -= len(held[-1])
    if held:
        yield Columns.joined(held)


def whole_blocks(
    chunks: Iterator[bytes], name: str, *, size: int, lines: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Pieces of about `size` bytes that end where a sentence does, and the line each starts at.

    With `lines`, a sentence ends with its line; else with an empty line.
    """
    line = 1
    rest = [b""]  # in pieces, joined once: a file without empty lines takes linear time
    held, ends = 0, lines
    while chunk := next_chunk(chunks, name, line=line, before=rest):
        ends = ends or b"\n\n" in chunk or rest[-1][-1:] + chunk[:1] == b"\n\n"
        rest.append(chunk)
        held += len(chunk)
        if held < size or not ends:
            continue
        data = b"".join(rest)
        end = len(data) if lines else data.rfind(b"\n\n") + 2
        yield line, data[:end]
        line += data.count(b"\n", 0, end)
        rest, held, ends = [data[end:]], len(data) - end, lines
    if data := b"".join(rest):
        yield line, data
