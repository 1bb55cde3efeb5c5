"""Sentences as the bytes of their CoNLL-U and the places of their cells."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from treecrf.parser.columns.kernels import END, LINE, START, WORD, find_cells, number_cells
from treecrf.treebank import Sentence
from treecrf.treebank.files.conllu import parse_sentence
from treecrf.treebank.tokens import COLUMNS

__all__ = ["Columns", "as_array", "as_strings"]


@dataclass(frozen=True, slots=True)
class Columns:
    """Sentences of a file, well-formed but for their heads, which nobody has looked at."""

    data: bytes
    cells: npt.NDArray[np.int64]  # [word, 11], starts of the cells of a word and of the next line
    bounds: npt.NDArray[np.int64]  # [sentence + 1, 5], see `kernels.START`; then the end
    source: str = ""
    _known: dict[str, tuple[list[str], npt.NDArray[np.int64]]] = field(default_factory=dict)

    @classmethod
    def find(cls, data: bytes, source: str, *, line: int, known: bool) -> "Columns":
        """The sentences before the first one that is odd; `line` is that of the first byte."""
        cells = np.empty((data.count(b"\n") + 1, len(COLUMNS) + 1), np.int64)
        bounds = np.empty((data.count(b"\n\n") + 2, WORD + 1), np.int64)
        found = find_cells(as_array(data), cells, bounds, known)
        bounds = bounds[: found + 1]
        bounds[:, LINE] += line - 1
        return cls(data, cells[: bounds[-1, WORD]], bounds, source)

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> "Columns":
        """The columns of sentences."""
        data = "".join([sentence.to_conllu() for sentence in sentences]).encode()
        columns = cls.find(data, sentences[0].source if sentences else "", line=1, known=True)
        assert len(columns) == len(sentences), "a sentence that cannot be read again"
        columns.bounds[:-1, LINE] = [sentence.line for sentence in sentences]
        return columns

    @classmethod
    def joined(cls, parts: "Sequence[Columns]") -> "Columns":
        """The sentences of several parts of one file."""
        if len(parts) <= 1:
            return parts[0] if parts else cls.of([])
        cells, bounds = [], []
        start = word = 0
        for part in parts:
            cells.append(part.cells + start)
            bounds.append(part.bounds + np.array([start, start, start, 0, word]))
            start, word = start + len(part.data), word + len(part.cells)
        rows = np.concatenate([*(rows[:-1] for rows in bounds), bounds[-1][-1:]])
        data = b"".join([part.data for part in parts])
        return cls(data, np.concatenate(cells), rows, parts[0].source)

    def part(self, first: int, stop: int) -> "Columns":
        """The sentences from `first` to before `stop`."""
        if (first, stop) == (0, len(self)):
            return self
        start, word = self.bounds[first, [START, WORD]]
        end, last = self.bounds[stop, [START, WORD]]
        cells = self.cells[word:last] - start
        bounds = self.bounds[first : stop + 1] - np.array([start, start, start, 0, word])
        return Columns(self.data[start:end], cells, bounds, self.source)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of words of each sentence."""
        return np.diff(self.bounds[:, WORD])

    def column(self, name: str) -> tuple[list[str], npt.NDArray[np.int64]]:
        """The distinct cells of a column, in order, and the number of each word's: `[word]`."""
        if name not in self._known:
            self._known[name] = self._numbered(COLUMNS.index(name))
        return self._known[name]

    def _numbered(self, column: int) -> tuple[list[str], npt.NDArray[np.int64]]:
        words = len(self.cells)
        numbers, first = np.empty(words, np.int64), np.empty(words, np.int64)
        table = np.full(1 << (2 * words).bit_length(), -1, np.int32)
        count = number_cells(as_array(self.data), self.cells, column, table, numbers, first)
        places = self.cells[first[:count], column : column + 2].tolist()
        return [self.data[start : end - 1].decode() for start, end in places], numbers

    def sentence(self, row: int) -> Sentence:
        """One of the sentences, without its tree if that is none."""
        start, end, line = self.bounds[row, [START, END, LINE]].tolist()
        block = self.data[start : end - 1].decode()
        breaks = block.count("\n")
        return parse_sentence(block, self.source, line, breaks, multiroot=True, trees=False)

    def sentences(self) -> list[Sentence]:
        """All sentences, as `sentence` gives them."""
        return [self.sentence(row) for row in range(len(self))]


def as_array(data: bytes) -> npt.NDArray[Any]:
    """The bytes as an array, which cannot be written."""
    return np.frombuffer(data, np.uint8)


def as_strings(strings: Iterable[str]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Strings for a kernel: their bytes, and where each starts and the last ends."""
    encoded = [string.encode() for string in strings]
    starts = np.array([*accumulate(map(len, encoded), initial=0)], np.int64)
    return as_array(b"".join(encoded)), starts
