"""Trees of many sentences as arrays: what decoding gives, and what sentences are made from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treecrf.parser.batching.distinct import Integers

__all__ = ["LEMMA_RULES", "LEMMA_WEIGHT", "Trees"]

LEMMA_RULES = 4
"""Rules that are tried on a form: those that do not fit it are passed over."""

LEMMA_WEIGHT = 1 << 20
"""A lemma rule and its weight are one number: the rule times this, plus the weight."""

Numbers = npt.NDArray[np.float64]

_BY_TOKEN = ("heads", "relations", "probs", "relation_probs", "upos_probs")
_BY_SENTENCE = ("lengths", "log_probs", "crossing", "entropies")


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees of sentences, one after the other; a root symbol stands before the first word of each.

    None stands for what was not asked for, or what the model does not give.
    """

    lengths: Integers  # [sentence], in words
    heads: Integers  # [token]; -1 where there is no tree
    relations: Integers  # [token]
    columns: dict[str, Integers] = field(default_factory=dict)  # [token, class]; of lemmas several
    probs: Numbers | None = None  # [token], of each head
    relation_probs: Numbers | None = None  # [token]
    upos_probs: Numbers | None = None  # [token]
    log_probs: Numbers | None = None  # [sentence]; -inf where the distribution has no such tree
    crossing: npt.NDArray[np.bool_] | None = None  # [sentence], whether no projective tree fits
    entropies: Numbers | None = None  # [sentence], in nats; NaN where it takes too long
    marginals: list[npt.NDArray[np.float32]] | None = None  # of each sentence, [dependent, head]
    relation_marginals: list[npt.NDArray[np.float32]] | None = None  # [token, relation]
    best: "list[Trees | None] | None" = None  # of each sentence that has a list, its best trees

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def starts(self) -> Integers:
        """The place of each root symbol among the tokens, `[sentence]`."""
        return np.cumsum(self.lengths + 1) - (self.lengths + 1)

    @classmethod
    def joined(cls, parts: "Sequence[tuple[Integers, Trees]]") -> "Trees":
        """All trees of several batches, by the numbers of their sentences, which are in no order.

        A batch is its sentences' numbers and their trees.
        """
        if not parts:
            none = np.zeros(0, np.int64)
            return cls(none, none, none)
        rows = np.concatenate([rows for rows, _ in parts])
        order = np.argsort(rows)
        found = [trees for _, trees in parts]
        if len(found) == 1 and np.array_equal(rows, np.arange(len(rows))):
            return found[0]
        sizes = np.concatenate([trees.lengths for trees in found]) + 1
        starts = np.cumsum(sizes) - sizes
        sizes = sizes[order]
        moved = starts[order] - (np.cumsum(sizes) - sizes)
        tokens = np.repeat(moved, sizes) + np.arange(int(sizes.sum()))
        values: dict[str, Any] = {}
        for names, places in ((_BY_TOKEN, tokens), (_BY_SENTENCE, order)):
            for name in names:
                if getattr(found[0], name) is not None:
                    values[name] = np.concatenate([getattr(trees, name) for trees in found])[places]
        values["columns"] = {
            name: np.concatenate([trees.columns[name] for trees in found])[tokens]
            for name in found[0].columns
        }
        for name in ("marginals", "relation_marginals", "best"):
            if getattr(found[0], name) is not None:
                every = [item for trees in found for item in getattr(trees, name)]
                values[name] = [every[place] for place in order]
        return cls(**values)
