"""What a tree must look like: heads to keep, arcs to leave out, labels that stay."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral

from treecrf.parser.errors import ParserError
from treecrf.treebank import Sentence

__all__ = ["FREE", "Constraints", "constraints_of", "kept_from"]


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints on one sentence; words are numbered from 1, and head 0 is the root."""

    held: Mapping[int, int] = field(default_factory=dict)
    forbidden: Mapping[int, Collection[int]] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.held or self.forbidden)

    def check(self, sentence: Sentence, *, where: str | None = None) -> None:
        """An error where a word or a head is none of the sentence's, or both kept and forbidden."""
        where = where or sentence.where
        words = len(sentence)
        outside = f"but the sentence has {words} words (1 to {words}; head 0 is the root)"
        for word, head in self.held.items():
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
            if self.held.get(word) in heads:
                raise ParserError(
                    f"{where}: word {word} is to keep head {self.held[word]}, which is forbidden "
                    "for it as well"
                )


FREE = Constraints()


def kept_from(sentence: Sentence) -> Constraints:
    """The heads and labels that a sentence has already."""
    heads, deprels = sentence.heads, sentence.deprels
    return Constraints(
        held={word: head for word, head in enumerate(heads, 1) if head >= 0},
        labels={word: label for word, label in enumerate(deprels, 1) if label != "_"},
    )


def constraints_of(
    count: int,
    held: Sequence[Mapping[int, int] | None] | None,
    forbidden: Sequence[Mapping[int, Collection[int]] | None] | None,
) -> Iterable[Constraints]:
    """The constraints of so many sentences, from what a caller gives for each of them."""
    for name, given in (("constraints", held), ("forbidden", forbidden)):
        if given is None:
            continue
        _check_types(name, given)
        if len(given) != count:
            raise ParserError(
                f"{len(given)} {name} for {count} sentences: give one for each, or None"
            )
    for number in range(count):
        keep = held[number] if held is not None else None
        avoid = forbidden[number] if forbidden is not None else None
        yield Constraints(held=keep or {}, forbidden=avoid or {}) if keep or avoid else FREE


def _check_types(name: str, given: Sequence[object]) -> None:
    """An error where this is not what a caller may give; what it says is checked elsewhere."""
    example = "{1: 2}" if name == "constraints" else "{1: [2, 3]}"
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ParserError(f"{name} is a list with an item for each sentence, such as [{example}]")
    for limits in given:
        if limits is not None and not _has_numbers(limits, lists=name == "forbidden"):
            raise ParserError(
                f"{name} has {limits!r:.60} for a sentence; give None or a dict of whole numbers, "
                f"such as {example}"
            )


def _has_numbers(limits: object, *, lists: bool) -> bool:
    """Whether this is a mapping of words to heads, or to lists of them."""
    if not isinstance(limits, Mapping):
        return False
    heads = [*limits.values()]
    if lists:
        if not all(isinstance(some, Collection) for some in heads):
            return False
        heads = [head for some in heads for head in some]
    return all(isinstance(number, Integral) for number in [*limits, *heads])
