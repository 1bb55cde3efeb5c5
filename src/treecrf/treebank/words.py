"""The words of a sentence: text as long as that will do, tokens once somebody asks for them."""

from collections.abc import Sequence
from dataclasses import replace

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.lines import (
    cut,
    find_fault,
    make_lines,
    make_tokens,
    replace_columns,
    token_lines,
    word_column,
)
from treecrf.treebank.tokens import COLUMNS, EmptyNode, Multiword, Token

__all__ = ["Words"]


class Words:
    """What the lines of a sentence say; a Sentence adds what goes with them.

    `_body` is the text of the lines until tokens are made; from then on it is None and `_tokens` is
    what is true. It is empty as long as nobody asked for lines of which `_forms`, `_heads` and
    `_deprels` are all. Until the next sentence of a file is read, `_cells` saves cutting its lines
    again, where all of them are words: `_cells[1::11]` are the forms.
    """

    __slots__ = (
        "_body",
        "_cells",
        "_deprels",
        "_empty_nodes",
        "_forms",
        "_heads",
        "_multiwords",
        "_tokens",
    )

    _body: str | None
    _cells: list[str] | None
    _forms: list[str]
    _heads: list[int]
    _deprels: list[str]
    _tokens: list[Token]
    _multiwords: list[Multiword]
    _empty_nodes: list[EmptyNode]

    def _set_columns(
        self, forms: list[str], heads: Sequence[int] | None, deprels: Sequence[str] | None
    ) -> None:
        self._body, self._cells = "", None
        self._forms = forms
        self._heads = [-1] * len(forms)
        self._deprels = ["_"] * len(forms)
        if heads is not None:
            self._heads = self._checked_heads(heads)
        if deprels is not None:
            self._check_length("deprels", deprels)
            self._deprels = list(deprels)
        if not forms or find_fault("form", forms) or find_fault("deprel", self._deprels):
            # There are no such lines, and whoever writes them is told why.
            rows = enumerate(zip(forms, self._heads, self._deprels, strict=True), 1)
            tokens = [Token(id, row[0], head=row[1], deprel=row[2]) for id, row in rows]
            self._set_tokens(tokens, [], [])

    def _set_text(self, body: str, heads: list[int], cells: list[str] | None) -> None:
        """Take lines of a file that have been found to be well-formed."""
        self._body = body
        self._heads = heads
        self._cells = cells
        if cells is None:
            cells = cut(body)
            self._forms = word_column(cells, 1, words=len(heads))
            self._deprels = word_column(cells, 7, words=len(heads))

    def _set_tokens(
        self, tokens: list[Token], multiwords: list[Multiword], empty_nodes: list[EmptyNode]
    ) -> None:
        self._tokens, self._multiwords, self._empty_nodes = tokens, multiwords, empty_nodes
        self._body = self._cells = None
        self._forms, self._heads, self._deprels = [], [], []

    def _set_copy(self, other: "Words") -> None:
        if other._body is not None:
            other._drop_cells()
            self._body, self._cells = other._body, None
            self._forms, self._heads, self._deprels = other._forms, other._heads, other._deprels
        else:
            self._set_tokens(
                [replace(token) for token in other._tokens],
                [replace(multiword) for multiword in other._multiwords],
                [replace(node) for node in other._empty_nodes],
            )

    def _set_copy_with_tree(
        self,
        other: "Words",
        heads: Sequence[int],
        deprels: Sequence[str],
        *,
        misc: Sequence[str] | None,
        upos: Sequence[str] | None,
    ) -> None:
        """Copy words with other heads and labels and, where given, MISC and UPOS."""
        heads = other._checked_heads(heads)
        deprels = other._checked_column("deprel", deprels)
        misc = None if misc is None else other._checked_column("misc", misc)
        upos = None if upos is None else other._checked_column("upos", upos)
        if other._body is None:
            self._set_copy(other)
            for token, head, deprel in zip(self._tokens, heads, deprels, strict=True):
                token.head, token.deprel = head, deprel
            for name, column in (("misc", misc), ("upos", upos)):
                for token, cell in zip(self._tokens, column or (), strict=column is not None):
                    setattr(token, name, cell)
            return
        cells = other._cells
        self._cells = None
        self._forms = other._forms if cells is None else cells[1::11]
        self._heads, self._deprels = heads, deprels
        # Lines that are not made yet will be made of the new tree.
        same = not other._body or (heads == other._heads and deprels == other.deprels)
        if same and misc is None and upos is None:
            self._body = other._body
        else:
            self._body = replace_columns(
                other._text(), cells, heads=heads, deprels=deprels, misc=misc, upos=upos
            )

    def _drop_cells(self) -> None:
        """Whoever keeps sentences keeps their text, and of the cells what is asked for most."""
        if self._cells is not None:
            self._forms = self._cells[1::11]
            self._deprels = self._cells[7::11]
            self._cells = None

    def _expand(self) -> None:
        """Make the tokens from the text of the lines."""
        if self._body is not None:
            self._set_tokens(*make_tokens(self._text(), self._cells, self._heads))

    def _text(self) -> str:
        """The text of the lines, as long as there are no tokens."""
        if not self._body:
            self._body = make_lines(self._forms, self._heads, self._deprels)
        return self._body

    @property
    def tokens(self) -> list[Token]:
        """The syntactic words; what is changed here is what is written."""
        self._expand()
        return self._tokens

    @property
    def multiwords(self) -> list[Multiword]:
        """The multiword tokens, left to right."""
        self._expand()
        return self._multiwords

    @property
    def empty_nodes(self) -> list[EmptyNode]:
        """The empty nodes, left to right."""
        self._expand()
        return self._empty_nodes

    def __len__(self) -> int:
        return len(self._heads) if self._body is not None else len(self._tokens)

    @property
    def forms(self) -> list[str]:
        if self._body is not None:
            return self._forms[:] if self._cells is None else self._cells[1::11]
        return [token.form for token in self._tokens]

    @property
    def heads(self) -> list[int]:
        if self._body is not None:
            return self._heads[:]
        return [token.head for token in self._tokens]

    @heads.setter
    def heads(self, heads: list[int]) -> None:
        for token, head in zip(self.tokens, self._checked_heads(heads), strict=True):
            token.head = head

    @property
    def deprels(self) -> list[str]:
        if self._body is not None:
            return self._deprels[:] if self._cells is None else self._cells[7::11]
        return [token.deprel for token in self._tokens]

    @deprels.setter
    def deprels(self, deprels: list[str]) -> None:
        self._check_length("deprels", deprels)
        for token, deprel in zip(self.tokens, deprels, strict=True):
            token.deprel = deprel

    def column(self, name: str) -> list[str]:
        """One column of the words as the file has it, such as "upos"; faster than the tokens."""
        index = COLUMNS.index(name)
        if self._body is None:
            return [token.to_conllu().split("\t")[index] for token in self._tokens]
        cells = cut(self._text()) if self._cells is None else self._cells
        return word_column(cells, index, words=len(self._heads))

    def misc_may_have(self, text: str) -> bool:
        """Whether it can be in MISC of a word: a quick look before a long one."""
        if self._body is not None:
            return text in self._body  # lines that are not made yet have no MISC
        return any(text in token.misc for token in self._tokens)

    def _lines(self) -> list[str]:
        """All lines, as text of one or more of them."""
        if self._body is not None:
            return [self._text()]
        try:
            return token_lines(self._tokens, self._multiwords, self._empty_nodes)
        except TreebankError as error:
            raise self.error(error.problem) from None

    def _checked_heads(self, heads: Sequence[int]) -> list[int]:
        self._check_length("heads", heads)
        checked = list(map(int, heads))
        if checked and (min(checked) < -1 or max(checked) > len(checked)):
            outside = next(
                place for place, head in enumerate(checked) if not -1 <= head <= len(checked)
            )
            raise self.error(
                f"word {outside + 1} has head {checked[outside]}, outside 0 to {len(checked)} "
                "(or -1)"
            )
        return checked

    def _checked_column(self, name: str, cells: Sequence[str]) -> list[str]:
        self._check_length("deprels" if name == "deprel" else name, cells)
        checked = list(cells)
        if fault := find_fault(name, checked):
            raise self.error(fault)
        return checked

    def _check_length(self, what: str, items: Sequence[object]) -> None:
        if len(items) != len(self):
            raise self.error(f"{len(items)} {what} for {len(self)} words")

    def error(self, problem: str) -> TreebankError:
        """An error about these words, to be raised."""
        return TreebankError(problem)
