"""Features of words: mappings that keep the text of their column."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar, overload

from treecrf.treebank.errors import TreebankError

__all__ = ["FEATS", "FeatureColumn", "Features", "FeaturesLike", "features_as_mappings"]

FeaturesLike: TypeAlias = "str | Mapping[str, str] | None"
"""Features as they can be given: the text of the column, a mapping, or None for none."""

Item = TypeVar("Item", bound=type)


class Features(Mapping[str, str]):
    """The features of a word, such as `Number=Sing|Person=3`: a mapping that cannot be changed.

    `str` gives the text of the column as it was written, `_` where there are no features. It equals
    that text, and any mapping with the same names and values.
    """

    __slots__ = ("_text", "_values")

    def __init__(self, given: FeaturesLike = None) -> None:
        self._text = _as_text(given)
        self._values: dict[str, str] = {}
        for item in self._text.split("|") if self._text != "_" else ():
            name, _, value = item.partition("=")
            self._values[name] = value

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, Features)):
            return self._text == str(other)
        return self._values == other if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Features({self._text!r})"


def _as_text(given: FeaturesLike) -> str:
    """The text of the column; a mapping is sorted as Universal Dependencies want it."""
    if isinstance(given, (str, Features)):
        return str(given)
    items = []
    for name, value in sorted((given or {}).items(), key=lambda item: item[0].lower()):
        if not name or not value or any(mark in name + value for mark in "|=\t\n"):
            problem = "a feature has a name and a value without = and |"
            raise TreebankError(f"{problem}, and not {name!r}: {value!r}")
        items.append(f"{name}={value}")
    return "|".join(items) or "_"


_read = lru_cache(maxsize=4096)(Features)


class FeatureColumn:
    """The attribute `feats` of a class with slots: text in memory, `Features` for who reads it."""

    def __init__(self, slot: Any = None) -> None:
        self._slot = slot

    @overload
    def __get__(self, item: None, owner: type) -> "FeatureColumn": ...
    @overload
    def __get__(self, item: object, owner: type) -> Features: ...
    def __get__(self, item: object, owner: type) -> Any:
        if item is None:  # without a slot, a dataclass asks for the default
            return "_" if self._slot is None else self
        return _read(self._slot.__get__(item))

    def __set__(self, item: object, given: FeaturesLike) -> None:
        self._slot.__set__(item, given if type(given) is str else _as_text(given))


FEATS = FeatureColumn()
"""The default of such a field."""


def features_as_mappings(kind: Item) -> Item:
    """Decorate a dataclass with slots, whose field `feats` is a `FeatureColumn`."""
    kind.feats = FeatureColumn(kind.feats)  # type: ignore[attr-defined]
    return kind
