"""What says how, how often and when."""

from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.lexicon import EVENTS, FREQUENCY, MANNERS, WEEKDAYS
from treecrf.treebank.grammar.morphology import adverb, made_up, plural
from treecrf.treebank.grammar.verbs import Tense
from treecrf.treebank.grammar.words import Phrase, Word

__all__ = ["bare_time", "duration", "frequency", "manner", "time"]


def manner(draw: Draw) -> Word:
    """An adverb in -ly."""
    made = draw.chance(0.12)
    form = adverb(made_up(draw, "adjective") if made else draw.zipf(MANNERS))
    return Word(form, form, "ADV", "RB")


def frequency(draw: Draw, *, negated: bool) -> Word:
    """An adverb such as `often`; beside a `not` no `never`."""
    form = draw.zipf([form for form in FREQUENCY if form != "never" or not negated])
    return Word(form, form, "ADV", "RB")


def time(draw: Draw, tense: Tense) -> tuple[Phrase, str]:
    """When, with its relation."""
    if draw.chance(0.55):
        return bare_time(draw, tense), "obl:tmod"
    shape = draw.even(("in", "on", "at", "event"))
    if shape == "in":
        phrase = _noun(draw.zipf(("morning", "evening", "afternoon")))
        phrase.prepend(Word("the", "the", "DET", "DT"), "det")
    elif shape == "on":
        day = draw.even(WEEKDAYS)
        phrase = Phrase(Word(day, day, "PROPN", "NNP"))
    elif shape == "at":
        phrase = _noun(draw.zipf(("noon", "night", "midnight")))
    else:
        shape = draw.zipf(("after", "during", "before"))
        phrase = _noun(draw.zipf(EVENTS))
        phrase.prepend(Word("the", "the", "DET", "DT"), "det")
    phrase.prepend(Word(shape, shape, "ADP", "IN"), "case")
    return phrase, "obl"


def duration(draw: Draw) -> Phrase:
    """For how long."""
    unit = draw.zipf(("hour", "day", "week", "year"))
    phrase = Phrase(Word(plural(unit), unit, "NOUN", "NNS"))
    number = draw.zipf(("two", "three", "five", "ten"))
    phrase.prepend(Word(number, number, "NUM", "CD"), "nummod")
    phrase.prepend(Word("for", "for", "ADP", "IN"), "case")
    return phrase


def bare_time(draw: Draw, tense: Tense) -> Phrase:
    """When, without a preposition: the words tell the tense of the verb that it is on."""
    alone, before = {
        "past": ("yesterday", "last"),
        "present": ("today", "every"),
        "future": ("tomorrow", "next"),
    }[tense]
    if draw.chance(0.5):
        return _noun(alone)
    phrase = _noun(draw.zipf(("week", "month", "summer", "year")))
    if tense == "present":
        phrase.prepend(Word(before, before, "DET", "DT"), "det")
    else:
        phrase.prepend(Word(before, before, "ADJ", "JJ"), "amod")
    return phrase


def _noun(lemma: str) -> Phrase:
    return Phrase(Word(lemma, lemma, "NOUN", "NN"))
