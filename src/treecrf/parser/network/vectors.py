"""Pretrained word vectors from text files: GloVe, word2vec and fastText."""

from collections.abc import Iterator
from itertools import islice
from typing import IO

import numpy as np
import torch
from torch import Tensor

from treecrf.parser.errors import ParserError
from treecrf.treebank.files.streams import File, decode, open_source, read_chunks, read_lines

__all__ = ["read_vectors"]


def read_vectors(source: File, *, block_lines: int = 10_000) -> tuple[list[str], Tensor]:
    """Read the words of a file and their vectors `[1 + word, feature]` in half precision.

    Row 0 is for unknown words. A line is a word and its numbers, separated by spaces or tabs; a
    first line of two whole numbers (word2vec, fastText) is a header. The numbers are scaled to a
    standard deviation of 1. A word that comes twice keeps its first vector.
    """
    words: dict[str, int] = {}
    blocks: list[np.ndarray] = []
    with open_source(source) as (file, name):
        lines = _lines(file, name)
        size = 0
        while block := list(islice(lines, block_lines)):
            rows: dict[int, list[str]] = {}
            for number, line in block:
                fields = line.rstrip().replace("\t", " ").split(" ")
                if not size and len(fields) == 2 and all(part.isdecimal() for part in fields):
                    size = int(fields[1])
                    continue
                size = size or len(fields) - 1
                if size < 1:
                    raise _problem(name, number, "no numbers")
                if len(fields) <= size:
                    raise _problem(name, number, f"{len(fields) - 1} numbers, not {size}")
                word = " ".join(fields[:-size])  # a few words of GloVe have spaces in them
                if word not in words:
                    words[word] = number
                    rows[number] = fields[-size:]
            if rows:
                blocks.append(_numbers(rows, name))
    if not blocks:
        raise ParserError(f"{name}: there are no vectors in it")
    vectors = np.concatenate([np.zeros((1, size), np.float32), *blocks])
    spread = float(vectors[1:].std()) or 1.0
    return list(words), torch.from_numpy(vectors / spread).half()


def _lines(file: IO[bytes] | IO[str], name: str) -> Iterator[tuple[int, str]]:
    for number, line in read_lines(read_chunks(file), name):
        text = decode(line, name, number)
        if text.strip():
            yield number, text


def _numbers(rows: dict[int, list[str]], name: str) -> np.ndarray:
    """The numbers of lines, `[line, feature]`; an error names the first line with anything else."""
    try:
        return _finite(list(rows.values()))
    except ValueError:
        for line, row in rows.items():
            try:
                _finite([row])
            except ValueError as error:
                raise _problem(name, line, str(error)) from None
        raise


def _finite(rows: list[list[str]]) -> np.ndarray:
    with np.errstate(over="ignore"):
        values = np.array(rows, dtype=np.float32)
    if not np.isfinite(values).all():
        raise ValueError("a number is not finite")
    return values


def _problem(name: str, line: int, problem: str) -> ParserError:
    return ParserError(
        f"{name}:{line}: {problem}; a line of vectors is a word and its numbers, spaces or tabs "
        "between"
    )
