"""Whole sentences: statements, questions, requests, and those in which arcs cross."""

from treecrf.treebank.grammar.clauses import adverbial, clause, draw_tense
from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.finite import finish, infinitive
from treecrf.treebank.grammar.lexicon import STATIVE, VERBS
from treecrf.treebank.grammar.modifiers import time
from treecrf.treebank.grammar.nouns import argument, location, noun_phrase, preposition
from treecrf.treebank.grammar.predicates import (
    Predicate,
    Setting,
    simple_predicate,
    transitive,
    verb,
)
from treecrf.treebank.grammar.relatives import relative
from treecrf.treebank.grammar.verbs import Tense, inflect, negation
from treecrf.treebank.grammar.vocabulary import name
from treecrf.treebank.grammar.words import NounPhrase, Phrase, Word, comma

__all__ = ["crossing_sentence", "projective_sentence"]


def projective_sentence(draw: Draw) -> list[Word]:
    """A sentence without crossing arcs."""
    make = draw.weighted({_statement: 80, _question: 6, _content_question: 7, _request: 7})
    return make(draw)


def crossing_sentence(draw: Draw) -> list[Word]:
    """A sentence with an arc that others cross."""
    make = draw.weighted({_extraposed_clause: 4, _extraposed_phrase: 2, _extracted: 4})
    return make(draw)


def _ended(phrase: Phrase, mark: str) -> list[Word]:
    phrase.words[-1].glued = True
    phrase.append(Word(mark, mark, "PUNCT", "."), "punct")
    return phrase.words


def _statement(draw: Draw) -> list[Word]:
    tense = draw_tense(draw)
    predicate = clause(draw, Setting(tense, room=draw.weighted({0.3: 5, 0.7: 3, 1.0: 2})))
    if predicate.end != "clause" and draw.chance(0.06):
        predicate.append(adverbial(draw, tense), "advcl")
        predicate.end = "clause"
    elif draw.chance(0.03):
        _append_clause(predicate, clause(draw, Setting("past", room=0.3)), "although")
    elif draw.chance(0.05):
        conjunction = draw.zipf(("and", "but"))
        _append_clause(predicate, clause(draw, Setting(tense, room=0.5)), conjunction)
    if draw.chance(0.11):
        _front(draw, predicate, tense=tense)
    if draw.chance(0.02):
        form = draw.zipf(("yes", "well", "no", "oh"))
        _front_part(predicate, Phrase(Word(form, form, "INTJ", "UH")), "discourse")
    return _ended(predicate, "." if draw.chance(0.95) else "!")


def _append_clause(predicate: Predicate, other: Predicate, word: str) -> None:
    """A clause behind a comma is on the verb of the whole, whatever is between."""
    predicate.words[-1].glued = True
    if word == "although":
        other.prepend(Word(word, word, "SCONJ", "IN"), "mark")
    else:
        other.prepend(Word(word, word, "CCONJ", "CC"), "cc")
    other.prepend(comma(), "punct")
    predicate.append(other, "advcl" if word == "although" else "conj")


def _front(draw: Draw, predicate: Predicate, *, tense: Tense) -> None:
    shape = draw.weighted({"clause": 5, "time": 5, "place": 3, "adverb": 3})
    if shape == "clause":
        _front_part(predicate, adverbial(draw, tense), "advcl")
    elif shape == "time" and not predicate.timed:
        phrase, relation = time(draw, tense)
        if relation == "obl":
            phrase.append_comma()
        predicate.prepend(phrase, relation)
    elif shape == "adverb":
        form = draw.zipf(("suddenly", "finally", "fortunately"))
        _front_part(predicate, Phrase(Word(form, form, "ADV", "RB")), "advmod")
    elif shape == "place" and not predicate.located:
        _front_part(predicate, location(draw), "obl")


def _front_part(predicate: Predicate, part: Phrase, relation: str) -> None:
    part.append_comma()
    predicate.prepend(part, relation)


def _question(draw: Draw) -> list[Word]:
    predicate = clause(draw, Setting(draw_tense(draw), room=0.6), question=True)
    if draw.chance(0.1):
        _front_part(predicate, name(draw), "vocative")
    return _ended(predicate, "?")


def _content_question(draw: Draw) -> list[Word]:
    tense = draw_tense(draw)
    shape = draw.weighted({"what": 4, "which": 2, "who": 2, "where": 3})
    if shape == "who":
        predicate = simple_predicate(draw, Setting(tense, room=0.5), kind="person", verbal=True)
        finish(draw, predicate, NounPhrase(Word("who", "who", "PRON", "WP")), tense=tense)
        return _ended(predicate, "?")
    if shape == "where":
        predicate = simple_predicate(draw, Setting(tense, room=0.3), verbal=True)
        form = draw.zipf(("why", "when", "where") if not predicate.located else ("why", "when"))
        asked: Phrase = Phrase(Word(form, form, "ADV", "WRB"))
        relation = "advmod"
    else:
        kind = draw.zipf(("thing", "text", "food", "building"))
        predicate = transitive(draw, Setting(tense, room=0.3), gap=True, kind=kind)
        asked, relation = _asked(draw, kind, shape), "obj"
    subject = argument(draw, draw.even(predicate.subjects), case="nominative", modifiers=0.1)
    finish(draw, predicate, subject, tense=tense, question=True)
    predicate.prepend(asked, relation)
    return _ended(predicate, "?")


def _asked(draw: Draw, kind: str, form: str) -> Phrase:
    """What, or which thing of this kind."""
    if form == "what":
        return Phrase(Word("what", "what", "PRON", "WP"))
    noun = noun_phrase(draw, kind, determiner="none")
    noun.prepend(Word("which", "which", "DET", "WDT"), "det")
    return noun


def _request(draw: Draw) -> list[Word]:
    predicate = simple_predicate(draw, Setting("future", room=0.7), kind="person", verbal=True)
    while predicate.head.lemma in STATIVE:
        predicate = simple_predicate(draw, Setting("future", room=0.7), kind="person", verbal=True)
    inflect(predicate.head, "base", "plural")
    if draw.chance(0.15):
        predicate.prepend(negation(), "advmod")
        predicate.prepend(Word("do", "do", "AUX", "VB"), "aux")
    if draw.chance(0.4):
        predicate.prepend(Word("please", "please", "INTJ", "UH"), "discourse")
    if draw.chance(0.35):
        _front_part(predicate, name(draw), "vocative")
    return _ended(predicate, draw.even((".", "!")))


def _extraposed_clause(draw: Draw) -> list[Word]:
    """A man arrived yesterday who carried a box: who is the man, as nobody else could be."""
    subject = noun_phrase(draw, "person", determiner="indefinite")
    predicate = verb(draw.zipf(VERBS["change"] + VERBS["rest"]))
    if draw.chance(0.4):
        predicate.add(location(draw, nested=0), "obl")
    if draw.chance(0.5):
        predicate.adjoin(*time(draw, "past"))
    finish(draw, predicate, subject, tense="past")
    predicate.append(relative(draw, subject), "acl:relcl", head=subject.head)
    return _ended(predicate, ".")


def _extraposed_phrase(draw: Draw) -> list[Word]:
    """A letter arrived yesterday about the war: letters are about something, arrivals are not."""
    subject = noun_phrase(draw, "text", determiner="indefinite")
    predicate = verb(draw.zipf(VERBS["change"]))
    if draw.chance(0.7):
        predicate.adjoin(*time(draw, "past"))
    finish(draw, predicate, subject, tense="past")
    topic = noun_phrase(draw, draw.even(("topic", "field")))
    predicate.append(preposition("about", topic), "nmod", head=subject.head)
    return _ended(predicate, ".")


def _extracted(draw: Draw) -> list[Word]:
    """What did the king want to open? What is opened, and the wanting is between."""
    kind = draw.zipf(("thing", "text", "food", "building"))
    inner = transitive(draw, Setting("future", room=0.3), gap=True, kind=kind)
    infinitive(inner)
    predicate = verb(draw.zipf(VERBS["want"]))
    predicate.append(inner, "xcomp")
    tense = draw_tense(draw)
    finish(draw, predicate, argument(draw, "person", case="nominative"), tense=tense, question=True)
    asked = _asked(draw, kind, draw.even(("what", "which")))
    asked.head.hang(inner.head, "obj")
    predicate.words = asked.words + predicate.words
    return _ended(predicate, "?")
