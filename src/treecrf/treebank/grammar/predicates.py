"""Predicates: a verb, or an adjective or noun with a copula, and everything to its right."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from treecrf.treebank.grammar.draw import Draw
from treecrf.treebank.grammar.lexicon import PARTICLES, TRANSITIVES, VERBS, Transitive
from treecrf.treebank.grammar.modifiers import duration, manner, time
from treecrf.treebank.grammar.morphology import made_up
from treecrf.treebank.grammar.nouns import argument, location, noun_phrase, place, preposition
from treecrf.treebank.grammar.verbs import Tense
from treecrf.treebank.grammar.vocabulary import adjective_phrase
from treecrf.treebank.grammar.words import NounPhrase, Phrase, Word

__all__ = ["Predicate", "Setting", "passive", "simple_predicate", "transitive", "verb"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a predicate is made for; `room`, from 0 to 1, says how much may be in it."""

    tense: Tense
    room: float = 1.0

    @property
    def modifiers(self) -> float:
        """How likely a noun has a prepositional phrase."""
        return 0.3 * self.room


@dataclass(eq=False, slots=True)
class Predicate(Phrase):
    """A verb and what follows it; `last` is the noun phrase at its end, unless that is over.

    Behind an infinitive stands only what cannot be on it, and behind a clause nothing at all.
    """

    subjects: tuple[str, ...] = ("person",)
    relation: str = "nsubj"
    carrier: Literal["verb", "cop", "aux:pass"] = "verb"  # the word that has the tense
    single: bool = False  # whether the subject cannot be a plural
    last: NounPhrase | None = None
    located: bool = False
    timed: bool = False
    end: Literal["open", "infinitive", "clause"] = "open"

    def add(self, phrase: NounPhrase, deprel: str) -> None:
        """Append a noun phrase."""
        self.append(phrase, deprel)
        self.last = phrase

    def adjoin(self, part: Phrase | Word, deprel: str) -> None:
        """Append what no relative clause can be on."""
        self.append(part, deprel)
        self.last = None


def verb(lemma: str, *, subjects: tuple[str, ...] = ("person",)) -> Predicate:
    """A verb with nothing behind it yet."""
    return Predicate(Word(lemma, lemma, "VERB", "VB"), subjects=subjects)


def _adjoin(draw: Draw, predicate: Predicate, setting: Setting) -> None:
    """Where, how and when: a verb has one location, which its complements may have given."""
    where = not predicate.located and draw.chance(0.2 * setting.room)
    how = predicate.carrier != "cop" and draw.chance(0.1 * setting.room)
    if how and draw.chance(0.5):
        predicate.adjoin(manner(draw), "advmod")
        how = False
    if where:
        predicate.add(location(draw), "obl")
        predicate.located = True
    if how:
        predicate.adjoin(manner(draw), "advmod")
    if draw.chance(0.15 * setting.room):
        predicate.adjoin(*time(draw, setting.tense))
        predicate.timed = True


def _rest(draw: Draw, setting: Setting) -> Predicate:
    kind = draw.weighted({"rest": 6, "join": 4})
    lemma = draw.zipf(VERBS[kind])
    if draw.chance(0.07):
        lemma = made_up(draw, "intransitive")
    predicate = verb(lemma, subjects=("person", "person", "animal"))
    if kind == "join" and draw.chance(0.4):
        companion = argument(draw, "person", modifiers=setting.modifiers)
        predicate.add(preposition("with", companion), "obl")
    if draw.chance(0.08):
        predicate.adjoin(duration(draw), "obl")
    _adjoin(draw, predicate, setting)
    return predicate


def _move(draw: Draw, setting: Setting) -> Predicate:
    predicate = verb(draw.zipf(VERBS["move"]), subjects=("person", "person", "animal"))
    if draw.chance(0.2):
        form = draw.zipf(("up", "along", "down", "across"))
        predicate.add(preposition(form, noun_phrase(draw, "path")), "obl")
        companion = draw.chance(0.2)
        sourced = False
    else:
        companion = draw.chance(0.3)
        early = companion and draw.chance(0.4)
        if early:
            _accompany(draw, predicate, setting, sourced=False)
        sourced = _go(draw, predicate)
        companion = companion and not early
    if companion:
        _accompany(draw, predicate, setting, sourced=sourced)
    predicate.located = True
    _adjoin(draw, predicate, setting)
    return predicate


def _accompany(draw: Draw, predicate: Predicate, setting: Setting, *, sourced: bool) -> None:
    """With whom: the first "from" is on the verb of motion, and only a second one on the person."""
    banned = () if sourced else ("from",)
    modifiers = 0.7 if sourced else setting.modifiers
    companion = argument(draw, "person", modifiers=modifiers, banned=banned)
    predicate.add(preposition("with", companion), "obl")


def _go(draw: Draw, predicate: Predicate) -> bool:
    """From where, where to or both; tells whether there is a source."""
    legs = draw.weighted({("to",): 6, ("from",): 4, ("from", "to"): 2, ("to", "from"): 1})
    for form in legs:
        kind = draw.even(("place", "settlement", "building", "town"))
        predicate.add(preposition(form, place(draw, kind)), "obl")
    predicate.located = True
    return "from" in legs


def _change(draw: Draw, setting: Setting) -> Predicate:
    kinds = ("thing", "text", "image", "person", "animal")
    predicate = verb(draw.zipf(VERBS["change"]), subjects=kinds)
    _adjoin(draw, predicate, setting)
    return predicate


def transitive(
    draw: Draw, setting: Setting, *, gap: bool = False, kind: str | None = None
) -> Predicate:
    """A verb with an object, or with a gap where an object of this kind is missing."""
    fitting = [item for item in TRANSITIVES if kind is None or kind in item.objects]
    verbs = draw.zipf(fitting)
    if draw.chance(0.06) and kind in (None, "thing", "building"):
        verbs = Transitive((made_up(draw, "transitive"),), ("thing", "building"))
    predicate = verb(draw.zipf(verbs.lemmas))
    if not gap:
        banned = {"from"} if verbs.moves else {"for"} if verbs.benefits else set()
        found = argument(
            draw, kind or draw.zipf(verbs.objects), modifiers=setting.modifiers, banned=banned
        )
        predicate.add(found, "obj")
    _complete(draw, predicate, verbs)
    _adjoin(draw, predicate, setting)
    return predicate


def _complete(draw: Draw, predicate: Predicate, verbs: Transitive) -> None:
    """What these verbs take beside their object."""
    if verbs.tool and draw.chance(0.3):
        predicate.add(preposition("with", noun_phrase(draw, verbs.tool)), "obl")
    if verbs.benefits and draw.chance(0.35):
        predicate.add(preposition("for", argument(draw, "person")), "obl")
    if verbs.moves and draw.chance(0.7):
        _go(draw, predicate)


def passive(draw: Draw, setting: Setting, *, kind: str | None = None) -> Predicate:
    """A passive whose subject may be of this kind."""
    fitting = [item for item in TRANSITIVES if kind is None or kind in item.objects]
    verbs = draw.zipf(fitting)
    predicate = verb(draw.zipf(verbs.lemmas), subjects=verbs.objects)
    predicate.relation = "nsubj:pass"
    predicate.carrier = "aux:pass"
    if draw.chance(0.5):
        banned = ("from",) if verbs.moves else ()
        agent = argument(draw, "person", modifiers=0.5 * setting.modifiers, banned=banned)
        predicate.add(preposition("by", agent), "obl:agent")
    _adjoin(draw, predicate, setting)
    return predicate


def _transfer(draw: Draw, setting: Setting) -> Predicate:
    predicate = verb(draw.zipf(VERBS["transfer"]))
    kind = draw.zipf(("text", "thing", "food", "image"))
    if draw.chance(0.55):
        predicate.add(argument(draw, "person", modifiers=0.5 * setting.modifiers), "iobj")
        # Behind "her", a noun without a determiner would be hers.
        found = noun_phrase(draw, kind, determiner="a", modifiers=setting.modifiers)
        predicate.add(found, "obj")
    else:
        predicate.add(noun_phrase(draw, kind, modifiers=0.5 * setting.modifiers), "obj")
        recipient = argument(draw, "person", modifiers=setting.modifiers)
        predicate.add(preposition("to", recipient), "obl")
    _adjoin(draw, predicate, setting)
    return predicate


def _put(draw: Draw, setting: Setting) -> Predicate:
    predicate = verb(draw.zipf(VERBS["put"]))
    kind = draw.zipf(("thing", "text", "image"))
    predicate.add(argument(draw, kind, modifiers=setting.modifiers), "obj")
    predicate.add(location(draw, surfaces=True, nested=0.4), "obl")
    predicate.located = True
    _adjoin(draw, predicate, setting)
    return predicate


def _particle(draw: Draw, setting: Setting) -> Predicate:
    lemma, form = draw.zipf(list(PARTICLES))
    predicate = verb(lemma)
    particle = Word(form, form, "ADP", "RP")
    kind = draw.zipf(PARTICLES[lemma, form])
    if draw.chance(0.5):
        predicate.adjoin(particle, "compound:prt")
        predicate.add(noun_phrase(draw, kind, modifiers=setting.modifiers), "obj")
    else:
        predicate.add(argument(draw, kind), "obj")
        predicate.adjoin(particle, "compound:prt")
    _adjoin(draw, predicate, setting)
    return predicate


def _talk(draw: Draw, setting: Setting) -> Predicate:
    if draw.chance(0.5):
        predicate = verb(draw.zipf(VERBS["ask"]))
        listener = argument(draw, "person", modifiers=0.5 * setting.modifiers)
        predicate.add(listener, "obj")
    else:
        predicate = verb(draw.zipf(VERBS["talk"]))
    topic = noun_phrase(draw, draw.even(("topic", "field")))
    predicate.add(preposition("about", topic), "obl")
    _adjoin(draw, predicate, setting)
    return predicate


def _seem(draw: Draw, setting: Setting) -> Predicate:
    predicate = verb(draw.zipf(VERBS["seem"]))
    predicate.adjoin(adjective_phrase(draw, "person"), "xcomp")
    return predicate


def _be(draw: Draw, setting: Setting) -> Predicate:
    shape = draw.weighted({"adjective": 5, "role": 2, "location": 3})
    if shape == "role":
        role = noun_phrase(draw, "job", determiner="a", modifiers=setting.modifiers)
        role.kind = "person"
        return Predicate(role.head, role.words, carrier="cop", single=True, last=role, located=True)
    kinds = draw.even((("person",), ("animal",), ("thing",), ("text",)))
    if shape == "location":
        where = location(draw, surfaces=kinds[0] in ("thing", "text"), nested=0.25)
        return Predicate(where.head, where.words, kinds, carrier="cop", last=where, located=True)
    phrase = adjective_phrase(draw, kinds[0])
    predicate = Predicate(phrase.head, phrase.words, kinds, carrier="cop")
    _adjoin(draw, predicate, setting)
    return predicate


_FRAMES: dict[Callable[[Draw, Setting], Predicate], float] = {
    transitive: 30,
    _rest: 14,
    _move: 14,
    _be: 12,
    passive: 8,
    _transfer: 8,
    _put: 6,
    _particle: 6,
    _change: 6,
    _talk: 6,
    _seem: 3,
}


def simple_predicate(
    draw: Draw, setting: Setting, *, kind: str | None = None, verbal: bool = False
) -> Predicate:
    """A predicate without a clause in it, for a subject of this kind; with a verb, if `verbal`."""
    while True:
        predicate = draw.weighted(_FRAMES)(draw, setting)
        if (kind is None or kind in predicate.subjects) and (
            not verbal or predicate.carrier == "verb"
        ):
            return predicate
