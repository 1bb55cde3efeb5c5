"""What stands before a noun: articles, numbers, possessors."""

from typing import Literal

from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.lexicon import COUNTED, UNOWNED
from treecrf.treebank.grammar.vocabulary import adjective, name, noun_lemma
from treecrf.treebank.grammar.words import NounPhrase, Phrase, Word

__all__ = ["Determiner", "determine"]

Determiner = Literal["any", "a", "indefinite", "none", "bare plural"]
"""What may stand before a noun; "a" is for a single one."""

_POSSESSIVES = {"his": "he", "my": "I", "their": "they", "our": "we", "your": "you", "her": "she"}
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")


def determine(draw: Draw, phrase: NounPhrase, *, determiner: Determiner) -> None:
    """Put a determiner before the noun."""
    if phrase.kind == "field" or determiner in ("none", "bare plural"):
        return
    many = phrase.agreement == "plural"
    choices = {"number": 12.0, "some": 5, "": 14} if many else {"a": 28.0}
    if determiner == "any":
        choices["the"] = 50
        if phrase.kind in COUNTED:
            choices |= {"these": 3, "all": 4} if many else {"this": 4, "every": 2}
            if phrase.head.lemma not in UNOWNED:
                choices |= {"possessive": 10, "possessor": 6}
    chosen = draw.weighted(choices)
    if chosen == "number":
        phrase.prepend(_number(draw), "nummod")
    elif chosen == "possessive":
        form = draw.zipf(list(_POSSESSIVES))
        phrase.prepend(Word(form, _POSSESSIVES[form], "PRON", "PRP$"), "nmod:poss")
    elif chosen == "possessor":
        phrase.prepend(_possessor(draw), "nmod:poss")
    elif chosen == "all":
        phrase.prepend(Word("the", "the", "DET", "DT"), "det")
        phrase.prepend(Word("all", "all", "DET", "PDT"), "det:predet")
    elif chosen:
        phrase.prepend(Word(chosen, {"these": "this"}.get(chosen, chosen), "DET", "DT"), "det")


def _number(draw: Draw) -> Phrase:
    if draw.chance(0.2):
        digits = str(20 + draw.even(range(80)))
        return Phrase(Word(digits, digits, "NUM", "CD"))
    form = draw.zipf(_NUMBERS)
    if draw.chance(0.15):
        phrase = Phrase(Word("hundred", "hundred", "NUM", "CD"))
        phrase.prepend(Word(form, form, "NUM", "CD"), "compound")
        return phrase
    return Phrase(Word(form, form, "NUM", "CD"))


def _possessor(draw: Draw) -> Phrase:
    phrase: Phrase
    if draw.chance(0.6):
        phrase = name(draw)
    else:
        lemma = noun_lemma(draw, "person")
        phrase = Phrase(Word(lemma, lemma, "NOUN", "NN"))
        if draw.chance(0.2):
            phrase.prepend(adjective(draw, "person"), "amod")
        phrase.prepend(Word("the", "the", "DET", "DT"), "det")
    phrase.words[-1].glued = True
    phrase.append(Word("'s", "'s", "PART", "POS"), "case")
    return phrase
