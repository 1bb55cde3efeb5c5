"""A sentence of a treebank: its tokens, its comments and its tree."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.tokens import COLUMNS, EmptyNode, Multiword, Token

__all__ = ["Sentence", "Token"]


class Sentence:
    """A sentence with its tree, lossless: what a file says of it is written back as it was.

    `forms`, `heads` and `deprels` have one item a word, without the root symbol, and are copies:
    assign a whole list to change them, or change the `tokens`. `comments` are whole lines. `probs`,
    where a parser set it, is how sure it was of each head. A sentence of a file knows its `source`
    and the `line` it starts at.
    """

    # A sentence of a file keeps the text of its lines as `_body` and makes its tokens when somebody
    # asks for them; from then on `_tokens` is what is true and `_body` is gone. Until the next
    # sentence is read, `_cells` saves cutting the lines again: `_cells[1::11]` are the forms.
    __slots__ = (
        "_body",
        "_cells",
        "_deprels",
        "_empty_nodes",
        "_forms",
        "_heads",
        "_multiwords",
        "_tokens",
        "comments",
        "line",
        "probs",
        "source",
    )
    __hash__ = None  # type: ignore[assignment]

    _body: str | None
    _cells: list[str] | None
    _forms: list[str]
    _heads: list[int]
    _deprels: list[str]
    _tokens: list[Token]
    _multiwords: list[Multiword]
    _empty_nodes: list[EmptyNode]
    comments: list[str]
    probs: list[float] | None
    source: str
    line: int

    def __init__(
        self,
        forms: Iterable[str],
        heads: Sequence[int] | None = None,
        *,
        deprels: Sequence[str] | None = None,
        comments: Iterable[str] = (),
        probs: Sequence[float] | None = None,
    ) -> None:
        self._init([Token(number, form) for number, form in enumerate(forms, 1)], comments)
        self.probs = None if probs is None else list(probs)
        if heads is not None:
            self.heads = list(heads)
        if deprels is not None:
            self.deprels = list(deprels)

    def _init(self, tokens: list[Token], comments: Iterable[str]) -> None:
        self._body = self._cells = None
        self._tokens = tokens
        self._multiwords = []
        self._empty_nodes = []
        self.comments = list(comments)
        self.probs = None
        self.source = ""
        self.line = 0

    @classmethod
    def from_tokens(
        cls,
        tokens: Iterable[Token],
        *,
        multiwords: Iterable[Multiword] = (),
        empty_nodes: Iterable[EmptyNode] = (),
        comments: Iterable[str] = (),
    ) -> "Sentence":
        """A sentence of these words, numbered 1, 2, 3, ..."""
        sentence = cls.__new__(cls)
        sentence._init(list(tokens), comments)
        sentence._multiwords = list(multiwords)
        sentence._empty_nodes = list(empty_nodes)
        return sentence

    @classmethod
    def _from_file(
        cls,
        body: str,
        comments: list[str],
        heads: list[int],
        cells: list[str] | None,
        source: str,
        line: int,
    ) -> "Sentence":
        """A sentence of a file whose lines have been found to be well-formed."""
        sentence = cls.__new__(cls)
        sentence._body = body
        sentence._heads = heads
        sentence._cells = cells
        sentence.comments = comments
        sentence.probs = None
        sentence.source = source
        sentence.line = line
        if cells is None:
            rows = [line.split("\t", 8) for line in body.split("\n")]
            sentence._forms = [row[1] for row in rows if row[0].isdecimal()]
            sentence._deprels = [row[7] for row in rows if row[0].isdecimal()]
        return sentence

    def _drop_cells(self) -> None:
        """Whoever keeps sentences keeps their text, and of the cells what is asked for most."""
        if self._cells is not None:
            self._forms = self._cells[1::11]
            self._deprels = self._cells[7::11]
            self._cells = None

    def _expand(self) -> None:
        """Make the tokens from the text of the lines."""
        if self._body is None:
            return
        self._multiwords = []
        self._empty_nodes = []
        columns: Sequence[Sequence[str]]
        if self._cells is not None:
            columns = [self._cells[column::11] for column in (1, 2, 3, 4, 5, 7, 8, 9)]
        else:
            rows = []
            for line in self._body.split("\n"):
                row = line.split("\t")
                if "-" in row[0]:
                    first, last = row[0].split("-")
                    self._multiwords.append(Multiword(int(first), int(last), *row[1:]))
                elif "." in row[0]:
                    after, number = row[0].split(".")
                    self._empty_nodes.append(EmptyNode(int(after), int(number), *row[1:]))
                else:
                    rows.append(row)
            columns = list(zip(*rows, strict=True))
            columns = [*columns[1:6], *columns[7:]]
        forms, lemmas, upos, xpos, feats, deprels, deps, misc = columns
        numbers = range(1, len(forms) + 1)
        self._tokens = list(
            map(Token, numbers, forms, lemmas, upos, xpos, feats, self._heads, deprels, deps, misc)
        )
        self._body = self._cells = None
        self._forms, self._heads, self._deprels = [], [], []

    def copy(self) -> "Sentence":
        """A sentence that can be changed without changing this one."""
        other = Sentence.__new__(Sentence)
        other.comments = self.comments[:]
        other.probs = None if self.probs is None else self.probs[:]
        other.source, other.line = self.source, self.line
        other._body = self._body
        other._cells = None
        if self._body is not None:
            self._drop_cells()
            other._forms, other._heads, other._deprels = self._forms, self._heads, self._deprels
        else:
            other._tokens = [replace(token) for token in self._tokens]
            other._multiwords = [replace(multiword) for multiword in self._multiwords]
            other._empty_nodes = [replace(node) for node in self._empty_nodes]
        return other

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
        self._check_length("heads", heads)
        for number, head in enumerate(heads, 1):
            if not -1 <= head <= len(heads):
                raise self.error(
                    f"word {number} has head {head}, outside 0 to {len(heads)} (or -1)"
                )
        for token, head in zip(self.tokens, heads, strict=True):
            token.head = int(head)

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
        if self._cells is not None:
            return self._cells[index::11]
        rows = [line.split("\t", index + 1) for line in self._body.split("\n")]
        if len(rows) == len(self._heads):
            return [row[index] for row in rows]
        return [row[index] for row in rows if row[0].isdecimal()]

    def _check_length(self, what: str, items: Sequence[object]) -> None:
        if len(items) != len(self):
            raise self.error(f"{len(items)} {what} for {len(self)} words")

    @property
    def sent_id(self) -> str | None:
        """What the comment `# sent_id = ...` says."""
        return self._comment("sent_id")

    @property
    def text(self) -> str:
        """What the comment `# text = ...` says; without one, the forms put together."""
        text = self._comment("text")
        return self._joined_forms() if text is None else text

    def _comment(self, key: str) -> str | None:
        for comment in self.comments:
            if key in comment and (match := re.match(rf"#\s*{key}\s*=\s*(.*)", comment)):
                return match[1].rstrip()
        return None

    def _joined_forms(self) -> str:
        inside = {
            number: multiword
            for multiword in self.multiwords
            for number in range(multiword.first, multiword.last + 1)
        }
        pieces: list[str] = []
        for token in self.tokens:
            whole: Token | Multiword = inside.get(token.id, token)
            if isinstance(whole, Token) or token.id == whole.first:
                space = "" if "SpaceAfter=No" in whole.misc.split("|") else " "
                pieces += whole.form, space
        return "".join(pieces).rstrip(" ")

    @property
    def where(self) -> str:
        """`FILE:LINE` of a sentence that was read from a file, for messages."""
        return f"{self.source}:{self.line}" if self.line else self.sent_id or "a sentence"

    def error(self, problem: str) -> TreebankError:
        """An error about this sentence, to be raised."""
        return TreebankError(problem, source=self.source, line=self.line)

    def to_conllu(self) -> str:
        """The lines of the sentence and the empty line after them."""
        for comment in self.comments:
            if not comment.startswith("#") or "\n" in comment or comment.endswith("\r"):
                raise self.error(f"a comment is one line that starts with #, not {comment!r}")
        lines = [*self.comments, self._body] if self._body is not None else self._lines()
        return "\n".join(lines) + "\n\n"

    def _lines(self) -> list[str]:
        before: dict[int, list[Multiword]] = {}
        for multiword in self._multiwords:
            before.setdefault(multiword.first, []).append(multiword)
        after: dict[int, list[EmptyNode]] = {}
        for node in self._empty_nodes:
            after.setdefault(node.after, []).append(node)
        lines = [node.to_conllu() for node in after.pop(0, ())]
        for number, token in enumerate(self._tokens, 1):
            if token.id != number:
                raise self.error(f"word {number} has the id {token.id}")
            if token.head > len(self._tokens):
                raise self.error(f"word {number} has head {token.head}, outside the sentence")
            if before:
                lines += [multiword.to_conllu() for multiword in before.pop(number, ())]
            lines.append(token.to_conllu())
            if after:
                lines += [node.to_conllu() for node in after.pop(number, ())]
        if before or after:
            raise self.error("a multiword token or an empty node is outside the sentence")
        if not self._tokens:
            raise self.error("a sentence without words")
        for line in lines:
            row = line.split("\t")
            if len(row) != 10 or "\n" in line or line.endswith("\r"):
                raise self.error(f"a column holds a tab or a line break: {line!r}")
            if "" in row:
                name = COLUMNS[row.index("")].upper()
                raise self.error(f"column {name} of word {row[0]} is empty; _ stands for nothing")
        return self.comments + lines

    def to_dict(self) -> dict[str, Any]:
        """The sentence as what JSON can hold; `head` is None where it is not annotated."""
        words = []
        for index, token in enumerate(self.tokens):
            word = asdict(token)
            if token.head < 0:
                word["head"] = None
            if self.probs is not None:
                word["prob"] = self.probs[index]
            words.append(word)
        return {
            "sent_id": self.sent_id,
            "text": self.text,
            "comments": list(self.comments),
            "tokens": words,
            "multiwords": [asdict(multiword) for multiword in self.multiwords],
            "empty_nodes": [asdict(node) for node in self.empty_nodes],
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sentence):
            return NotImplemented
        return (
            self.comments == other.comments
            and self.tokens == other.tokens
            and self.multiwords == other.multiwords
            and self.empty_nodes == other.empty_nodes
            and self.probs == other.probs
        )

    def __repr__(self) -> str:
        return f"<Sentence {self.where}: {' '.join(self.forms)}>"
