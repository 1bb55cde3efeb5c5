"""Single words: nouns, names, pronouns and adjectives, of the lexicon or made up."""

from typing import Literal

from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.lexicon import ADJECTIVES, NOUNS
from treecrf.treebank.grammar.morphology import made_up
from treecrf.treebank.grammar.words import Agreement, NounPhrase, Phrase, Word, conjunction

__all__ = ["Case", "adjective", "adjective_phrase", "name", "noun_lemma", "pronoun", "town"]

Case = Literal["nominative", "accusative"]

# How often a word is not in the lexicon.
_MADE_UP = {
    "name": 0.3,
    "town": 0.4,
    "field": 0.3,
    "optic": 0.2,
    "tool": 0.15,
    "food": 0.1,
    "person": 0.05,
    "adjective": 0.08,
}

_ADJECTIVES = {
    "person": "person",
    "job": "person",
    "thing": "thing",
    "device": "thing",
    "food": "food",
    "topic": "topic",
    "field": "topic",
    "place": "place",
    "settlement": "place",
    "building": "place",
}

_SUBJECTS: dict[str, Agreement] = {
    "he": "singular",
    "she": "singular",
    "I": "first",
    "they": "plural",
    "we": "plural",
    "you": "plural",
}
_OBJECTS = {"him": "he", "her": "she", "them": "they", "me": "I", "us": "we", "you": "you"}


def noun_lemma(draw: Draw, kind: str) -> str:
    """A noun of this kind."""
    return made_up(draw, kind) if draw.chance(_MADE_UP.get(kind, 0)) else draw.zipf(NOUNS[kind])


def pronoun(draw: Draw, case: Case) -> NounPhrase:
    """A personal pronoun."""
    if case == "accusative":
        form = draw.zipf(list(_OBJECTS))
        return NounPhrase(Word(form, _OBJECTS[form], "PRON", "PRP"), kind="person")
    form = draw.zipf(list(_SUBJECTS))
    return NounPhrase(Word(form, form, "PRON", "PRP"), kind="person", agreement=_SUBJECTS[form])


def name(draw: Draw) -> NounPhrase:
    """The name of a person, sometimes with a surname, which is always a made-up one."""
    phrase = NounPhrase(_proper(noun_lemma(draw, "name")), kind="person")
    if draw.chance(0.2):
        phrase.append(_proper(made_up(draw, "surname")), "flat")
    return phrase


def town(draw: Draw) -> NounPhrase:
    """The name of a town."""
    return NounPhrase(_proper(noun_lemma(draw, "town")), kind="town")


def _proper(form: str) -> Word:
    return Word(form, form, "PROPN", "NNP")


def adjective_phrase(draw: Draw, kind: str) -> Phrase:
    """An adjective for nouns of this kind, or two."""
    phrase = Phrase(adjective(draw, kind))
    if draw.chance(0.2):
        degree = draw.zipf(("very", "rather", "extremely", "quite"))
        phrase.prepend(Word(degree, degree, "ADV", "RB"), "advmod")
    other = Phrase(adjective(draw, kind))
    if other.head.form != phrase.head.form and draw.chance(0.08):
        other.prepend(conjunction(draw.zipf(("and", "but"))), "cc")
        phrase.append(other, "conj")
    return phrase


def adjective(draw: Draw, kind: str) -> Word:
    """An adjective for nouns of this kind."""
    if draw.chance(_MADE_UP["adjective"]):
        lemma = made_up(draw, "adjective")
    else:
        lemma = draw.zipf(ADJECTIVES[_ADJECTIVES.get(kind, "any")])
    return Word(lemma, lemma, "ADJ", "JJ")
