"""What a sentence is made of: words, multiword tokens and empty nodes, a line each in a file."""

import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass

__all__ = ["COLUMNS", "EmptyNode", "Multiword", "Token", "joined_forms", "token_range"]

_TOKEN_RANGE = re.compile(r"(?:^|\|)TokenRange=([0-9]+):([0-9]+)(?=\||$)")

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


@dataclass(slots=True)
class Token:
    """A syntactic word; `head` is 0 for the root, -1 where it is not annotated (`_` in a file)."""

    id: int
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: int = -1
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"

    def to_conllu(self) -> str:
        """The line of this word, without a line break."""
        head = "_" if self.head < 0 else self.head
        return (
            f"{self.id}\t{self.form}\t{self.lemma}\t{self.upos}\t{self.xpos}\t{self.feats}"
            f"\t{head}\t{self.deprel}\t{self.deps}\t{self.misc}"
        )


@dataclass(slots=True)
class Multiword:
    """A token of the text that stands for the words `first` to `last`, such as "don't"."""

    first: int
    last: int
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"

    def to_conllu(self) -> str:
        """The line of this token, without a line break."""
        return "\t".join((f"{self.first}-{self.last}", *astuple(self)[2:]))


@dataclass(slots=True)
class EmptyNode:
    """A node of the enhanced graph without a word: `8.1` is the first one after word 8."""

    after: int
    number: int
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"

    def to_conllu(self) -> str:
        """The line of this node, without a line break."""
        return "\t".join((f"{self.after}.{self.number}", *astuple(self)[2:]))


def token_range(misc: str) -> tuple[int, int] | None:
    """Where MISC says that a token is in the text, `TokenRange=START:END`; None if it does not."""
    match = _TOKEN_RANGE.search(misc)
    return (int(match[1]), int(match[2])) if match else None


def joined_forms(tokens: Iterable[Token], multiwords: Iterable[Multiword]) -> str:
    """The text of a sentence as its forms and what MISC says of spaces make it."""
    inside = {
        number: multiword
        for multiword in multiwords
        for number in range(multiword.first, multiword.last + 1)
    }
    pieces: list[str] = []
    for token in tokens:
        whole: Token | Multiword = inside.get(token.id, token)
        if isinstance(whole, Token) or token.id == whole.first:
            space = "" if "SpaceAfter=No" in whole.misc.split("|") else " "
            pieces += whole.form, space
    return "".join(pieces).rstrip(" ")
