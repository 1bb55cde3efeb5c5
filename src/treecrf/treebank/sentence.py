"""A sentence of a treebank: its tokens, its comments and its tree."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.tokens import EmptyNode, Multiword, Token, joined_forms
from treecrf.treebank.words import Words

__all__ = ["Sentence", "Token"]


class Sentence(Words):
    """A sentence with its tree, lossless: what a file says of it is written back as it was.

    `forms`, `heads` and `deprels` have one item a word, without the root symbol, and are copies:
    assign a whole list to change them, or change the `tokens`. `comments` are whole lines. `probs`,
    where a parser set it, is how sure it was of each head. A sentence of a file knows its `source`
    and the `line` it starts at.
    """

    __slots__ = ("comments", "line", "probs", "source")
    __hash__ = None  # type: ignore[assignment]

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
        self._set_context(comments, probs)
        self._set_columns(list(forms), heads, deprels)

    def _set_context(
        self,
        comments: Iterable[str],
        probs: Sequence[float] | None = None,
        *,
        source: str = "",
        line: int = 0,
    ) -> None:
        self.comments = list(comments)
        self.probs = None if probs is None else list(probs)
        self.source = source
        self.line = line

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
        sentence._set_context(comments)
        sentence._set_tokens(list(tokens), list(multiwords), list(empty_nodes))
        return sentence

    @classmethod
    def from_lines(cls, lines: str, *, words: int, comments: Iterable[str] = ()) -> "Sentence":
        """A sentence of CoNLL-U lines that have no heads and are known to be well-formed.

        The fast way to many of them: nothing is checked and no tokens are made.
        """
        return cls._from_file(lines, list(comments), [-1] * words, None, "", 0)

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
        sentence.comments = comments
        sentence.probs = None
        sentence.source = source
        sentence.line = line
        sentence._set_text(body, heads, cells)
        return sentence

    def copy(self) -> "Sentence":
        """A sentence that can be changed without changing this one."""
        other = Sentence.__new__(Sentence)
        other._set_context(self.comments, self.probs, source=self.source, line=self.line)
        other._set_copy(self)
        return other

    def with_tree(
        self,
        heads: Sequence[int],
        deprels: Sequence[str],
        *,
        probs: Sequence[float] | None = None,
        comments: Iterable[str] = (),
        misc: Sequence[str] | None = None,
        upos: Sequence[str] | None = None,
    ) -> "Sentence":
        """A copy with another tree: the fast way to many of them, because no tokens are made.

        `probs` goes with the tree, and the comments come after those that are there. MISC and UPOS
        are replaced where they are given; all else stays as it is, the enhanced graph (DEPS) too,
        whether or not it goes with the tree. Heads in a cycle are not refused.
        """
        other = Sentence.__new__(Sentence)
        other._set_copy_with_tree(self, heads, deprels, misc=misc, upos=upos)
        if probs is not None:
            self._check_length("probs", probs)
        other._set_context([*self.comments, *comments], probs, source=self.source, line=self.line)
        return other

    @property
    def sent_id(self) -> str | None:
        """What the comment `# sent_id = ...` says."""
        return self._comment("sent_id")

    @property
    def text(self) -> str:
        """What the comment `# text = ...` says; without one, the forms put together."""
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
        return "\n".join([*self.comments, *self._lines()]) + "\n\n"

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
