"""Noun phrases, and the prepositional phrases that they are in."""

from collections.abc import Collection

from treecrf.treebank.grammar.determiners import Determiner, determine
from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.lexicon import COMPOUNDS, COUNTED, LOCATIONS, POSTMODIFIERS, WITHIN
from treecrf.treebank.grammar.morphology import plural
from treecrf.treebank.grammar.vocabulary import (
    Case,
    adjective,
    adjective_phrase,
    name,
    noun_lemma,
    pronoun,
    town,
)
from treecrf.treebank.grammar.words import NounPhrase, Phrase, Word, comma, conjunction

__all__ = ["argument", "location", "noun_phrase", "place", "preposition"]


def argument(
    draw: Draw,
    kind: str,
    *,
    case: Case = "accusative",
    modifiers: float = 0.0,
    banned: Collection[str] = (),
) -> NounPhrase:
    """A subject or an object: a person may be a pronoun or a name."""
    if kind == "person":
        form = draw.weighted({"noun": 10, "name": 3, "pronoun": 5 if case == "nominative" else 2})
        if form == "pronoun":
            return pronoun(draw, case)
        if form == "name":
            return name(draw)
    elif draw.chance(0.05):
        return NounPhrase(Word("it", "it", "PRON", "PRP"), kind=kind)
    return noun_phrase(draw, kind, modifiers=modifiers, banned=banned)


def noun_phrase(
    draw: Draw,
    kind: str,
    *,
    determiner: Determiner = "any",
    modifiers: float = 0.0,
    banned: Collection[str] = (),
) -> NounPhrase:
    """A phrase around a noun of this kind.

    `modifiers` is how likely a prepositional phrase is behind it; `banned` prepositions would be
    understood as something else where the phrase is going to stand.
    """
    phrase = _single(draw, kind, determiner=determiner, modifiers=modifiers, banned=banned)
    inner_kinds = [inner.kind for inner in phrase.edge()[1:]]
    if draw.chance(0.35 * modifiers) and determiner == "any" and kind not in inner_kinds:
        _list(draw, phrase, banned=banned)
    return phrase


def _single(
    draw: Draw, kind: str, *, determiner: Determiner, modifiers: float, banned: Collection[str]
) -> NounPhrase:
    if kind == "town":
        return town(draw)
    many = kind in COUNTED and determiner != "a" and draw.chance(0.25)
    phrase = _bare(draw, kind, many=many or determiner == "bare plural")
    determine(draw, phrase, determiner=determiner)
    if draw.chance(modifiers):
        _modify(draw, phrase, modifiers=modifiers, banned=banned)
    return phrase


def _bare(draw: Draw, kind: str, *, many: bool) -> NounPhrase:
    """A noun with adjectives and a compound, without a determiner."""
    lemma = noun_lemma(draw, kind)
    word = Word(plural(lemma), lemma, "NOUN", "NNS") if many else Word(lemma, lemma, "NOUN", "NN")
    phrase = NounPhrase(word, kind=kind, agreement="plural" if many else "singular")
    if lemma in COMPOUNDS and draw.chance(0.15):
        compound = draw.zipf(COMPOUNDS[lemma])
        phrase.prepend(Word(compound, compound, "NOUN", "NN"), "compound")
    if draw.chance(0.025):
        nearer, farther = adjective(draw, kind), adjective(draw, kind)
        phrase.prepend(nearer, "amod")
        if farther.form != nearer.form:
            phrase.prepend(farther, "amod")
    elif draw.chance(0.14):
        phrase.prepend(adjective_phrase(draw, kind), "amod")
    return phrase


def _modify(draw: Draw, phrase: NounPhrase, *, modifiers: float, banned: Collection[str]) -> None:
    allowed = {
        form: kinds
        for form, kinds in POSTMODIFIERS.get(phrase.kind, {}).items()
        if form not in banned
    }
    if not allowed:
        return
    form = draw.even(list(allowed))
    kind = draw.even(allowed[form])
    # What modifies the inner noun must not be what the outer one could have: no more of the same.
    inner = noun_phrase(
        draw,
        kind,
        determiner="bare plural" if kind == "food" else "any",
        modifiers=modifiers / 3,
        banned={*banned, *allowed},
    )
    phrase.append(preposition(form, inner), "nmod")
    phrase.inner = inner


def preposition(form: str, phrase: NounPhrase) -> NounPhrase:
    """The phrase with a preposition in front."""
    phrase.prepend(Word(form, form, "ADP", "IN"), "case")
    return phrase


def place(draw: Draw, kind: str, *, nested: float = 0.2) -> NounPhrase:
    """A place, sometimes within another place."""
    phrase = noun_phrase(draw, kind)
    if WITHIN[kind] and draw.chance(nested):
        within = draw.even(list(WITHIN[kind]))
        inner = preposition(draw.zipf(WITHIN[kind][within]), noun_phrase(draw, within))
        phrase.append(inner, "nmod")
        phrase.inner = inner
    return phrase


def location(draw: Draw, *, surfaces: bool = False, nested: float = 0.2) -> NounPhrase:
    """Where something happens or, with the `surfaces` of furniture among it, where a thing is."""
    kind = draw.even([kind for kind in LOCATIONS if surfaces or kind != "surface"])
    return preposition(draw.zipf(LOCATIONS[kind]), place(draw, kind, nested=nested))


def _list(draw: Draw, first: NounPhrase, *, banned: Collection[str]) -> None:
    """Add one or two more of its kind: a conjunct is on the nearest noun of its kind."""
    form = draw.weighted({"and": 5, "or": 1})
    if len(first.words) <= 3 and draw.chance(0.25):
        middle: Phrase = noun_phrase(draw, first.kind)
        first.words[-1].glued = True
        middle.prepend(comma(), "punct")
        first.append(middle, "conj")
    elif draw.chance(0.2):
        correlate = "both" if form == "and" else "either"
        first.prepend(conjunction(correlate), "cc:preconj")
    if first.kind == "person" and draw.chance(0.25):
        last = name(draw)
    else:
        last = _single(draw, first.kind, determiner="any", modifiers=0.1, banned=banned)
    last.prepend(conjunction(form), "cc")
    first.append(last, "conj")
    first.agreement = "plural"
    first.inner = last
