"""Base noun phrases from Universal Dependencies, for `Doc.noun_chunks` of spaCy.

spaCy's own, for English, look for the relations of another scheme (ClearNLP) and find almost none.
"""

from collections.abc import Iterator

from treecrf.extras import needs_extra

with needs_extra("spacy", "treecrf in spaCy"):
    from spacy.tokens import Doc, Span, Token

__all__ = ["noun_chunks"]

_NOMINAL = ("NOUN", "PROPN", "PRON")
# Relations without their subtypes: what a phrase has before its head, and what after it.
_BEFORE = {"det", "amod", "nummod", "compound", "nmod", "poss", "flat", "clf", "goeswith"}
_AFTER = {"flat", "fixed", "compound", "goeswith"}
_AFTER_ALONE = {"det", "amod", "nummod", "clf"}  # but not with dependents of their own
_NO_PHRASES = {
    *("case", "mark", "cop", "aux", "cc", "advmod", "expl", "discourse", "punct", "reparandum"),
    *(_BEFORE - {"nmod"}),
    *_AFTER,
}


def noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """The start, the end and the label of each base noun phrase, in the order of their heads."""
    doc = doclike.doc
    for attribute, what in (("DEP", "a parse"), ("POS", "universal tags")):
        if not doc.has_annotation(attribute):
            hint = f"add a component that sets token.{attribute.lower()}"
            raise ValueError(f"noun_chunks need {what}, and the Doc has none: {hint}")
    label = doc.vocab.strings.add("NP")
    last = -1
    for word in doclike:
        if word.i > last and _heads_phrase(word):
            start, last = max(_start(word), last + 1), _end(word)
            yield start, last + 1, label


def _heads_phrase(word: Token) -> bool:
    if word.pos_ not in _NOMINAL:
        return False
    while _relation(word) == "conj" and word.head.i < word.i:
        word = word.head  # a conjunct is what the first one is
    relation = _relation(word)
    return relation not in _NO_PHRASES and not (relation == "nmod" and word.i < word.head.i)


def _start(word: Token) -> int:
    start = word.i
    for child in reversed(list(word.lefts)):
        relation = _relation(child)
        if relation in _BEFORE:
            start = child.left_edge.i
        elif relation != "punct":  # as between adjectives
            break
    return int(start)


def _end(word: Token) -> int:
    end = word.i
    for child in word.rights:
        relation = _relation(child)
        alone = relation in _AFTER_ALONE and child.left_edge.i == child.right_edge.i
        if child.left_edge.i != end + 1 or not (relation in _AFTER or alone):
            break
        end = child.right_edge.i
    return int(end)


def _relation(word: Token) -> str:
    return word.dep_.partition(":")[0]
