"""Splitting of multiword tokens: as in the training data, unseen ones by rules learnt there.

A rule says what becomes of one end of a token: the suffix `n't` stands for the words `` and `n't`,
where what the token has before it goes to the first word. A longer suffix knows more: `elo` may be
`e` and `lo`, and `rlo` be `re` and `lo`. Prefixes go the same way, with the rest in the last word.
"""

import reprlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Any, Literal, TypeAlias

from treecrf.segment.errors import SegmentError

__all__ = ["Splitter", "learn_splitter"]

Words: TypeAlias = tuple[str, ...]
Side: TypeAlias = Literal["suffix", "prefix"]

_SIDES: tuple[Side, ...] = ("suffix", "prefix")

_LONGEST_CONTEXT = 5  # characters of the shared part that a rule may look at
_APOSTROPHES = frozenset("'\u2019")
_LEAST_FORMS = 2  # different tokens that a rule must have been seen in

# Tokens whose words are remembered; then all are forgotten and it begins again.
_REMEMBERED = 1 << 16
_LONGEST_REMEMBERED = 100  # characters: longer ones hardly come again, and take much memory


class Splitter:
    """Splits multiword tokens into words."""

    def __init__(
        self, *, splits: Mapping[str, Words], rules: Mapping[Side, Mapping[str, Words]]
    ) -> None:
        self.splits = dict(splits)
        self.rules = {side: dict(table) for side, table in rules.items()}
        self._longest = {side: max(map(len, rules[side]), default=0) for side in rules}
        self._known: dict[str, Words] = {}

    def split(self, form: str) -> Words:
        """The words of a multiword token; the token itself where no way to split it is known."""
        words = self._known.get(form)
        if words is None:
            words = self._split(form)
            if len(form) <= _LONGEST_REMEMBERED:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[form] = words
        return words

    def _split(self, form: str) -> Words:
        if form in self.splits:
            return self.splits[form]
        lower = form.lower()
        if len(lower) != len(form):  # then places in the one are not places in the other
            return (form,)
        words = self.splits.get(lower)
        for side in self.rules:  # the better one first
            words = words or self._apply(lower, side)
        if words and words[0] in self.splits and not _APOSTROPHES.isdisjoint(words[0]):
            words = (*self.splits[words[0]], *words[1:])  # shouldn't've
        return (form,) if words is None else _restore_case(form, words)

    def _apply(self, form: str, side: Side) -> Words | None:
        size = self._longest[side] + 1
        end = form[-size:] if side == "suffix" else form[:size]
        affix = next(filter(self.rules[side].__contains__, _affixes(end, side)), None)
        return None if affix is None else _with_rest(form, affix, self.rules[side][affix], side)

    def to_dict(self) -> dict[str, Any]:
        """The splits and rules for JSON, as `from_dict` takes them."""
        return {"splits": self.splits, "rules": self.rules}

    @classmethod
    def from_dict(cls, data: Any) -> "Splitter":
        """The splitter that a JSON file holds; an error says what is wrong with it."""
        try:
            rules = data["rules"]
            if set(rules) != set(_SIDES):
                raise SegmentError("the rules are those of suffixes and of prefixes")
            return cls(
                splits=_checked(data["splits"], empty=False),
                rules={side: _checked(table, empty=True) for side, table in rules.items()},
            )
        except (KeyError, TypeError, AttributeError):
            raise SegmentError("the multiword tokens are not splits and rules") from None


def learn_splitter(tokens: Iterable[tuple[str, Words]]) -> Splitter:
    """Learn from multiword tokens and their words; the most frequent split of a form counts."""
    exact: defaultdict[str, Counter[Words]] = defaultdict(Counter)
    lower: defaultdict[str, Counter[Words]] = defaultdict(Counter)
    for form, words in tokens:
        if len(words) > 1 and len(form.lower()) == len(form):
            exact[form][words] += 1
            lower[form.lower()][tuple(word.lower() for word in words)] += 1
    splits = {form: _most_frequent(counts) for form, counts in sorted(lower.items())}
    tables = {side: _RuleCounts(splits, side) for side in _SIDES}
    right = {side: table.right_without_itself(splits) for side, table in tables.items()}
    # What the rest of the data splits more tokens rightly by comes first.
    sides = sorted(tables, key=lambda side: -right[side])
    special = {}
    for form, counts in sorted(exact.items()):
        words = _most_frequent(counts)
        if words != _restore_case(form, splits[form.lower()]):
            special[form] = words
    return Splitter(splits=splits | special, rules={side: tables[side].best() for side in sides})


class _RuleCounts:
    """In how many different tokens each rule of one side was seen."""

    def __init__(self, splits: Mapping[str, Words], side: Side) -> None:
        self.side = side
        self.counts: defaultdict[str, Counter[Words]] = defaultdict(Counter)
        for form, words in splits.items():
            for affix, parts in _rules_of(form, words, side):
                self.counts[affix][parts] += 1

    def best(self) -> dict[str, Words]:
        """The most frequent rule of each affix that is not what a shorter one says already."""
        best: dict[str, Words] = {}
        for affix in sorted(self.counts, key=lambda affix: (len(affix), affix)):
            parts = _most_frequent(self.counts[affix])
            if self.counts[affix][parts] < _LEAST_FORMS:
                continue
            shorter = next(filter(best.__contains__, _affixes(affix, self.side)), None)
            if shorter is None or _with_rest(affix, shorter, best[shorter], self.side) != parts:
                best[affix] = parts
        return best

    def right_without_itself(self, splits: Mapping[str, Words]) -> int:
        """The number of tokens that the rules of all others split rightly."""
        return sum(self._split_without_itself(*item) == item[1] for item in splits.items())

    def _split_without_itself(self, form: str, words: Words) -> Words | None:
        own = dict(_rules_of(form, words, self.side))
        for affix in filter(self.counts.__contains__, _affixes(form, self.side)):
            counts = self.counts[affix] - Counter([own[affix]] if affix in own else ())
            if counts:
                return _with_rest(form, affix, _most_frequent(counts), self.side)
        return None


def _affixes(form: str, side: Side) -> Iterator[str]:
    """The proper suffixes or prefixes, the longest first."""
    for cut in range(1, len(form)):
        yield form[cut:] if side == "suffix" else form[:-cut]


def _rules_of(form: str, words: Words, side: Side) -> Iterable[tuple[str, Words]]:
    """The rules that a token shows, from the shortest affix to the one with all its context."""
    if side == "prefix":
        for affix, parts in _rules_of(form[::-1], _mirrored(words), "suffix"):
            yield affix[::-1], _mirrored(parts)
        return
    pairs = enumerate(zip(form, words[0], strict=False))
    shorter = min(len(form), len(words[0]))
    shared = next((place for place, (ours, theirs) in pairs if ours != theirs), shorter)
    for start in range(shared, max(shared - _LONGEST_CONTEXT, 1) - 1, -1):
        if 0 < start < len(form):
            yield form[start:], (words[0][start:], *words[1:])


def _mirrored(words: Words) -> Words:
    return tuple(word[::-1] for word in reversed(words))


def _with_rest(form: str, affix: str, parts: Words, side: Side) -> Words | None:
    """The words of a form whose affix stands for these parts; None if one would be empty."""
    if side == "suffix":
        words = (form[: -len(affix)] + parts[0], *parts[1:])
    else:
        words = (*parts[:-1], parts[-1] + form[len(affix) :])
    return words if all(words) else None


def _restore_case(form: str, words: Words) -> Words:
    """Words in lower case as the token has them: its own letters, if they are put side by side."""
    if "".join(words) == form.lower():
        places = accumulate(map(len, words), initial=0)
        return tuple(form[start:stop] for start, stop in pairwise(places))
    if form.isupper() and len(form) > 1:
        return tuple(word.upper() for word in words)
    if form[0].isupper():
        return (words[0][0].upper() + words[0][1:], *words[1:])
    return words


def _most_frequent(counts: Counter[Words]) -> Words:
    return min(counts, key=lambda words: (-counts[words], words))


def _checked(table: Any, *, empty: bool) -> dict[str, Words]:
    for form, words in table.items():
        several = isinstance(words, list | tuple) and len(words) > 1
        if not (form and several and all(_is_word(word, empty=empty) for word in words)):
            raise SegmentError(f"{reprlib.repr(words)} are not the words of {form!r:.60}")
    return {form: tuple(words) for form, words in table.items()}


def _is_word(word: object, *, empty: bool) -> bool:
    return isinstance(word, str) and (empty or bool(word)) and not set(word) & set("\t\n\r")
