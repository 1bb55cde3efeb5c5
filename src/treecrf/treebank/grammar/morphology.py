"""Inflected forms, and made-up words whose suffix tells their part of speech."""

import re

from treecrf.treebank.grammar.draw import Draw

__all__ = ["adverb", "gerund", "made_up", "participle", "past", "plural", "third_person"]


def _pieces(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_PLURALS = {"man": "men", "woman": "women", "child": "children", "knife": "knives"}
_PLURALS |= {"photo": "photos", "radio": "radios"}

# Past tense and participle. None is like the base form: where verbs are coordinated, the form tells
# with which one.
_IRREGULAR = {
    "become": ("became", "become"),
    "break": ("broke", "broken"),
    "build": ("built", "built"),
    "buy": ("bought", "bought"),
    "eat": ("ate", "eaten"),
    "fall": ("fell", "fallen"),
    "find": ("found", "found"),
    "give": ("gave", "given"),
    "hang": ("hung", "hung"),
    "know": ("knew", "known"),
    "leave": ("left", "left"),
    "lose": ("lost", "lost"),
    "meet": ("met", "met"),
    "say": ("said", "said"),
    "see": ("saw", "seen"),
    "sell": ("sold", "sold"),
    "send": ("sent", "sent"),
    "show": ("showed", "shown"),
    "sing": ("sang", "sung"),
    "sleep": ("slept", "slept"),
    "take": ("took", "taken"),
    "tell": ("told", "told"),
    "think": ("thought", "thought"),
    "throw": ("threw", "thrown"),
    "wake": ("woke", "woken"),
    "write": ("wrote", "written"),
}

# Chosen so that what they make is hardly ever a word of English, least of all a rude one.
_ONSETS = _pieces("b br d dr f fl g gl gr j k l m n p pl pr r s sk st t tr v z")
_VOWELS = "aeiou"
_MIDDLES = _pieces("b l r nd rb rv lm lt rl")

_SUFFIXES = {
    "name": ("a", "o", "en", "ix"),
    "surname": ("son", "ski", "berg", "well"),
    "town": ("ton", "ville", "burg", "shire"),
    "person": ("er", "ist"),
    "field": ("ness", "ism", "ology"),
    "optic": ("oscope",),
    "tool": ("ometer",),
    "food": ("berry", "nut"),
    "transitive": ("ify", "ize"),
    "intransitive": ("oodle",),
    "adjective": ("ous", "ish", "ful"),
}


def made_up(draw: Draw, kind: str) -> str:
    """A word that English does not have, by the suffix one of this kind."""
    stem = draw.even(_ONSETS) + draw.even(_VOWELS) + draw.even(_MIDDLES)
    if kind in ("name", "surname", "town", "field") and draw.chance(0.5):
        stem += draw.even(_VOWELS) + draw.even(_MIDDLES)
    word = stem + draw.even(_SUFFIXES[kind])
    return word.capitalize() if kind in ("name", "surname", "town") else word


def plural(noun: str) -> str:
    return _PLURALS.get(noun) or third_person(noun)


def third_person(verb: str) -> str:
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(s|x|z|ch|sh|o)$", verb) else "s")


def past(verb: str) -> str:
    return _IRREGULAR[verb][0] if verb in _IRREGULAR else _regular_past(verb)


def participle(verb: str) -> str:
    return _IRREGULAR[verb][1] if verb in _IRREGULAR else _regular_past(verb)


def _regular_past(verb: str) -> str:
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return verb + "d" if verb.endswith("e") else _doubled(verb) + "ed"


def gerund(verb: str) -> str:
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return _doubled(verb) + "ing"


def _doubled(verb: str) -> str:
    """With the last letter twice where a short verb needs it: stop, stopped."""
    return verb + verb[-1] if re.fullmatch(r"[^aeiou]+[aeiou][^aeiouwxy]", verb) else verb


def adverb(adjective: str) -> str:
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    return adjective[:-1] + "y" if adjective.endswith("le") else adjective + "ly"
