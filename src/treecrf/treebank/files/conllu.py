"""Reading and writing of treebank files: CoNLL-U, and CoNLL-X and CoNLL-09 beside it."""

from collections.abc import Iterable, Iterator

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.files.conllu_sentence import parse_sentence
from treecrf.treebank.files.conllx import Columns, Format, as_conllu, find_format, to_format
from treecrf.treebank.files.streams import (
    File,
    decode,
    open_source,
    open_target,
    read_blocks,
    read_chunks,
)
from treecrf.treebank.sentence import Sentence

__all__ = ["check_conllu", "parse_chunks", "read_conllu", "write_conllu"]


def read_conllu(
    source: File, *, columns: Columns = "gold", multiroot: bool = True
) -> Iterator[Sentence]:
    """The sentences of a file, one at a time: memory does not grow with the file.

    The source is a path, `-` for standard input, or an open file; gzip is unpacked. CoNLL-U,
    CoNLL-X and CoNLL-09 are told apart by what is in them; of these two, `columns` takes the gold
    or the predicted analysis. A TreebankError names the line of whatever is wrong; without
    `multiroot`, a second root is.
    """
    with open_source(source) as (file, name):
        yield from parse_chunks(read_chunks(file), name, columns=columns, multiroot=multiroot)


def parse_chunks(
    chunks: Iterator[bytes], name: str, *, columns: Columns, multiroot: bool, trees: bool = True
) -> Iterator[Sentence]:
    """The sentences of a file that comes in pieces; see `parse_sentence`."""
    reader = _Reader(name, columns, multiroot, trees)
    for line, breaks, block in read_blocks(chunks, name):
        yield reader.parse(block, line, breaks)


def check_conllu(source: File, *, multiroot: bool = False) -> Iterator[Sentence | TreebankError]:
    """The sentences of a file and, in the place of those that are malformed, what is wrong."""
    with open_source(source) as (file, name):
        reader = _Reader(name, "gold", multiroot)
        try:
            for line, breaks, block in read_blocks(read_chunks(file), name):
                try:
                    yield reader.parse(block, line, breaks)
                except TreebankError as error:
                    yield error
        except TreebankError as error:  # of the file itself: it cannot be read on
            yield error


class _Reader:
    """Sentences of one file; it finds out the format as it goes."""

    def __init__(self, name: str, columns: Columns, multiroot: bool, trees: bool = True) -> None:
        self.name = name
        self.columns = columns
        self.multiroot = multiroot
        self.trees = trees
        self.format: Format | None = None

    def parse(self, data: bytes, line: int, breaks: int) -> Sentence:
        block = decode(data, self.name, line)
        if self.format is None:
            self.format = find_format(block)
        if self.format in ("conllx", "conll09"):
            block = as_conllu(block, self.name, line=line, format=self.format, columns=self.columns)
        elif self.columns == "predicted":
            problem = "no predicted columns: this is not CoNLL-X or CoNLL-09, or PHEAD is empty"
            raise TreebankError(problem, source=self.name, line=line)
        return parse_sentence(
            block, self.name, line, breaks, multiroot=self.multiroot, trees=self.trees
        )


def write_conllu(sentences: Iterable[Sentence], target: File, *, format: Format = "conllu") -> None:
    """Write sentences to a path, `-` for standard output, or an open file.

    What was read from a UD file and not changed is written back byte for byte. A path that ends in
    `.gz` is packed. A file is there as a whole or not at all: until the last sentence is written,
    the path keeps what it had, so it may be the one that the sentences are read from.
    """
    with open_target(target) as write:
        for sentence in sentences:
            write(to_format(sentence, format))
