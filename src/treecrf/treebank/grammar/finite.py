"""What makes a predicate a clause: tense, auxiliaries, adverbs before the verb, the subject."""

from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.lexicon import STATIVE
from treecrf.treebank.grammar.modifiers import frequency, manner
from treecrf.treebank.grammar.predicates import Predicate
from treecrf.treebank.grammar.verbs import Tense, VerbForm, auxiliaries, be, inflect, negation
from treecrf.treebank.grammar.words import NounPhrase, Word

__all__ = ["finish", "infinitive"]


def finish(
    draw: Draw,
    predicate: Predicate,
    subject: NounPhrase,
    *,
    tense: Tense,
    question: bool = False,
    adverbs: float = 0.1,
) -> VerbForm:
    """Give the predicate its tense and its subject; tells the form of what carries the tense.

    In a `question` the first auxiliary stands before the subject. `adverbs` is how likely one is
    before the verb: behind a relative clause it could be on either.
    """
    agreement = subject.agreement
    is_verb = predicate.carrier == "verb"
    stative = predicate.head.lemma in STATIVE
    excluded = {"be"} if stative else set()
    if not is_verb:
        excluded = {"be", "do"}
    elif question:
        excluded.add("simple")
    left, form = auxiliaries(draw, tense, agreement, excluded=excluded)
    if is_verb:
        inflect(predicate.head, form, agreement)
    else:
        left.append((be(form, agreement), predicate.carrier))
        if predicate.carrier == "aux:pass":
            inflect(predicate.head, "participle", agreement)
        if len(left) == 1 and draw.chance(0.1):
            left.append((negation(), "advmod"))
    if draw.chance(adverbs):
        negated = any(word.lemma == "not" for word, _ in left)
        described = any(word.upos == "ADV" for word in predicate.words)
        often = not is_verb or stative or described or draw.chance(0.6)
        adverb = frequency(draw, negated=negated) if often else manner(draw)
        # Behind the first auxiliary and its "not": has often been.
        left.insert(min(len(left), 1 + negated), (adverb, "advmod"))
    first = left.pop(0) if question else None
    for word, relation in reversed(left):
        predicate.prepend(word, relation)
    predicate.prepend(subject, predicate.relation)
    if first:
        predicate.prepend(*first)
    return form


def infinitive(predicate: Predicate) -> None:
    """Put `to` before the bare verb."""
    inflect(predicate.head, "base", "singular")
    predicate.prepend(Word("to", "to", "PART", "TO"), "mark")
