"""Regular forms of English verbs, nouns and adjectives, whose lemmas a network may misspell.

Of "closest", "interpreted" and "digging" it has to know that the words are close, interpret and
dig, and not "clos", "interprete" and "digge". A lemma dictionary has these words in other forms.
"""

import re
from collections.abc import Callable, Iterator, Mapping

__all__ = ["regular_lemmas"]

_BASE = re.compile(r"[a-z]{3,}")
_SYLLABLE = re.compile(r"[aeiouy]+")
_DOUBLED = re.compile(r"(?:.*(?:[^aeiou]|qu))?[aeiou][^aeiouwxy]")  # hot, dig, equip
_Y = re.compile(r".*[^aeiou]y")
_ADJECTIVE_SYLLABLES = 2  # longer ones are compared by more and most


def regular_lemmas(known: Mapping[str, str]) -> dict[str, str]:
    """Lemmas of `FORM TAB TAG`, for forms with one lemma of those that a dictionary has.

    Forms that are lemmas themselves are left out, and those that only add an "s".
    """
    bases = {(lemma, key.rpartition("\t")[2]) for key, lemma in known.items()}
    found: dict[str, set[str]] = {}
    for base, tag in bases:
        if tag in _FORMS and _BASE.fullmatch(base):
            for form in _FORMS[tag](base):
                if (form, tag) not in bases:
                    found.setdefault(f"{form}\t{tag}", set()).add(base)
    return {key: min(lemmas) for key, lemmas in sorted(found.items()) if len(lemmas) == 1}


def _verb_forms(base: str) -> Iterator[str]:
    yield from _plurals(base)
    if base.endswith("ie"):
        yield base[:-2] + "ying"
    elif base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        yield base[:-1] + "ing"
    else:
        yield from (stem + "ing" for stem in _stems(base))
    yield from _with_e(base, "d")


def _adjective_forms(base: str) -> Iterator[str]:
    if len(_SYLLABLE.findall(base)) <= _ADJECTIVE_SYLLABLES:
        yield from _with_e(base, "r")
        yield from _with_e(base, "st")


def _plurals(base: str) -> Iterator[str]:
    if _Y.fullmatch(base):
        yield base[:-1] + "ies"
    elif base.endswith(("s", "x", "z", "ch", "sh", "o")):
        yield base + "es"
    elif base.endswith("e"):  # ache: of "aches", it might be "ach"
        yield base + "s"


def _with_e(base: str, ending: str) -> Iterator[str]:
    """The forms with an ending that has an "e" before it."""
    if base.endswith("e"):
        yield base + ending
    elif _Y.fullmatch(base):
        yield f"{base[:-1]}ie{ending}"
    else:
        yield from (f"{stem}e{ending}" for stem in _stems(base))


def _stems(base: str) -> Iterator[str]:
    """The base before a vowel: with its last letter doubled, or both ways where that may be."""
    doubled = _DOUBLED.fullmatch(base) is not None
    if base.endswith("c"):
        yield base + "k"
    elif doubled:
        yield base + base[-1]
    if not (doubled and len(_SYLLABLE.findall(base)) == 1) and not base.endswith("c"):
        yield base


_FORMS: dict[str, Callable[[str], Iterator[str]]] = {
    "VERB": _verb_forms,
    "NOUN": _plurals,
    "ADJ": _adjective_forms,
}
