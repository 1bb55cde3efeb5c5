"""Words that know their heads, and phrases of them."""

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Agreement", "NounPhrase", "Phrase", "Word", "comma", "conjunction"]

Agreement = Literal["first", "singular", "plural"]
"""Which forms of the verb a subject takes: I am, he is, they are."""


@dataclass(eq=False, slots=True)
class Word:
    """A word of a sentence in the making; `glued` when no space follows it."""

    form: str
    lemma: str
    upos: str
    xpos: str
    head: "Word | None" = None
    deprel: str = "root"
    glued: bool = False

    def hang(self, head: "Word", deprel: str) -> None:
        """Make this word a dependent."""
        self.head = head
        self.deprel = deprel


@dataclass(eq=False, slots=True)
class Phrase:
    """Words in their order, all of them below `head`."""

    head: Word
    words: list[Word] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words = self.words or [self.head]

    def prepend(self, part: "Phrase | Word", deprel: str) -> None:
        """Put a dependent of the head in front of everything else."""
        words = _hung(part, self.head, deprel)
        self.words = words + self.words

    def append(self, part: "Phrase | Word", deprel: str, *, head: Word | None = None) -> None:
        """Put a dependent of the head, or of another word of the phrase, behind everything."""
        self.words = self.words + _hung(part, head or self.head, deprel)

    def append_comma(self) -> None:
        """A comma that belongs to this phrase, without a space before it."""
        self.words[-1].glued = True
        self.append(comma(), "punct")


@dataclass(eq=False, slots=True)
class NounPhrase(Phrase):
    """A phrase around a noun; `inner` is the noun phrase at its end, if it has one in it."""

    kind: str = ""
    agreement: Agreement = "singular"
    inner: "NounPhrase | None" = None

    def edge(self) -> "list[NounPhrase]":
        """This phrase and those at its end, on each of which what follows could be."""
        return [self] if self.inner is None else [self, *self.inner.edge()]


def comma() -> Word:
    """A comma."""
    return Word(",", ",", "PUNCT", ",")


def conjunction(form: str) -> Word:
    """And, or, but."""
    return Word(form, form, "CCONJ", "CC")


def _hung(part: Phrase | Word, head: Word, deprel: str) -> list[Word]:
    if isinstance(part, Word):
        part.hang(head, deprel)
        return [part]
    part.head.hang(head, deprel)
    return part.words
