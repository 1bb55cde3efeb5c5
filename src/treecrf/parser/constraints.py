"""Constraints on trees: heads to keep, heads to avoid, relations to keep."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral

from treecrf.parser.errors import ParserError
from treecrf.treebank import Sentence

__all__ = ["NO_CONSTRAINTS", "Constraints", "constraints_from", "make_constraints"]


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints on one sentence; words are numbered from 1, and head 0 is the root."""

    heads: Mapping[int, int] = field(default_factory=dict)
    forbidden: Mapping[int, Collection[int]] = field(default_factory=dict)
    relations: Mapping[int, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.heads or self.forbidden)

    def check(self, sentence: Sentence, *, where: str | None = None) -> None:
        """Raise an error for a word or head outside the sentence, or both kept and forbidden."""
        where, words = where or sentence.where, len(sentence)
        outside = f"but the sentence has {words} words (1 to {words}; head 0 is the root)"
        for word, head in self.heads.items():
            if not (1 <= word <= words and 0 <= head <= words):
                raise ParserError(
                    f"{where}: a constraint on word {word} and head {head}, {outside}"
                )
            if head == word:
                raise ParserError(f"{where}: word {word} cannot be its own head")
        for word, heads in self.forbidden.items():
            if not (1 <= word <= words and all(0 <= head <= words for head in heads)):
                raise ParserError(
                    f"{where}: heads {sorted(heads)} are forbidden for word {word}, {outside}"
                )
            if self.heads.get(word) in heads:
                raise ParserError(
                    f"{where}: word {word} is to keep head {self.heads[word]}, which is forbidden "
                    "for it as well"
                )


NO_CONSTRAINTS = Constraints()


def constraints_from(sentence: Sentence) -> Constraints:
    """Constraints that keep the heads and relations that a sentence has already."""
    return Constraints(
        heads={word: head for word, head in enumerate(sentence.heads, 1) if head >= 0},
        relations={word: name for word, name in enumerate(sentence.deprels, 1) if name != "_"},
    )


def make_constraints(
    count: int,
    heads: Sequence[Mapping[int, int] | None] | None,
    forbidden: Sequence[Mapping[int, Collection[int]] | None] | None,
) -> Iterable[Constraints]:
    """Validate the constraints that a caller gives for each of so many sentences."""
    for name, given in (("constraints", heads), ("forbidden", forbidden)):
        if given is None:
            continue
        _check_types(name, given)
        if len(given) != count:
            raise ParserError(
                f"{len(given)} {name} for {count} sentences: give one for each, or None"
            )
    nothing = [None] * count
    for keep, avoid in zip(heads or nothing, forbidden or nothing, strict=True):
        yield Constraints(keep or {}, avoid or {}) if keep or avoid else NO_CONSTRAINTS


def _check_types(name: str, given: Sequence[object]) -> None:
    """Raise an error if types are wrong; `Constraints.check` looks at the numbers."""
    example = "{1: 2}" if name == "constraints" else "{1: [2, 3]}"
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ParserError(f"{name} is a list with an item for each sentence, such as [{example}]")
    for one in given:
        if one is not None and not _has_numbers(one, lists=name == "forbidden"):
            raise ParserError(
                f"{name} has {one!r:.60} for a sentence; give None or a dict of whole numbers, "
                f"such as {example}"
            )


def _has_numbers(mapping: object, *, lists: bool) -> bool:
    """Whether this maps words to heads, or to lists of heads."""
    if not isinstance(mapping, Mapping):
        return False
    heads = [*mapping.values()]
    if lists:
        if not all(isinstance(some, Collection) for some in heads):
            return False
        heads = [head for some in heads for head in some]
    return all(isinstance(number, Integral) for number in [*mapping, *heads])
