"""Soft targets: probabilities that teachers give to arcs, siblings, relations and classes."""

from dataclasses import dataclass

import numpy as np

from treecrf.parser.batching.distinct import Integers

__all__ = ["WEIGHT", "Items", "Targets", "target_cells"]

WEIGHT = 1 << 20
"""Probabilities are whole numbers of parts of this: a batch moves to the device in one array."""


@dataclass(frozen=True, slots=True)
class Items:
    """Some rows of numbers for each token, those of one token after those of another."""

    starts: Integers  # [token + 1]
    rows: Integers  # [item, number]; the last number is the weight

    @classmethod
    def of(cls, tokens: Integers, rows: Integers, *, count: int) -> "Items":
        """Items of these tokens `[item]`, in any order, of `count` tokens in all."""
        order = np.argsort(tokens, kind="stable")
        counts = np.bincount(tokens, minlength=count)
        return cls(np.concatenate(([0], np.cumsum(counts))), rows[order])

    def take(self, tokens: Integers) -> tuple[Integers, Integers]:
        """The items of some tokens: the place of each item's token among them, and the rows."""
        first = self.starts.take(tokens)
        counts = self.starts.take(tokens + 1) - first
        owner = np.repeat(np.arange(len(tokens)), counts)
        before = np.cumsum(counts) - counts
        place = np.arange(len(owner)) + (first - before).take(owner)
        return owner, self.rows[place]


@dataclass(frozen=True, slots=True)
class Targets:
    """Targets of all tokens of encoded sentences."""

    heads: Integers  # [token], under which the relations are
    arcs: Items  # head, weight
    siblings: Items | None  # head, sibling, weight; of the second order
    grandparents: Items | None  # head, grandparent, weight; of the third order
    classes: dict[str, Items]  # class, weight: of relations and of each column
    sizes: dict[str, int]  # number of classes of each


def target_cells(
    targets: Targets, token: Integers, *, cells: Integers, width: int
) -> dict[str, tuple[Integers, Integers]]:
    """Cells of the scores of packed tokens and their weights, by the name of the scores."""
    owner, rows = targets.arcs.take(token)
    found = {"arcs": (cells.take(owner) * width + rows[:, 0], rows[:, 1])}
    for name, triples in (("siblings", targets.siblings), ("grandparents", targets.grandparents)):
        if triples is not None:
            owner, rows = triples.take(token)
            arcs = cells.take(owner) * width + rows[:, 0]
            found[name] = arcs * width + rows[:, 1], rows[:, 2]
    for name, items in targets.classes.items():
        owner, rows = items.take(token)
        found[name] = owner * targets.sizes[name] + rows[:, 0], rows[:, 1]
    return found
