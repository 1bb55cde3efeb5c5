"""The lines of a sentence as text: cut into cells, made into tokens and back, given new columns.

`cut` makes one flat list of them: each line is ten cells and, but for the last, one that holds its
line break. So `cells[1::11]` are the forms, those of multiword tokens and empty nodes among them.
"""

from collections.abc import Iterable, Sequence
from itertools import repeat

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.tokens import COLUMNS, EmptyNode, Multiword, Token

__all__ = [
    "IDS",
    "cut",
    "find_fault",
    "make_lines",
    "make_tokens",
    "replace_columns",
    "token_lines",
    "word_column",
]

# Most sentences find their ids and heads here; -1 finds the last of the heads.
IDS = [str(number) for number in range(1, 1024)]
_find_head = ["0", *IDS, "_"].__getitem__

_FORM, _UPOS, _HEAD, _DEPREL, _MISC = map(COLUMNS.index, ("form", "upos", "head", "deprel", "misc"))


def cut(lines: str) -> list[str]:
    """The cells of lines that are known to be well-formed."""
    return lines.replace("\n", "\t\n\t").split("\t")


def _paste(cells: list[str]) -> str:
    return "\t".join(cells).replace("\t\n\t", "\n")


def word_column(cells: list[str], index: int, *, words: int) -> list[str]:
    """One column of the words, of which there are so many."""
    column = cells[index::11]
    if len(column) == words:
        return column
    return [cell for cell, id in zip(column, cells[::11], strict=True) if id.isdecimal()]


def find_fault(name: str, column: list[str]) -> str | None:
    """What is wrong with the cells that shall be the column of this name, if something is."""
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
    return _paste(cells)


def replace_columns(
    lines: str,
    cells: list[str] | None,
    *,
    heads: list[int],
    deprels: list[str],
    upos: list[str] | None = None,
    misc: list[str] | None = None,
) -> str:
    """The lines, which may have been cut already, with other columns of the words."""
    if cells is None and upos is None:
        return _replace_last_columns(lines, heads, deprels, misc)
    cells = cut(lines) if cells is None else cells[:]
    columns = {_UPOS: upos, _HEAD: _head_cells(heads), _DEPREL: deprels, _MISC: misc}
    ids = cells[::11]
    others = len(ids) != len(heads)
    for index, column in columns.items():
        if column is None:
            continue
        if others:
            new = iter(column)
            old = zip(ids, cells[index::11], strict=True)
            column = [next(new) if id.isdecimal() else cell for id, cell in old]
        cells[index::11] = column
    return _paste(cells)


def _replace_last_columns(
    lines: str, heads: list[int], deprels: list[str], misc: list[str] | None
) -> str:
    """Cut no more than what changes: half the time of all columns."""
    rows = lines.split("\n")
    places: Sequence[int] = range(len(rows))
    if len(rows) != len(heads):
        places = [place for place in places if rows[place].partition("\t")[0].isdecimal()]
    kept: Iterable[None] = repeat(None, len(heads))
    columns = zip(places, _head_cells(heads), deprels, misc or kept, strict=True)
    for place, head, deprel, new in columns:
        before, _, _, deps, old = rows[place].rsplit("\t", 4)
        rows[place] = f"{before}\t{head}\t{deprel}\t{deps}\t{new or old}"
    return "\n".join(rows)


def _head_cells(heads: list[int]) -> list[str]:
    if len(heads) <= len(IDS):  # and no head is larger
        return list(map(_find_head, heads))
    return ["_" if head < 0 else str(head) for head in heads]


def make_tokens(
    lines: str, cells: list[str] | None, heads: list[int]
) -> tuple[list[Token], list[Multiword], list[EmptyNode]]:
    """What the lines, which may have been cut already, say."""
    multiwords: list[Multiword] = []
    empty_nodes: list[EmptyNode] = []
    columns: Sequence[Sequence[str]]
    if cells is not None:
        columns = [cells[column::11] for column in (1, 2, 3, 4, 5, 7, 8, 9)]
    else:
        rows = []
        for line in lines.split("\n"):
            row = line.split("\t")
            if "-" in row[0]:
                first, last = row[0].split("-")
                multiwords.append(Multiword(int(first), int(last), *row[1:]))
            elif "." in row[0]:
                after, number = row[0].split(".")
                empty_nodes.append(EmptyNode(int(after), int(number), *row[1:]))
            else:
                rows.append(row)
        columns = list(zip(*rows, strict=True))
        columns = [*columns[1:6], *columns[7:]]
    forms, lemmas, upos, xpos, feats, deprels, deps, misc = columns
    numbers = range(1, len(forms) + 1)
    tokens = map(Token, numbers, forms, lemmas, upos, xpos, feats, heads, deprels, deps, misc)
    return list(tokens), multiwords, empty_nodes


def token_lines(
    tokens: list[Token], multiwords: Iterable[Multiword], empty_nodes: Iterable[EmptyNode]
) -> list[str]:
    """The lines of a sentence; a TreebankError says why there are none that could be read again."""
    before: dict[int, list[Multiword]] = {}
    for multiword in multiwords:
        before.setdefault(multiword.first, []).append(multiword)
    after: dict[int, list[EmptyNode]] = {}
    for node in empty_nodes:
        after.setdefault(node.after, []).append(node)
    lines = [node.to_conllu() for node in after.pop(0, ())]
    for number, token in enumerate(tokens, 1):
        if token.id != number:
            raise TreebankError(f"word {number} has the id {token.id}")
        if token.head > len(tokens):
            raise TreebankError(f"word {number} has head {token.head}, outside the sentence")
        if before:
            lines += [multiword.to_conllu() for multiword in before.pop(number, ())]
        lines.append(token.to_conllu())
        if after:
            lines += [node.to_conllu() for node in after.pop(number, ())]
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
