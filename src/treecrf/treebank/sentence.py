"""A sentence of a treebank: its words, its comments and its tree."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treecrf.treebank.dicts import sentence_to_dict
from treecrf.treebank.drawing.notebook import DrawnInNotebooks
from treecrf.treebank.errors import TreebankError
from treecrf.treebank.tokens import (
    COLUMNS,
    EmptyNode,
    Multiword,
    Offsets,
    Token,
    are_plain,
    find_fault,
    joined_forms,
    make_lines,
    make_tokens,
    read_column,
    replace_columns,
    shortened,
    token_lines,
)

__all__ = ["Sentence", "Token"]


@dataclass(init=False, repr=False, eq=False, slots=True)
class Sentence(DrawnInNotebooks):
    """A sentence with its tree, lossless: what a file says of it is written back as it was.

    `forms`, `heads` and `deprels` have one item a word, without the root symbol, and are copies:
    assign a whole list to change them, or change the `tokens`. `comments` are whole lines. `probs`,
    `deprel_probs` and `upos_probs`, where a parser set them, are how sure it was of each head,
    relation and tag. A sentence of a file knows its `source` and the `line` it starts at.
    """

    comments: list[str]
    probs: list[float] | None
    deprel_probs: list[float] | None
    upos_probs: list[float] | None
    source: str
    line: int
    # Until tokens are asked for, the lines are text, `_lines`, and the columns that are asked for
    # most are beside it; the text is empty until it is made of these columns. From then on the
    # tokens are what is true, and `_lines` is None.
    _lines: str | None
    _forms: list[str]
    _heads: list[int]
    _deprels: list[str]
    _offsets: Sequence[Offsets] | None
    _tokens: list[Token]
    _multiwords: list[Multiword]
    _empty_nodes: list[EmptyNode]

    def __init__(
        self,
        forms: Iterable[str],
        heads: Sequence[int] | None = None,
        *,
        deprels: Sequence[str] | None = None,
        comments: Iterable[str] = (),
        probs: Sequence[float] | None = None,
    ) -> None:
        self.comments = list(comments)
        self.probs = None if probs is None else list(probs)
        self.deprel_probs = self.upos_probs = None
        self.source, self.line = "", 0
        self._lines, self._forms, self._offsets = "", list(forms), None
        self._heads = [-1] * len(self._forms)
        self._deprels = ["_"] * len(self._forms)
        if heads is not None:
            self._heads = self._checked_heads(heads)
        if deprels is not None:
            self._check_length("deprels", deprels)
            self._deprels = list(deprels)
        if not self or find_fault("form", self._forms) or find_fault("deprel", self._deprels):
            # There are no such lines, and whoever writes them is told why.
            rows = zip(self._forms, self._heads, self._deprels, strict=True)
            tokens = [Token(id, form, head=h, deprel=d) for id, (form, h, d) in enumerate(rows, 1)]
            self._set_tokens(tokens, [], [])

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
        sentence = cls((), comments=comments)
        sentence._set_tokens(list(tokens), list(multiwords), list(empty_nodes))
        return sentence

    @classmethod
    def from_lines(
        cls,
        lines: str,
        forms: list[str],
        *,
        heads: list[int] | None = None,
        deprels: list[str] | None = None,
        comments: list[str],
        offsets: Sequence[Offsets] | None = None,
        source: str = "",
        line: int = 0,
    ) -> "Sentence":
        """A sentence of well-formed CoNLL-U lines and their columns; nothing is checked or copied.

        Empty lines are made of the columns when they are needed.
        """
        sentence = cls.__new__(cls)
        sentence.comments = comments
        sentence.probs = sentence.deprel_probs = sentence.upos_probs = None
        sentence.source, sentence.line = source, line
        sentence._lines, sentence._forms, sentence._offsets = lines, forms, offsets
        sentence._heads = [-1] * len(forms) if heads is None else heads
        sentence._deprels = ["_"] * len(forms) if deprels is None else deprels
        return sentence

    def _set_tokens(
        self, tokens: list[Token], multiwords: list[Multiword], empty_nodes: list[EmptyNode]
    ) -> None:
        self._tokens, self._multiwords, self._empty_nodes = tokens, multiwords, empty_nodes
        for token in tokens:
            token._words = tokens
        self._lines = self._offsets = None
        self._forms, self._heads, self._deprels = [], [], []

    def copy(self) -> "Sentence":
        """A sentence that can be changed without changing this one."""
        other = self._with_lines(self._lines or "", self._heads, self._deprels, self.comments)
        for name in ("probs", "deprel_probs", "upos_probs"):
            setattr(other, name, None if (probs := getattr(self, name)) is None else list(probs))
        if self._lines is None:
            multiwords = [replace(multiword) for multiword in self._multiwords]
            nodes = [replace(node) for node in self._empty_nodes]
            other._set_tokens([replace(token) for token in self._tokens], multiwords, nodes)
        return other

    def _with_lines(
        self, lines: str, heads: list[int], deprels: list[str], comments: Iterable[str]
    ) -> "Sentence":
        forms, notes = self._forms, list(comments)
        other = Sentence.from_lines(lines, forms, heads=heads, deprels=deprels, comments=notes)
        other._offsets, other.source, other.line = self._offsets, self.source, self.line
        return other

    def with_tree(
        self,
        heads: Sequence[int],
        deprels: Sequence[str],
        *,
        probs: Sequence[float] | None = None,
        comments: Iterable[str] = (),
        columns: Mapping[str, Sequence[str]] | None = None,
    ) -> "Sentence":
        """A copy with another tree: the fast way to many of them, because no tokens are made.

        `probs` goes with the tree, and the comments come after those that are there. Other columns,
        such as "upos", are replaced where they are given; all else stays as it is, the enhanced
        graph (DEPS) too, whether or not it goes with the tree. Heads in a cycle are not refused.
        """
        heads = self._checked_heads(heads)
        checked = self._checked_columns({"deprel": deprels, **(columns or {})})
        deprels = checked.pop("deprel")
        if probs is not None:
            self._check_length("probs", probs)
        if self._lines is None:
            other = self.copy()
            other.comments += comments
            changed: dict[str, Sequence[object]] = {"head": heads, "deprel": deprels, **checked}
            for name, column in changed.items():
                for token, cell in zip(other._tokens, column, strict=True):
                    setattr(token, name, cell)
        else:
            lines = self._lines
            # Lines that are not made yet will be made of the new tree.
            same = not lines or (heads == self._heads and deprels == self._deprels)
            if not lines and checked:
                lines = make_lines(self._forms, heads, deprels, checked)
            elif not same or checked:
                lines = replace_columns(lines, heads=heads, deprels=deprels, columns=checked)
            other = self._with_lines(lines, heads, deprels, [*self.comments, *comments])
        other.probs = None if probs is None else list(probs)
        return other

    def with_columns(self, columns: Mapping[str, Sequence[str]]) -> "Sentence":
        """A copy with the same tree and probabilities, and with other cells in these columns."""
        other = self.with_tree(self.heads, self.deprels, probs=self.probs, columns=columns)
        other.deprel_probs, other.upos_probs = self.deprel_probs, self.upos_probs
        return other

    def _text(self) -> str:
        """The text of the lines, as long as there are no tokens."""
        if not self._lines:
            self._lines = make_lines(self._forms, self._heads, self._deprels, {})
        return self._lines

    def _expand(self) -> None:
        """Make the tokens from the text of the lines."""
        if self._lines is not None:
            self._set_tokens(*make_tokens(self._text(), self._heads, self._offsets))

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
        return len(self._heads) if self._lines is not None else len(self._tokens)

    @property
    def forms(self) -> list[str]:
        return self._forms[:] if self._lines is not None else [token.form for token in self._tokens]

    @property
    def heads(self) -> list[int]:
        return self._heads[:] if self._lines is not None else [token.head for token in self._tokens]

    @heads.setter
    def heads(self, heads: list[int]) -> None:
        for token, head in zip(self.tokens, self._checked_heads(heads), strict=True):
            token.head = head

    @property
    def deprels(self) -> list[str]:
        if self._lines is not None:
            return self._deprels[:]
        return [token.deprel for token in self._tokens]

    @deprels.setter
    def deprels(self, deprels: list[str]) -> None:
        self._check_length("deprels", deprels)
        for token, deprel in zip(self.tokens, deprels, strict=True):
            token.deprel = deprel

    @property
    def offsets(self) -> list[Offsets]:
        """Start and end of each word, or of its multiword token, in the text that was segmented."""
        if self._lines is not None:
            return [(None, None)] * len(self) if self._offsets is None else list(self._offsets)
        return [(token.start, token.end) for token in self._tokens]  # type: ignore[misc]

    def column(self, name: str) -> list[str]:
        """One column of the words as the file has it, such as "upos"; faster than the tokens."""
        index = COLUMNS.index(name)
        if self._lines is not None:
            return read_column(self._text(), index, words=len(self._heads))
        if name == "head":
            return ["_" if token.head < 0 else str(token.head) for token in self._tokens]
        return [str(getattr(token, name)) for token in self._tokens]

    def misc_may_have(self, text: str) -> bool:
        """Whether it can be in MISC of a word: a quick look before a long one."""
        if self._lines is not None:
            return text in self._lines  # lines that are not made yet have no MISC
        return any(text in token.misc for token in self._tokens)

    @property
    def sent_id(self) -> str | None:
        """The value of the comment `# sent_id = ...`."""
        return self._comment("sent_id")

    @property
    def text(self) -> str:
        """The value of the comment `# text = ...`; without one, the forms put together."""
        text = self._comment("text")
        return joined_forms(self.tokens, self.multiwords) if text is None else text

    def _comment(self, key: str) -> str | None:
        for comment in self.comments:
            if key in comment and (match := re.match(rf"#\s*{key}\s*=\s*(.*)", comment)):
                return match[1].rstrip()
        return None

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
        if self._lines is not None:
            return "\n".join([*self.comments, self._text()]) + "\n\n"
        try:
            lines = token_lines(self._tokens, self._multiwords, self._empty_nodes)
        except TreebankError as error:
            raise self.error(error.problem) from None
        return "\n".join([*self.comments, *lines]) + "\n\n"

    def to_dict(self) -> dict[str, Any]:
        """The sentence as JSON can hold it; None for what is unknown, `feats` as a mapping."""
        return sentence_to_dict(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sentence):
            return NotImplemented
        names = ("comments", "tokens", "multiwords", "empty_nodes", "probs")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __repr__(self) -> str:
        where = f" {self.where}" if self.line or self.sent_id else ""
        return f"<Sentence{where}: {shortened(' '.join(self.forms))}>"

    def _checked_heads(self, heads: Sequence[int]) -> list[int]:
        self._check_length("heads", heads)
        checked = list(map(int, heads))
        if checked and (min(checked) < -1 or max(checked) > len(checked)):
            pairs = enumerate(checked, 1)
            word, head = next(pair for pair in pairs if not -1 <= pair[1] <= len(checked))
            raise self.error(f"word {word} has head {head}, outside 0 to {len(checked)} (or -1)")
        return checked

    def _checked_columns(self, columns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        checked = {name: list(cells) for name, cells in columns.items()}
        for name, cells in checked.items():
            self._check_length("deprels" if name == "deprel" else name, cells)
        # All at once where nothing is wrong, as it nearly always is.
        if not are_plain(checked.values()):
            for name, cells in checked.items():
                if fault := find_fault(name, cells):
                    raise self.error(fault)
        return checked

    def _check_length(self, what: str, items: Sequence[object]) -> None:
        if len(items) != len(self):
            raise self.error(f"{len(items)} {what} for {len(self)} words")
