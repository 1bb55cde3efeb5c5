"""The words of sentences as numbers of distinct cells: what encoding and naming start from."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count
from typing import Protocol

import numpy as np

from treecrf.parser.batching.distinct import Integers
from treecrf.treebank import Sentence

__all__ = ["SentenceTable", "WordTable", "word_places"]


class WordTable(Protocol):
    """The words of sentences, one after the other."""

    @property
    def lengths(self) -> Integers:
        """The number of words of each sentence."""

    def column(self, name: str) -> tuple[list[str], Integers]:
        """The distinct cells of a column, in order, and the number of each word's: `[word]`."""

    def sentence(self, row: int) -> Sentence:
        """One of the sentences."""


class SentenceTable:
    """The words of `Sentence`s."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentence = sentences.__getitem__
        self.lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        self._sentences = sentences

    def column(self, name: str) -> tuple[list[str], Integers]:
        """The distinct cells of a column, in order, and the number of each word's: `[word]`."""
        numbering: defaultdict[str, int] = defaultdict(count().__next__)
        if name == "form":
            cells = (sentence.forms for sentence in self._sentences)
        else:
            cells = (sentence.column(name) for sentence in self._sentences)
        each = map(numbering.__getitem__, chain.from_iterable(cells))
        numbers = np.fromiter(each, np.int64, int(self.lengths.sum()))
        return list(numbering), numbers


def word_places(lengths: Integers) -> Integers:
    """Places of the words `[word]` among tokens: a root symbol is before each sentence."""
    return np.arange(int(lengths.sum())) + np.repeat(np.arange(1, len(lengths) + 1), lengths)
