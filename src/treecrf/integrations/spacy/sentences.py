"""The sentences of spaCy's Docs: where they start, and which of their tokens are words."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treecrf.extras import needs_extra
from treecrf.parser.choices import Tags
from treecrf.parser.errors import ParserError
from treecrf.treebank import Sentence, Token

with needs_extra("spacy", "treecrf in spaCy"):
    from spacy.tokens import Doc

if TYPE_CHECKING:
    from treecrf.parser import Parser

__all__ = ["SpacySentence", "sentences_of", "set_sentence_starts"]


@dataclass(frozen=True, slots=True)
class SpacySentence:
    """A sentence of a Doc, without its white space, which for spaCy is tokens too."""

    start: int  # place of its first token in the Doc
    words: Sentence | None  # to parse; None where all is white space
    places: list[int]  # of each word in the Doc
    spaces: dict[int, int]  # place of white space -> that of the word before it, else the first one


def set_sentence_starts(docs: Sequence[Doc], parser: "Parser") -> None:
    """Find sentences with the model's segmenter in Docs without sentence starts."""
    bare = [doc for doc in docs if not doc.has_annotation("SENT_START")]
    if not bare:
        return
    if not parser.has_segmenter:
        problem = "the Doc has no sentences and this model has no segmenter to find them"
        hint = "add what does before it, such as nlp.add_pipe('sentencizer', before='treecrf')"
        raise ParserError(f"{problem}: {hint}")
    found = parser.segmenter.segment_texts([doc.text for doc in bare])
    for doc, sentences in zip(bare, found, strict=True):
        starts = [token.idx for token in doc]
        firsts = {bisect_left(starts, sentence.offsets[0][0] or 0) for sentence in sentences[1:]}
        for token in doc:  # the first one starts with the white space before it
            token.is_sent_start = token.i == 0 or token.i in firsts


def sentences_of(doc: Doc, tags: Tags) -> list[SpacySentence]:
    """The sentences of a Doc whose starts are set, with the tags that the model reads."""
    attribute = {"none": "", "upos": "POS", "xpos": "TAG"}[tags]
    if attribute and not doc.has_annotation(attribute):
        problem = f"this model reads tags ({tags}) and the Doc has none"
        raise ParserError(f"{problem}: add a tagger before it")
    starts = [token.i for token in doc if token.i == 0 or token.is_sent_start]
    ends = [*starts[1:], len(doc)]
    return [_sentence(doc, *ends_of, tags) for ends_of in zip(starts, ends, strict=True)]


def _sentence(doc: Doc, start: int, end: int, tags: Tags) -> SpacySentence:
    places = [place for place in range(start, end) if not doc[place].is_space]
    spaces: dict[int, int] = {}
    word = places[0] if places else start
    for place in range(start, end):
        if doc[place].is_space:
            spaces[place] = word
        else:
            word = place
    sentence = None
    if places and tags == "none":
        sentence = Sentence([doc[place].text for place in places])
    elif places:
        words = enumerate((doc[place] for place in places), 1)
        tokens = [Token(n, w.text, upos=w.pos_ or "_", xpos=w.tag_ or "_") for n, w in words]
        sentence = Sentence.from_tokens(tokens)
    return SpacySentence(start, sentence, places, spaces)
