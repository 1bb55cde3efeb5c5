"""The words of the grammar, the frequent ones first, and what goes with what.

The kind of a noun decides where its phrase attaches: "with the beard" on the person before it,
"with the telescope" on the verb.
"""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = [
    "ADJECTIVES",
    "COMPOUNDS",
    "COUNTED",
    "EVENTS",
    "FREQUENCY",
    "LOCATIONS",
    "MANNERS",
    "NOUNS",
    "PARTICLES",
    "POSTMODIFIERS",
    "STATIVE",
    "TRANSITIVES",
    "UNOWNED",
    "VERBS",
    "WEEKDAYS",
    "WITHIN",
    "Transitive",
]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_JOBS = _words(
    "teacher doctor farmer student lawyer neighbour friend sailor painter soldier singer writer "
    "nurse baker guest driver"
)

NOUNS = {
    "person": _words("man woman girl boy king queen child brother sister") + _JOBS,
    "job": _JOBS,
    "animal": _words("dog cat horse bird cow goat rabbit bear"),
    "text": _words("book letter story song poem report article novel"),
    "image": _words("picture portrait painting drawing photo"),
    "thing": _words("box bag basket bottle suitcase bucket barrel jar crate"),
    "device": _words("lamp radio engine fan heater"),
    "food": _words("apple cake sandwich pear egg potato pancake cookie"),
    "building": _words("house church tower school castle hotel library factory shop"),
    "place": _words("garden kitchen park forest market harbour office"),
    "settlement": _words("village city valley town"),
    "surface": _words("table shelf floor bench desk"),
    "path": _words("hill street road river bridge"),
    "town": _words("London Paris Oxford Boston Berlin"),
    "feature": _words("beard scar moustache smile tattoo"),
    "clothes": _words("hat coat dress jacket scarf suit"),
    "part": _words("handle lid label lock"),
    "structure": _words("roof balcony gate chimney"),
    "tail": _words("collar tail bell"),
    "optic": _words("telescope camera mirror"),
    "tool": _words("hammer stick rope ladder crowbar"),
    "cleaner": _words("brush sponge towel"),
    "pen": _words("pencil pen typewriter"),
    "cutlery": _words("spoon fork knife"),
    "topic": _words("war election accident journey law"),
    "field": _words("music history football money weather"),
    "name": _words("Anna Peter Mary John Sarah Tom Lucy Paul"),
}

COUNTED = frozenset({"person", "animal", "text", "image", "thing", "device", "food"})
"""Kinds of noun that take numbers, possessors and a plural."""

UNOWNED = frozenset(_words("man woman girl boy"))
"""Nouns of people that are nobody's: "her doctor", but not "her man"."""

EVENTS = _words("party meeting concert wedding storm lesson")
WEEKDAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

ADJECTIVES = {
    "person": _words("young old tall happy tired clever angry rich brave quiet proud"),
    "thing": _words("heavy small red old green cheap wooden black clean big expensive"),
    "food": _words("fresh sweet big cold small green"),
    "topic": _words("long terrible recent strange first"),
    "place": _words("quiet old beautiful small dark new famous"),
    "any": _words("old small new big beautiful strange little famous ugly"),
}

MANNERS = _words("quick slow quiet careful happy sudden gentle proud angry eager")
FREQUENCY = _words("often always never usually sometimes rarely")

COMPOUNDS = {
    "bag": _words("school kitchen"),
    "basket": _words("apple garden"),
    "book": _words("history picture"),
    "cake": _words("apple potato"),
    "doctor": _words("village school"),
    "factory": _words("lamp engine"),
    "house": _words("village garden"),
    "lamp": _words("garden kitchen"),
    "report": _words("school weather"),
    "shop": _words("book village"),
    "song": _words("school war"),
    "story": _words("war school"),
    "student": _words("music history"),
    "table": _words("kitchen garden"),
    "teacher": _words("music history"),
    "tower": _words("church castle"),
}

# Where things are: a noun of this kind with one of these prepositions.
LOCATIONS = {
    "place": ("in", "near", "behind"),
    "building": ("in", "near", "behind"),
    "settlement": ("in", "near"),
    "town": ("in", "near"),
    "surface": ("on", "under"),
}

# A verb has one location. A second one belongs to the first: the table in the kitchen.
WITHIN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "surface": {"place": ("in",), "building": ("in",)},
    "building": {"settlement": ("in", "near"), "town": ("in",), "path": ("near",)},
    "place": {"town": ("in", "near"), "building": ("near", "behind"), "path": ("near",)},
    "settlement": {"town": ("near",), "path": ("near",)},
    "town": {},
}

# What attaches to a noun of this kind: a preposition and the kinds of noun after it.
POSTMODIFIERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "person": {"with": ("feature",), "in": ("clothes",), "from": ("town", "settlement")},
    "job": {"with": ("feature",), "in": ("clothes",), "from": ("town", "settlement")},
    "animal": {"with": ("tail",)},
    "text": {"about": ("topic", "field"), "by": ("person",), "for": ("person",)},
    "image": {"of": ("person", "animal", "building"), "by": ("person",), "for": ("person",)},
    "thing": {"with": ("part",), "of": ("food",), "for": ("person",)},
    "device": {"with": ("part",)},
    "building": {"with": ("structure",), "of": ("person",)},
    "food": {"for": ("person",)},
}

VERBS = {
    "rest": _words("sleep laugh wait smile rest cry"),
    "join": _words("work sing dance play chat"),
    "move": _words("walk return hurry sail climb wander march"),
    "change": _words("arrive disappear fall appear vanish"),
    "transfer": _words("give offer show send hand sell"),
    "put": _words("place leave hang store"),
    "talk": _words("talk complain argue"),
    "ask": _words("ask warn tell remind"),
    "claim": _words("say think claim know believe hope explain"),
    "want": _words("want try decide plan refuse promise"),
    "order": _words("order persuade allow invite help"),
    "seem": _words("seem become remain look"),
}

# Verbs that nobody is doing at the moment, nor on request: no "is knowing".
STATIVE = frozenset(
    _words("see notice know think believe hope want seem become remain look fall vanish lose")
)


@dataclass(frozen=True, slots=True)
class Transitive:
    """Verbs that share their objects, the tools they are done with, and what else they take."""

    lemmas: tuple[str, ...]
    objects: tuple[str, ...]
    tool: str = ""
    benefits: bool = False  # "for the king" is on the verb; elsewhere it is on the object
    moves: bool = False  # the object goes from one place to another


TRANSITIVES = (
    Transitive(_words("see watch notice observe spot"), ("person", "animal", "building"), "optic"),
    Transitive(_words("open lift move break drop"), ("thing",), "tool"),
    Transitive(_words("meet visit greet thank follow"), ("person",)),
    Transitive(_words("find lose examine collect"), ("thing", "text", "image")),
    Transitive(_words("carry drag pull"), ("thing", "device"), moves=True),
    Transitive(_words("write finish copy"), ("text",), "pen", benefits=True),
    Transitive(_words("study admire describe"), ("text", "image")),
    Transitive(_words("clean wash"), ("thing", "building"), "cleaner"),
    Transitive(_words("eat taste"), ("food",), "cutlery"),
    Transitive(_words("buy cook bake"), ("food",), benefits=True),
    Transitive(_words("build repair design"), ("building", "device"), benefits=True),
)

# Verb and particle, with the objects they take.
PARTICLES = {
    ("pick", "up"): ("thing",),
    ("turn", "off"): ("device",),
    ("throw", "away"): ("thing", "food"),
    ("look", "up"): ("text",),
    ("call", "up"): ("person",),
    ("take", "out"): ("thing",),
    ("turn", "on"): ("device",),
    ("wake", "up"): ("person",),
}
