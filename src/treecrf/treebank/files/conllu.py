"""Reading and writing of treebank files: CoNLL-U, and CoNLL-X and CoNLL-09 beside it.

Nearly every sentence goes through `parse_sentence` alone, which cuts all columns at once and only
finds out whether everything is well. `_Lines` goes through the others line by line: it knows
multiword tokens and empty nodes, and names what is wrong.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NoReturn

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.files.conllx import (
    Columns,
    Format,
    as_conllu,
    find_format,
    short,
    to_format,
    wrong_columns,
)
from treecrf.treebank.files.streams import (
    File,
    decode,
    open_source,
    open_target,
    read_blocks,
    read_chunks,
)
from treecrf.treebank.lines import IDS, cut
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.tokens import COLUMNS
from treecrf.treebank.trees import find_cycle, roots

__all__ = ["check_conllu", "parse_chunks", "parse_sentence", "read_conllu", "write_conllu"]

# Most sentences find their heads here; longer ones are read line by line.
_HEADS = {"_": -1, "-1": -1, "0": 0} | {text: number for number, text in enumerate(IDS, 1)}
_find_head = _HEADS.__getitem__

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_MULTIWORD = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]{0,8})\.([1-9][0-9]{0,8})")


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


def parse_sentence(
    block: str, source: str, line: int, breaks: int, *, multiroot: bool, trees: bool = True
) -> Sentence:
    """The sentence of a block of `source` that starts at `line` and has so many line breaks.

    Without `trees`, heads that make none are no error but left out.
    """
    start = 0
    while block.startswith("#", start):
        start = block.find("\n", start) + 1
        if not start:
            raise TreebankError("comments without a sentence", source=source, line=line)
    comments = block[: start - 1].split("\n") if start else []
    body = block[start:] if start else block

    cells = cut(body)
    heads = _quick_heads(cells, breaks=breaks - len(comments), multiroot=multiroot)
    if heads is not None:
        forms, deprels = cells[1::11], cells[7::11]
    else:
        lines = _Lines(body, source, first_line=line + len(comments))
        forms, deprels = ([row[column] for row in lines.words] for column in (1, 7))
        heads = lines.heads(multiroot=multiroot) if trees else None
    return Sentence.from_lines(
        body, forms, heads=heads, deprels=deprels, comments=comments, source=source, line=line
    )


def _quick_heads(cells: list[str], *, breaks: int, multiroot: bool) -> list[int] | None:
    """The heads of lines that are words and all well; None where a closer look is needed."""
    words = breaks + 1
    if (
        len(cells) != 11 * words - 1
        or cells[10::11].count("\n") != breaks
        or cells[::11] != IDS[:words]
        or not all(cells)
    ):
        return None
    try:
        heads = list(map(_find_head, cells[6::11]))
    except KeyError:
        return None
    if max(heads) > words or find_cycle([0, *heads]) or not (multiroot or heads.count(0) <= 1):
        return None
    return heads


class _Lines:
    """The words among the lines of a sentence; raises a TreebankError for the first bad line."""

    def __init__(self, body: str, source: str, *, first_line: int) -> None:
        self.source = source
        self.words: list[list[str]] = []
        self.numbers: list[int] = []  # of the lines the words are in
        self.first_of_multiword = self.last_of_multiword = 0  # of the latest one
        self.empty_nodes = 0  # since the last word
        number = first_line
        for number, text in enumerate(body.split("\n"), first_line):
            self._add(text, number)
        if not self.words:
            self._fail(number, "a sentence without words")
        if self.last_of_multiword > len(self.words):
            self._fail(
                number,
                f"the sentence ends at word {len(self.words)} and its last multiword token at word "
                f"{self.last_of_multiword}",
            )

    def _add(self, text: str, number: int) -> None:
        row = text.split("\t")
        following = len(self.words) + 1
        if len(row) != 10:
            if text.startswith("#"):
                self._fail(number, "a comment inside a sentence; its place is before the words")
            self._fail(number, wrong_columns("10", text))
        if "" in row:
            name = COLUMNS[row.index("")].upper()
            self._fail(number, f"column {name} is empty; _ stands for nothing")
        if row[0] == str(following):
            self.words.append(row)
            self.numbers.append(number)
            self.empty_nodes = 0
        elif match := _MULTIWORD.fullmatch(row[0]):
            first, last = int(match[1]), int(match[2])
            if last < first:
                self._fail(number, f"multiword token {row[0]} ends before it starts")
            if first != following:
                self._fail(number, f"multiword token {row[0]} is not right before word {first}")
            if first <= self.last_of_multiword:
                self._fail(number, f"multiword token {row[0]} overlaps the one before it")
            self.first_of_multiword, self.last_of_multiword = first, last
        elif _EMPTY_NODE.fullmatch(row[0]):
            if self.first_of_multiword == following:
                self._fail(number, f"empty node {row[0]} between a multiword token and its words")
            self.empty_nodes += 1
            expected = f"{len(self.words)}.{self.empty_nodes}"
            if row[0] != expected:
                self._fail(number, f"empty node {row[0]} where {expected} would be next")
        else:
            self._fail(number, f"id {short(row[0])} where {following} would be next")

    def heads(self, *, multiroot: bool) -> list[int]:
        """The heads of the words, -1 where they are not annotated."""
        heads = [0]
        for number, row in zip(self.numbers, self.words, strict=True):
            head = row[6]
            if head in ("_", "-1"):
                heads.append(-1)
            elif not _NUMBER.fullmatch(head):
                self._fail(number, f"head {short(head)} is not a number, or _ for no head")
            elif int(head) > len(self.words):
                words = f"{len(self.words)} words"
                self._fail(number, f"head {head} is outside the sentence, which has {words}")
            else:
                heads.append(int(head))
        if cycle := find_cycle(heads):
            number = self.numbers[cycle[0] - 1]
            self._fail(number, "the heads make a cycle: " + _path([*cycle, cycle[0]]))
        if not multiroot and len(several := roots(heads)) > 1:
            number = self.numbers[several[1] - 1]
            self._fail(number, f"words {several[0]} and {several[1]} are both roots; one may be")
        return heads[1:]

    def _fail(self, number: int, problem: str) -> NoReturn:
        raise TreebankError(problem, source=self.source, line=number)


def _path(words: list[int]) -> str:
    names = [str(word) for word in words]
    return " -> ".join(names if len(names) <= 12 else [*names[:10], "...", names[-1]])
