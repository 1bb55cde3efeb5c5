"""Validate arguments; errors say what to pass instead."""

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral

from treecrf.ops.constants import MOST_TREES
from treecrf.parser.errors import ParserError
from treecrf.treebank import Sentence
from treecrf.treebank.tokens import find_fault

__all__ = ["Words", "as_sentences", "as_text", "check_text", "checked_count", "place_of"]

Words = Sequence[str] | Sentence


def as_sentences(given: Iterable[Words]) -> Iterator[Sentence]:
    """The sentences, made from words where they are lists."""
    if isinstance(given, (str, bytes, Sentence)) or not isinstance(given, Iterable):
        raise ParserError(
            f"give a list of sentences, each of them a list of words, and not {_a(given)}; "
            "`parse` takes raw text"
        )
    for words in given:
        yield words if isinstance(words, Sentence) else _made_of(words)


def _made_of(words: Sequence[str]) -> Sentence:
    if isinstance(words, str):
        raise ParserError(
            "a sentence is a list of words, and this is one string; split it first, and give one "
            'sentence as [["like", "this"]]'
        )
    if not isinstance(words, Iterable):
        raise ParserError(f"a sentence is a list of words, and not {_a(words)}")
    forms = list(words)
    for form in forms:
        if not isinstance(form, str):
            raise ParserError(f"a word is a string, and not {_a(form)}: {form!r:.60}")
    if fault := find_fault("form", forms):
        raise ParserError(f"a sentence that could not be written: {fault}")
    return Sentence(forms)


def place_of(sentence: Sentence, row: int, first: int | None) -> str:
    """The name of a sentence in messages: its own, else its number if the first one has one."""
    named = sentence.line or sentence.sent_id or first is None
    return sentence.where if named else f"sentence {(first or 0) + row}"


def check_text(text: object) -> None:
    """Raise an error if this is not raw text."""
    if not isinstance(text, str):
        raise ParserError(
            f"raw text is one string, and not {_a(text)}; `parse_text` takes it in pieces and "
            "`parse_tokens` takes lists of words"
        )


def as_text(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces of a raw text."""
    if isinstance(pieces, bytes) or not isinstance(pieces, Iterable):
        check_text(pieces)
    for piece in pieces:
        check_text(piece)
        yield piece


def checked_count(k: int) -> int:
    """The number of trees to list as a plain int."""
    if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= MOST_TREES:
        raise ParserError(f"k is {k!r:.60}; it is how many trees to list, 1 to {MOST_TREES:,}")
    return int(k)


def _a(thing: object) -> str:
    return "None" if thing is None else f"something of type {type(thing).__name__}"
