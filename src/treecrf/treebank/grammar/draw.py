"""Random choices that are the same for a seed on every version of Python."""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import TypeVar

__all__ = ["Draw"]

Item = TypeVar("Item")


class Draw:
    """Where the grammar draws its choices from.

    Everything goes through `random()`, the one method whose numbers Python promises to keep.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def chance(self, share: float) -> bool:
        """True in this share of cases."""
        return self._random.random() < share

    def even(self, items: Sequence[Item]) -> Item:
        """One of the items, each as likely as the others."""
        return items[int(self._random.random() * len(items))]

    def zipf(self, items: Sequence[Item]) -> Item:
        """One of the items, the first ones most often."""
        return items[self._place(_zipf_sums(len(items)))]

    def weighted(self, items: Mapping[Item, float]) -> Item:
        """One of the keys, each as likely as its value says."""
        return list(items)[self._place(tuple(accumulate(items.values())))]

    def _place(self, sums: tuple[float, ...]) -> int:
        point = self._random.random() * sums[-1]
        return next((place for place, limit in enumerate(sums) if point < limit), len(sums) - 1)


@cache
def _zipf_sums(number: int) -> tuple[float, ...]:
    # Two more than the rank, or the first of a few words would be a third of them all.
    return tuple(accumulate(1 / (rank + 2) for rank in range(1, number + 1)))
