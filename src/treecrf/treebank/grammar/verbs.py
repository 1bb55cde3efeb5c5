"""Verb forms: tense, agreement, auxiliaries, negation."""

from collections.abc import Collection
from typing import Literal

from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.morphology import gerund, participle, past, third_person
from treecrf.treebank.grammar.words import Agreement, Word

__all__ = ["Tense", "VerbForm", "auxiliaries", "be", "inflect", "negation"]

Tense = Literal["past", "present", "future"]
VerbForm = Literal["past", "present", "base", "participle", "gerund"]

_TAGS = {"past": "VBD", "base": "VB", "participle": "VBN", "gerund": "VBG"}
_INFLECTIONS = {"past": past, "participle": participle, "gerund": gerund}

_BE = {
    ("past", "first"): "was",
    ("past", "singular"): "was",
    ("past", "plural"): "were",
    ("present", "first"): "am",
    ("present", "singular"): "is",
    ("present", "plural"): "are",
}
_BARE_BE = {"base": "be", "participle": "been", "gerund": "being"}
_HAVE = {"past": "had", "present": "has"}
_DO = {"past": "did", "present": "does"}

_SHAPES: dict[Tense, dict[str, float]] = {
    "past": {"simple": 22, "do": 1.5, "have": 2, "be": 2.5},
    "present": {"simple": 9, "do": 1.5, "have": 2.5, "be": 2.5},
    "future": {"modal": 1},
}


def inflect(word: Word, form: VerbForm, agreement: Agreement) -> None:
    """Give a verb its form and tag."""
    word.xpos = _tag(form, agreement)
    if word.xpos == "VBZ":
        word.form = third_person(word.lemma)
    elif form in _INFLECTIONS:
        word.form = _INFLECTIONS[form](word.lemma)


def _tag(form: VerbForm, agreement: Agreement) -> str:
    return _TAGS.get(form) or ("VBZ" if agreement == "singular" else "VBP")


def be(form: VerbForm, agreement: Agreement) -> Word:
    """A form of the auxiliary `be`."""
    found = _BARE_BE.get(form) or _BE[form, agreement]
    return Word(found, "be", "AUX", _tag(form, agreement))


def negation() -> Word:
    """The word `not`."""
    return Word("not", "not", "PART", "RB")


def auxiliaries(
    draw: Draw, tense: Tense, agreement: Agreement, *, excluded: Collection[str] = ()
) -> tuple[list[tuple[Word, str]], VerbForm]:
    """Auxiliaries in front of a finite verb, `not` among them, and the form that the verb takes.

    Of the shapes simple, do, have, be and modal those that are `excluded` are not taken.
    """
    shapes = {shape: weight for shape, weight in _SHAPES[tense].items() if shape not in excluded}
    shape = draw.weighted(shapes)
    finite: VerbForm = "past" if tense == "past" else "present"
    form: VerbForm
    if shape == "simple":
        return [], finite
    if shape == "modal":
        modal = draw.zipf(("will", "can", "must", "should", "may"))
        word, form = Word(modal, modal, "AUX", "MD"), "base"
    elif shape == "be":
        word, form = be(finite, agreement), "gerund"
    else:
        forms = _HAVE if shape == "have" else _DO
        tag = _tag(finite, agreement)
        word = Word(shape if tag == "VBP" else forms[finite], shape, "AUX", tag)
        form = "participle" if shape == "have" else "base"
    left = [(word, "aux")]
    # Where the verb could be alone, "do" is there for the sake of "not".
    if (shape == "do" and "simple" in shapes) or draw.chance(0.1):
        left.append((negation(), "advmod"))
    return left, form
