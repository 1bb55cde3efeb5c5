"""Training text: the characters of a treebank's sentences, and where tokens and sentences end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treecrf.segment.characters import CharacterClass, Joins, classes_of, codes_of, is_space
from treecrf.segment.multiwords import Words
from treecrf.segment.spaces import space_after, space_before
from treecrf.treebank import Multiword, Sentence, Token
from treecrf.treebank.tokens import surfaces

__all__ = [
    "MULTIWORD",
    "PARAGRAPH",
    "SENTENCE",
    "TOKEN",
    "Labels",
    "RawSentence",
    "find_joins",
    "multiwords_of",
    "raw_sentences",
    "raw_text",
]

Labels = npt.NDArray[np.uint8]

# What a character may be the last one of, as bits; the network has an output for each, in this
# order.
TOKEN, SENTENCE, MULTIWORD = 1, 2, 4

PARAGRAPH = "\n\n"


@dataclass(frozen=True, slots=True)
class RawSentence:
    """A sentence as text."""

    text: str
    """From its first token to its last."""
    labels: Labels  # [character], bits
    before: str
    """White space before the first token, where the sentence before does not have it."""
    after: str
    """White space up to the next sentence, unless that one starts a paragraph."""
    new_paragraph: bool
    new_document: bool


def raw_sentences(sentences: Sequence[Sentence]) -> list[RawSentence]:
    """The sentences as text with labels; those without words are left out."""
    return [_raw_sentence(sentence) for sentence in sentences if len(sentence)]


def _raw_sentence(sentence: Sentence) -> RawSentence:
    tokens = list(surfaces(sentence.tokens, sentence.multiwords))
    # The comment has one space where MISC tells of more.
    exact = any("SpacesAfter=" in token.misc for token in tokens)
    text, ends = (None if exact else _aligned(sentence.text, tokens)) or _joined(tokens)
    labels = np.zeros(len(text), np.uint8)
    labels[ends] = TOKEN
    for end, token in zip(ends, tokens, strict=True):
        if isinstance(token, Multiword):
            labels[end] |= MULTIWORD
    labels[ends[-1]] |= SENTENCE
    return RawSentence(
        text=text,
        labels=labels,
        before=space_before(tokens[0].misc),
        after=space_after(tokens[-1].misc),
        new_paragraph=_has_comment(sentence, "newpar"),
        new_document=_has_comment(sentence, "newdoc"),
    )


def _aligned(text: str, tokens: list[Token | Multiword]) -> tuple[str, list[int]] | None:
    """The text of the comment with the place of each token's last character, if they are in it."""
    text = text.strip()
    ends = []
    place = 0
    for token in tokens:
        while place < len(text) and text[place].isspace():
            place += 1
        if not text.startswith(token.form, place):
            return None
        place += len(token.form)
        ends.append(place - 1)
    return (text, ends) if place == len(text) else None


def _joined(tokens: list[Token | Multiword]) -> tuple[str, list[int]]:
    """The text that the tokens and their MISC make."""
    pieces: list[str] = []
    ends = []
    length = 0
    for token in tokens:
        pieces += token.form, space_after(token.misc)
        ends.append(length + len(token.form) - 1)
        length += len(pieces[-2]) + len(pieces[-1])
    return "".join(pieces)[: ends[-1] + 1], ends


def _has_comment(sentence: Sentence, key: str) -> bool:
    return any(comment.lstrip("# \t").startswith(key) for comment in sentence.comments)


def raw_text(sentences: Sequence[RawSentence]) -> str:
    """The text of sentences, with a blank line between paragraphs and between documents."""
    pieces: list[str] = []
    for number, sentence in enumerate(sentences):
        if number and (sentence.new_paragraph or sentence.new_document):
            pieces[-1] = PARAGRAPH
        pieces += sentence.before, sentence.text, sentence.after
    return "".join(pieces)


def multiwords_of(sentences: Sequence[Sentence]) -> Iterator[tuple[str, Words]]:
    """The multiword tokens with their words."""
    for sentence in sentences:
        forms = sentence.forms
        for multiword in sentence.multiwords:
            yield multiword.form, tuple(forms[multiword.first - 1 : multiword.last])


def find_joins(sentences: Sequence[RawSentence]) -> Joins:
    """Between which classes of characters a token has a space inside it."""
    joins = np.zeros((len(CharacterClass), len(CharacterClass)), np.bool_)
    for sentence in sentences:
        classes = classes_of(codes_of(sentence.text))
        inside = (classes[1:-1] == CharacterClass.SPACE) & (sentence.labels[:-2] & TOKEN == 0)
        inside &= ~is_space(classes[:-2]) & ~is_space(classes[2:])
        joins[classes[:-2][inside], classes[2:][inside]] = True
    return joins
