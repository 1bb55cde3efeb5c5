"""Words, multiword tokens and empty nodes: what a sentence is made of, a line each in a file."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from typing import Any, TypeAlias

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.features import FEATS, FeatureColumn, features_as_mappings

__all__ = [
    "COLUMNS",
    "IDS",
    "EmptyNode",
    "Multiword",
    "Offsets",
    "Token",
    "are_plain",
    "cut",
    "find_fault",
    "joined_forms",
    "make_lines",
    "make_tokens",
    "read_column",
    "replace_columns",
    "shortened",
    "surfaces",
    "token_lines",
]

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

Offsets: TypeAlias = tuple[int, int] | tuple[None, None]
"""Start and end of a token in the text that it was cut from, in characters, if known."""


class _Row:
    """A line of a sentence; its `repr` has the columns that are not `_`."""

    __slots__ = ()

    def __repr__(self) -> str:
        shown = []
        for column in fields(self):  # type: ignore[arg-type]
            value = getattr(self, column.name)
            cell = repr(str(value) if column.name == "feats" else value)
            if column.default is MISSING:
                shown.append(cell)
            elif column.repr and value != column.default:
                shown.append(f"{column.name}={cell}")
        return f"{type(self).__name__}({', '.join(shown)})"


@features_as_mappings
@dataclass(slots=True, repr=False)
class Token(_Row):
    """A syntactic word; `head` is 0 for the root, -1 where it is not annotated (`_` in a file).

    `feats` is a mapping that keeps the text of its column; assign a text or a mapping to change it.
    """

    id: int
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: FeatureColumn = FEATS
    head: int = -1
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"
    start: int | None = field(default=None, compare=False, repr=False)
    """Its start in the text that a segmenter cut; in a multiword token, that of the token."""
    end: int | None = field(default=None, compare=False, repr=False)
    _words: "list[Token] | None" = field(default=None, init=False, compare=False, repr=False)
    """The words of its sentence, which sets them."""

    @property
    def children(self) -> "list[Token]":
        """The words whose head it is, in the order of the sentence."""
        return [word for word in self._sentence() if word.head == self.id]

    @property
    def subtree(self) -> "list[Token]":
        """The word and all that depends on it, directly or not, in the order of the sentence."""
        words = self._sentence()
        dependents = defaultdict[int, list[int]](list)
        for word in words:
            dependents[word.head].append(word.id)
        found, waiting = {self.id}, [self.id]
        while waiting:
            new = [id for id in dependents[waiting.pop()] if id not in found]
            found.update(new)
            waiting += new
        return [word for word in words if word.id in found]

    def _sentence(self) -> "list[Token]":
        if self._words is None:
            raise TreebankError(f"{self} is in no sentence; Sentence.from_tokens makes one")
        return self._words

    def to_conllu(self) -> str:
        head = "_" if self.head < 0 else self.head
        return (
            f"{self.id}\t{self.form}\t{self.lemma}\t{self.upos}\t{self.xpos}\t{self.feats}"
            f"\t{head}\t{self.deprel}\t{self.deps}\t{self.misc}"
        )


@features_as_mappings
@dataclass(slots=True, repr=False)
class Multiword(_Row):
    """A token of the text that stands for the words `first` to `last`, such as "don't"."""

    first: int
    last: int
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: FeatureColumn = FEATS
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"
    start: int | None = field(default=None, compare=False, repr=False)
    end: int | None = field(default=None, compare=False, repr=False)

    def to_conllu(self) -> str:
        return _line(self, f"{self.first}-{self.last}")


@features_as_mappings
@dataclass(slots=True, repr=False)
class EmptyNode(_Row):
    """A node of the enhanced graph without a word: `8.1` is the first one after word 8."""

    after: int
    number: int
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: FeatureColumn = FEATS
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"

    def to_conllu(self) -> str:
        return _line(self, f"{self.after}.{self.number}")


def _line(item: Multiword | EmptyNode, id: str) -> str:
    return "\t".join([id, *(str(getattr(item, name)) for name in COLUMNS[1:])])


def surfaces(
    tokens: Iterable[Token], multiwords: Iterable[Multiword]
) -> Iterator[Token | Multiword]:
    """The tokens of the text: a multiword token in the place of its words."""
    by_first = {multiword.first: multiword for multiword in multiwords}
    last = 0
    for token in tokens:
        if token.id > last:
            multiword = by_first.get(token.id)
            last = multiword.last if multiword else token.id
            yield multiword or token


def joined_forms(tokens: Iterable[Token], multiwords: Iterable[Multiword]) -> str:
    """The text of a sentence as its forms and what MISC says of spaces make it."""
    pieces: list[str] = []
    for token in surfaces(tokens, multiwords):
        pieces += token.form, "" if "SpaceAfter=No" in token.misc.split("|") else " "
    return "".join(pieces).rstrip(" ")


def shortened(text: str) -> str:
    """A text for messages, in one line and of at most 80 characters."""
    line = " ".join(text[:1000].split())
    return line if len(line) <= 80 else line[:79] + "…"


# Most sentences find their ids and heads here; -1 finds the last of the heads.
IDS = [str(number) for number in range(1, 1024)]
_find_head = ["0", *IDS, "_"].__getitem__


@lru_cache(maxsize=1)  # who reads a sentence from a file asks for its columns or tokens next
def cut(lines: str) -> list[str]:
    """The cells of well-formed lines in one flat list, which nobody may change.

    Each line is ten cells and, but for the last, its line break: `cells[1::11]` are the forms.
    """
    return lines.replace("\n", "\t\n\t").split("\t")


def read_column(lines: str, index: int, *, words: int) -> list[str]:
    cells = cut(lines)
    column = cells[index::11]
    if len(column) == words:
        return column
    return [cell for cell, id in zip(column, cells[::11], strict=True) if id.isdecimal()]


def are_plain(columns: Collection[list[str]]) -> bool:
    """Whether nothing can be wrong with any cell of these columns, whichever they are."""
    text = "\t".join(map("\t".join, columns))
    tabs = sum(map(len, columns)) - 1  # where no cell has any
    return (
        text.count("\t") == tabs
        and "\n" not in text
        and "\r" not in text
        and all(map(all, columns))
    )


def find_fault(name: str, column: list[str]) -> str | None:
    """The fault in cells that are to be the column of this name, if there is one."""
    if are_plain([column]):
        return None
    for number, cell in enumerate(column, 1):
        if not cell:
            return f"column {name.upper()} of word {number} is empty; _ stands for nothing"
        # A carriage return at the end of a line would be taken for part of the line break.
        if "\t" in cell or "\n" in cell or (name == "misc" and cell.endswith("\r")):
            return f"column {name.upper()} of word {number} holds a tab or a line break: {cell!r}"
    return None


def make_lines(
    forms: list[str], heads: list[int], deprels: list[str], columns: Mapping[str, list[str]]
) -> str:
    """The lines of words, one at least, of which no more is known."""
    words = len(forms)
    cells = (["_"] * 10 + ["\n"]) * words
    del cells[-1]
    ids = IDS[:words] if words <= len(IDS) else list(map(str, range(1, words + 1)))
    known = {"id": ids, "form": forms, "head": _head_cells(heads), "deprel": deprels, **columns}
    for name, column in known.items():
        cells[COLUMNS.index(name) :: 11] = column
    return "\t".join(cells).replace("\t\n\t", "\n")


def replace_columns(
    lines: str, *, heads: list[int], deprels: list[str], columns: Mapping[str, list[str]]
) -> str:
    """The lines with another tree and other columns of the words."""
    cells = cut(lines).copy()
    ids = cells[::11]
    changed = {"head": _head_cells(heads), "deprel": deprels, **columns}
    if len(ids) == len(heads):
        for name, column in changed.items():
            cells[COLUMNS.index(name) :: 11] = column
    else:
        words = [11 * place for place, id in enumerate(ids) if id.isdecimal()]
        for name, column in changed.items():
            index = COLUMNS.index(name)
            for place, cell in zip(words, column, strict=True):
                cells[place + index] = cell
    return "\t".join(cells).replace("\t\n\t", "\n")


def _head_cells(heads: list[int]) -> list[str]:
    if len(heads) <= len(IDS):  # and no head is larger
        return list(map(_find_head, heads))
    return ["_" if head < 0 else str(head) for head in heads]


def make_tokens(
    lines: str, heads: list[int], offsets: Sequence[Offsets] | None
) -> tuple[list[Token], list[Multiword], list[EmptyNode]]:
    """The words, multiword tokens and empty nodes of lines, with these heads and offsets."""
    cells = cut(lines)
    columns: list[Sequence[Any]] = [cells[column::11] for column in range(10)]
    multiwords: list[Multiword] = []
    empty_nodes: list[EmptyNode] = []
    if len(columns[0]) != len(heads):
        rows = list(zip(*columns, strict=True))
        for id, *row in rows:
            if "-" in id:
                first, last = map(int, id.split("-"))
                place = offsets[first - 1] if offsets else (None, None)
                multiwords.append(Multiword(first, last, *row, *place))
            elif "." in id:
                after, number = map(int, id.split("."))
                empty_nodes.append(EmptyNode(after, number, *row))
        columns = list(zip(*(row for row in rows if row[0].isdecimal()), strict=True))
    columns[0], columns[6] = range(1, len(heads) + 1), heads
    if offsets:
        columns += zip(*offsets, strict=True)
    return list(map(Token, *columns)), multiwords, empty_nodes


def token_lines(
    tokens: list[Token], multiwords: Iterable[Multiword], empty_nodes: Iterable[EmptyNode]
) -> list[str]:
    """The lines of a sentence; a TreebankError says why there are none that could be read again."""
    before, after = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
    for multiword in multiwords:
        before[multiword.first].append(multiword.to_conllu())
    for node in empty_nodes:
        after[node.after].append(node.to_conllu())
    lines = after.pop(0, [])
    for number, token in enumerate(tokens, 1):
        if token.id != number:
            raise TreebankError(f"word {number} has the id {token.id}")
        if token.head > len(tokens):
            raise TreebankError(f"word {number} has head {token.head}, outside the sentence")
        lines += before.pop(number, ())
        lines.append(token.to_conllu())
        lines += after.pop(number, ())
    if before or after:
        raise TreebankError("a multiword token or an empty node is outside the sentence")
    if not tokens:
        raise TreebankError("a sentence without words")
    for line in lines:
        row = line.split("\t")
        if len(row) != 10 or "\n" in line or line.endswith("\r"):
            raise TreebankError(f"a column holds a tab or a line break: {line!r}")
        if "" in row:
            name = COLUMNS[row.index("")].upper()
            raise TreebankError(f"column {name} of word {row[0]} is empty; _ stands for nothing")
    return lines
