"""Relative clauses and participles on nouns."""

from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.finite import finish
from treecrf.treebank.grammar.lexicon import TRANSITIVES
from treecrf.treebank.grammar.nouns import argument
from treecrf.treebank.grammar.predicates import Setting, passive, simple_predicate, transitive
from treecrf.treebank.grammar.verbs import inflect
from treecrf.treebank.grammar.words import NounPhrase, Phrase, Word

__all__ = ["attach_relative", "relative"]

_KINDS = frozenset(kind for verbs in TRANSITIVES for kind in verbs.objects)


def attach_relative(draw: Draw, whole: Phrase, noun: NounPhrase) -> bool:
    """Put a relative clause behind the noun phrase that the whole ends with, if one can be there.

    "Who" is on the nearest person and "which" on the nearest other thing, so that either may be on
    a noun further back: the picture of the queen which ...
    """
    edge = noun.edge()
    targets = [
        target
        for place, target in enumerate(edge)
        if target.kind in _KINDS
        and target.head.upos == "NOUN"
        and all(_is_person(inner) != _is_person(target) for inner in edge[place + 1 :])
    ]
    if not targets:
        return False
    target = draw.even(targets)
    if target is edge[-1] and draw.chance(0.2):
        whole.append(_participle(draw, target), "acl", head=target.head)
    else:
        whole.append(relative(draw, target), "acl:relcl", head=target.head)
    return True


def _is_person(noun: NounPhrase) -> bool:
    return noun.kind == "person"


def relative(draw: Draw, noun: NounPhrase) -> Phrase:
    """A relative clause, in which the noun is the subject or the object."""
    setting = Setting("past", room=0.25)
    pronoun = Word("who", "who", "PRON", "WP")
    if not _is_person(noun):
        form = draw.even(("that", "which"))
        pronoun = Word(form, form, "PRON", "WDT")
    if draw.chance(0.4):
        clause = transitive(draw, setting, gap=True, kind=noun.kind)
        finish(draw, clause, argument(draw, "person", case="nominative"), tense="past")
        if _is_person(noun) or draw.chance(0.75):
            clause.prepend(pronoun, "obj")
        return clause
    if noun.kind not in ("person", "animal"):
        clause = passive(draw, setting, kind=noun.kind)
    else:
        clause = simple_predicate(draw, setting, kind=noun.kind)
    subject = NounPhrase(pronoun, kind=noun.kind, agreement=noun.agreement)
    finish(draw, clause, subject, tense="past")
    return clause


def _participle(draw: Draw, noun: NounPhrase) -> Phrase:
    """A clause without subject and tense: painted by the king, carrying a box."""
    setting = Setting("past", room=0.25)
    if noun.kind == "person":
        clause = transitive(draw, setting)
        inflect(clause.head, "gerund", "singular")
    else:
        clause = passive(draw, setting, kind=noun.kind)
        inflect(clause.head, "participle", "singular")
    return clause
