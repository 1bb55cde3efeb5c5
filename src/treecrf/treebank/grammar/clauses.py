"""Clauses: a predicate with its subject, and the clauses that depend on them."""

from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.finite import finish, infinitive
from treecrf.treebank.grammar.lexicon import VERBS
from treecrf.treebank.grammar.modifiers import bare_time
from treecrf.treebank.grammar.nouns import argument, location, noun_phrase
from treecrf.treebank.grammar.predicates import Predicate, Setting, simple_predicate, verb
from treecrf.treebank.grammar.relatives import attach_relative
from treecrf.treebank.grammar.verbs import Tense, VerbForm, be, inflect
from treecrf.treebank.grammar.words import Agreement, NounPhrase, Phrase, Word, comma, conjunction

__all__ = ["adverbial", "clause", "draw_tense"]

_TENSES: dict[Tense, float] = {"past": 6, "present": 2.5, "future": 1.5}


def draw_tense(draw: Draw) -> Tense:
    """A tense, most often the past."""
    return draw.weighted(_TENSES)


def clause(draw: Draw, setting: Setting, *, question: bool = False) -> Predicate:
    """A statement or a question that can be answered with yes."""
    if setting.room > 0.5 and not question and draw.chance(0.04):
        return _existential(draw, setting)
    shape = draw.weighted({"simple": 80, "claim": 8, "want": 8, "order": 4})
    if setting.room <= 0.5 or shape == "simple":
        predicate = simple_predicate(draw, setting)
    elif shape == "claim":
        predicate = _claim(draw, setting)
    else:
        predicate = _want(draw, setting) if shape == "want" else _order(draw, setting)
    subject, heavy = _subject(draw, predicate, setting, question=question)
    form = finish(
        draw,
        predicate,
        subject,
        tense=setting.tense,
        question=question,
        adverbs=0 if heavy else 0.1,
    )
    if predicate.last and draw.chance(0.16 * setting.room):
        if attach_relative(draw, predicate, predicate.last):
            predicate.end = "clause"
    elif draw.chance(0.07 * setting.room) and _can_go_on(predicate, form):
        other = _conjunct(
            draw, form, tense=setting.tense, kind=subject.kind, agreement=subject.agreement
        )
        predicate.adjoin(other, "conj")
        predicate.end = "clause"
    return predicate


def _subject(
    draw: Draw, predicate: Predicate, setting: Setting, *, question: bool
) -> tuple[NounPhrase, bool]:
    """A subject for the predicate, and whether it ends in a clause."""
    kind = draw.even(predicate.subjects)
    subject = argument(draw, kind, case="nominative", modifiers=0.7 * setting.modifiers)
    while predicate.single and subject.agreement == "plural":
        subject = argument(draw, kind, case="nominative", modifiers=0.7 * setting.modifiers)
    if subject.head.upos == "PROPN" and draw.chance(0.15 * setting.room):
        _appose(draw, subject)
    elif (
        subject.head.upos == "NOUN"
        and not subject.inner
        and not question
        and draw.chance(0.08 * setting.room)
    ):
        # Only here is a location on any noun: there is no verb yet that it could be on.
        subject.append(location(draw, nested=0), "nmod")
    elif draw.chance(0.15 * setting.room):
        return subject, attach_relative(draw, subject, subject)
    return subject, False


def _appose(draw: Draw, subject: NounPhrase) -> None:
    role = noun_phrase(draw, "job", determiner="a", modifiers=0.2)
    role.prepend(comma(), "punct")
    role.append_comma()
    subject.words[-1].glued = True
    subject.append(role, "appos")


def _existential(draw: Draw, setting: Setting) -> Predicate:
    kind = draw.zipf(("person", "thing", "animal", "text"))
    noun = noun_phrase(draw, kind, modifiers=0.3 * setting.modifiers, determiner="indefinite")
    word = be("past" if setting.tense == "past" else "present", noun.agreement)
    word.upos = "VERB"
    predicate = Predicate(word)
    predicate.add(noun, "nsubj")
    predicate.add(location(draw, surfaces=True, nested=0.25), "obl")
    predicate.located = True
    predicate.prepend(Word("there", "there", "PRON", "EX"), "expl")
    return predicate


def _claim(draw: Draw, setting: Setting) -> Predicate:
    predicate = verb(draw.zipf(VERBS["claim"]))
    tense = "past" if setting.tense == "past" else draw_tense(draw)
    inner = clause(draw, Setting(tense, room=0.5))
    if inner.end == "open" and draw.chance(0.08):
        inner.append(adverbial(draw, tense), "advcl")
    if draw.chance(0.6):
        inner.prepend(Word("that", "that", "SCONJ", "IN"), "mark")
    predicate.adjoin(inner, "ccomp")
    predicate.end = "clause"
    return predicate


def _want(draw: Draw, setting: Setting) -> Predicate:
    predicate = verb(draw.zipf(VERBS["want"]))
    _add_infinitive(draw, predicate, setting)
    return predicate


def _order(draw: Draw, setting: Setting) -> Predicate:
    predicate = verb(draw.zipf(VERBS["order"]))
    predicate.add(argument(draw, "person", modifiers=0.5 * setting.modifiers), "obj")
    _add_infinitive(draw, predicate, setting)
    return predicate


def _add_infinitive(draw: Draw, predicate: Predicate, setting: Setting) -> None:
    inner = simple_predicate(draw, Setting("future", room=0.4), kind="person", verbal=True)
    if draw.chance(0.12):
        inner.adjoin(_conjunct(draw, "base", tense="future"), "conj")
    infinitive(inner)
    predicate.adjoin(inner, "xcomp")
    predicate.end = "infinitive"
    if setting.tense == "past" and draw.chance(0.2):
        # Yesterday was the wanting; tomorrow would have been what was wanted.
        predicate.adjoin(bare_time(draw, "past"), "obl:tmod")
        predicate.timed = True


def _can_go_on(predicate: Predicate, form: VerbForm) -> bool:
    """Whether another verb can follow: behind an infinitive, only the past tense is not on that."""
    if predicate.carrier != "verb" or predicate.end == "clause":
        return False
    return predicate.end == "open" or form == "past"


def _conjunct(
    draw: Draw,
    form: VerbForm,
    *,
    tense: Tense,
    kind: str = "person",
    agreement: Agreement = "plural",
) -> Predicate:
    """A second verb for a subject that is already there."""
    predicate = simple_predicate(draw, Setting(tense, room=0.3), kind=kind, verbal=True)
    inflect(predicate.head, form, agreement)
    predicate.prepend(conjunction("and"), "cc")
    return predicate


def adverbial(draw: Draw, tense: Tense) -> Phrase:
    """When or why: a clause with a subject, or a gerund without one."""
    if draw.chance(0.25):
        inner = simple_predicate(draw, Setting(tense, room=0.3), kind="person", verbal=True)
        inflect(inner.head, "gerund", "singular")
        marker = draw.zipf(("after", "before", "without"))
    else:
        inner = clause(draw, Setting("past" if tense == "past" else "present", room=0.4))
        marker = draw.zipf(("because", "when", "while", "before", "if", "after"))
    inner.prepend(Word(marker, marker, "SCONJ", "IN"), "mark")
    return inner
