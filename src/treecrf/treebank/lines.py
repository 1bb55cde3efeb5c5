"""The lines of a sentence as text: cut into cells, made into tokens and back, given new columns."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.tokens import COLUMNS, EmptyNode, Multiword, Offsets, Token

__all__ = [
    "IDS",
    "cut",
    "find_fault",
    "make_lines",
    "make_tokens",
    "read_column",
    "replace_columns",
    "token_lines",
]

# Most sentences find their ids and heads here; -1 finds the last of the heads.
IDS = [str(number) for number in range(1, 1024)]
_find_head = ["0", *IDS, "_"].__getitem__

_FORM, _HEAD, _DEPREL = map(COLUMNS.index, ("form", "head", "deprel"))


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


def find_fault(name: str, column: list[str]) -> str | None:
    """The fault in cells that are to be the column of this name, if there is one."""
    text = "\t".join(column)
    if all(column) and text.count("\t") < len(column) and "\n" not in text and "\r" not in text:
        return None
    for number, cell in enumerate(column, 1):
        if not cell:
            return f"column {name.upper()} of word {number} is empty; _ stands for nothing"
        # A carriage return at the end of a line would be taken for part of the line break.
        if "\t" in cell or "\n" in cell or (name == "misc" and cell.endswith("\r")):
            return f"column {name.upper()} of word {number} holds a tab or a line break: {cell!r}"
    return None


def make_lines(forms: list[str], heads: list[int], deprels: list[str]) -> str:
    """The lines of words, one at least, of which no more is known."""
    words = len(forms)
    cells = (["_"] * 10 + ["\n"]) * words
    del cells[-1]
    cells[::11] = IDS[:words] if words <= len(IDS) else map(str, range(1, words + 1))
    cells[_FORM::11] = forms
    cells[_HEAD::11] = _head_cells(heads)
    cells[_DEPREL::11] = deprels
    return "\t".join(cells).replace("\t\n\t", "\n")


def replace_columns(
    lines: str,
    *,
    heads: list[int],
    deprels: list[str],
    upos: list[str] | None = None,
    misc: list[str] | None = None,
) -> str:
    """The lines with other columns of the words, cut no more than needed."""
    rows = lines.split("\n")
    places: Sequence[int] = range(len(rows))
    if len(rows) != len(heads):
        places = [place for place in places if rows[place].partition("\t")[0].isdecimal()]
    kept: Iterable[None] = repeat(None, len(heads))
    columns = zip(places, _head_cells(heads), deprels, misc or kept, strict=True)
    for place, head, deprel, new in columns:
        before, _, _, deps, old = rows[place].rsplit("\t", 4)
        rows[place] = f"{before}\t{head}\t{deprel}\t{deps}\t{new or old}"
    for place, tag in zip(places, upos or (), strict=upos is not None):
        id, form, lemma, _, after = rows[place].split("\t", 4)
        rows[place] = f"{id}\t{form}\t{lemma}\t{tag}\t{after}"
    return "\n".join(rows)


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
