"""Words, multiword tokens and empty nodes: what a sentence is made of, a line each in a file."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

__all__ = [
    "COLUMNS",
    "EmptyNode",
    "Multiword",
    "Offsets",
    "Token",
    "columns_of",
    "joined_forms",
    "surfaces",
]

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

Offsets: TypeAlias = tuple[int, int] | tuple[None, None]
"""Start and end of a token in the text that it was cut from, in characters, if known."""


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
    start: int | None = field(default=None, compare=False, repr=False)
    """Its start in the text that a segmenter cut; in a multiword token, that of the token."""
    end: int | None = field(default=None, compare=False, repr=False)

    def to_conllu(self) -> str:
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
    start: int | None = field(default=None, compare=False, repr=False)
    end: int | None = field(default=None, compare=False, repr=False)

    def to_conllu(self) -> str:
        return _line(self, f"{self.first}-{self.last}")


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
        return _line(self, f"{self.after}.{self.number}")


def _line(item: Multiword | EmptyNode, id: str) -> str:
    return "\t".join([id, *(getattr(item, name) for name in COLUMNS[1:])])


def columns_of(item: Token | Multiword | EmptyNode) -> dict[str, Any]:
    """The columns by name, as JSON has them: `head` is None where it is not annotated."""
    columns = {key: cell for key, cell in asdict(item).items() if key not in ("start", "end")}
    return columns | {"head": None} if columns["head"] == -1 else columns


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
