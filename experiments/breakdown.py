"""Right heads by what a word is in the gold tree: arc length, depth, coordination, prepositions."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from treecrf.treebank import Sentence
from treecrf.treebank.metrics.counts import pair_sentences, punctuation
from treecrf.treebank.metrics.scores import Punctuation

__all__ = ["GROUPS", "Breakdown", "break_down"]

_LENGTHS = ("length 1", "length 2", "length 3-6", "length 7+")
_DEPTHS = ("depth 1", "depth 2", "depth 3-4", "depth 5+")
_COORDINATION, _PREPOSITIONS = "coordination", "prepositions"

GROUPS = (*_LENGTHS, *_DEPTHS, _COORDINATION, _PREPOSITIONS)
"""Groups of words. A word of depth 1 hangs on the root symbol, and has no arc length."""


@dataclass
class Breakdown:
    """Words and right heads of each group, over a whole part of a treebank."""

    words: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def accuracy(self, group: str) -> float | None:
        """Percent of right heads; None for a group without words."""
        words = self.words[group]
        return 100 * self.right[group] / words if words else None


def break_down(
    gold: Iterable[Sentence], parsed: Iterable[Sentence], *, punct: Punctuation
) -> Breakdown:
    """Count the right heads of each group; words without a gold head are in none."""
    found = Breakdown()
    for reference, answer in pair_sentences(gold, {"system": parsed}):
        ignored = punctuation(reference, punct)
        for word, group in _memberships(reference):
            if not ignored[word - 1]:
                found.words[group] += 1
                found.right[group] += reference.heads[word - 1] == answer.heads[word - 1]
    return found


def _memberships(sentence: Sentence) -> Iterator[tuple[int, str]]:
    """Pairs of a word, counted from 1, and a group that it is in."""
    heads = [0, *sentence.heads]
    relations = ["", *(relation.partition(":")[0] for relation in sentence.deprels)]
    with_case = {heads[word] for word in range(1, len(heads)) if relations[word] == "case"}
    for word, head in enumerate(heads):
        if word == 0 or head < 0:
            continue
        if head > 0:
            yield word, _range(_LENGTHS, abs(word - head), (1, 2, 6))
        depth = _depth(heads, word)
        if depth is not None:
            yield word, _range(_DEPTHS, depth, (1, 2, 4))
        if relations[word] == "conj":
            yield word, _COORDINATION
        if relations[word] in ("nmod", "obl") and word in with_case:
            yield word, _PREPOSITIONS


def _range(names: tuple[str, ...], value: int, bounds: tuple[int, ...]) -> str:
    """Name of the first range whose bound the value does not exceed, or of the last."""
    return names[sum(value > bound for bound in bounds)]


def _depth(heads: list[int], word: int) -> int | None:
    """Arcs from the root symbol down to a word; None where a head on the way is not annotated."""
    depth = 0
    while word > 0 and depth < len(heads):
        word, depth = heads[word], depth + 1
    return depth if word == 0 else None
