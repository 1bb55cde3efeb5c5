"""Pretrained word vectors from text files: GloVe, word2vec and fastText."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from treecrf.parser.errors import ParserError
from treecrf.treebank.errors import TreebankError
from treecrf.treebank.files import File, open_source

__all__ = ["read_vectors"]

_BLOCK = 10_000  # lines that are turned into numbers at once


def read_vectors(source: File) -> tuple[list[str], Tensor]:
    """The words of a file and their vectors `[1 + word, feature]` in half precision.

    Row 0 is for words that are not in it. A line is a word and its numbers, with spaces between
    them; a first line of two whole numbers (word2vec, fastText) is a header. All numbers are scaled
    to a standard deviation of 1. A word that comes twice keeps its first vector.
    """
    words: dict[str, int] = {}
    blocks: list[np.ndarray] = []
    with open_source(source) as (file, name):
        lines = _lines(file, name)
        size = 0
        number = 0
        while block := list(islice(lines, _BLOCK)):
            rows = []
            for line in block:
                number += 1
                fields = line.rstrip().split(" ")
                if number == 1 and len(fields) == 2 and all(part.isdecimal() for part in fields):
                    continue
                size = size or len(fields) - 1
                if len(fields) <= size or size < 1:
                    raise _problem(name, number, f"{len(fields) - 1} numbers, not {size}")
                word = " ".join(fields[:-size])  # a few words of GloVe have spaces in them
                if word not in words:
                    words[word] = number
                    rows.append(fields[-size:])
            if rows:
                blocks.append(_numbers(rows, name, number))
    if not blocks:
        raise ParserError(f"{name}: there are no vectors in it")
    vectors = np.concatenate([np.zeros((1, size), np.float32), *blocks])
    spread = float(vectors[1:].std()) or 1.0
    return list(words), torch.from_numpy(vectors / spread).half()


def _lines(file: object, name: str) -> Iterator[str]:
    for number, line in enumerate(file, 1):  # type: ignore[arg-type, var-annotated]
        try:
            text = line if isinstance(line, str) else line.decode()
        except UnicodeDecodeError as error:
            raise TreebankError(f"not UTF-8: {error.reason}", source=name, line=number) from None
        if text.strip():
            yield text


def _numbers(rows: list[list[str]], name: str, last: int) -> np.ndarray:
    try:
        values = np.array(rows, dtype=np.float32)
    except ValueError as error:
        raise _problem(name, last, f"or a line before it: {error}") from None
    if not np.isfinite(values).all():
        raise _problem(name, last, "or a line before it has a number that is not finite")
    return values


def _problem(name: str, line: int, problem: str) -> ParserError:
    return ParserError(
        f"{name}:{line}: {problem}; a line of vectors is a word and its numbers, spaces between"
    )
