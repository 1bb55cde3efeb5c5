"""The lines of one sentence in CoNLL-U: what they say, or what is wrong with them.

Nearly every sentence goes through `parse_sentence` alone, which cuts all columns at once and only
finds out whether everything is well. `_Lines` goes through the others line by line: it knows
multiword tokens and empty nodes, and names what is wrong.
"""

import re
from typing import NoReturn

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.lines import IDS, cut
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.tokens import COLUMNS
from treecrf.treebank.trees import find_cycle, roots

__all__ = ["parse_sentence", "wrong_columns"]

# Most sentences find their heads here; longer ones are read line by line.
_HEADS = {"_": -1, "-1": -1, "0": 0} | {text: number for number, text in enumerate(IDS, 1)}
_find_head = _HEADS.__getitem__

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_MULTIWORD = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]{0,8})\.([1-9][0-9]{0,8})")


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
    words = (len(cells) + 1) // 11
    if (
        len(cells) == 11 * words - 1
        and cells[10::11].count("\n") == words - 1 == breaks - len(comments)
        and cells[::11] == IDS[:words]
        and all(cells)
    ):
        try:
            heads = list(map(_find_head, cells[6::11]))
        except KeyError:
            pass
        else:
            if (
                max(heads) <= words
                and not find_cycle([0, *heads])
                and (multiroot or heads.count(0) <= 1)
            ):
                return Sentence.from_lines(
                    body,
                    cells[1::11],
                    heads=heads,
                    deprels=cells[7::11],
                    comments=comments,
                    source=source,
                    line=line,
                )

    lines = _Lines(body, source, first_line=line + len(comments))
    return Sentence.from_lines(
        body,
        [row[1] for row in lines.words],
        heads=lines.heads(multiroot=multiroot) if trees else None,
        deprels=[row[7] for row in lines.words],
        comments=comments,
        source=source,
        line=line,
    )


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
            self._fail(number, f"id {_short(row[0])} where {following} would be next")

    def heads(self, *, multiroot: bool) -> list[int]:
        """The heads of the words, -1 where they are not annotated."""
        heads = [0]
        for number, row in zip(self.numbers, self.words, strict=True):
            head = row[6]
            if head in ("_", "-1"):
                heads.append(-1)
            elif not _NUMBER.fullmatch(head):
                self._fail(number, f"head {_short(head)} is not a number, or _ for no head")
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


def wrong_columns(expected: str, text: str) -> str:
    """What is wrong with a line that has not as many columns as expected."""
    found = text.count("\t") + 1
    return (
        f"{expected} columns expected, with tabs between them, and {found} found in {_short(text)}"
    )


def _path(words: list[int]) -> str:
    names = [str(word) for word in words]
    return " -> ".join(names if len(names) <= 12 else [*names[:10], "...", names[-1]])


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
