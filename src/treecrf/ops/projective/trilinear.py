"""Sibling scores by a trilinear form, computed for a block of span widths at a time."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

MOST_BYTES = 2**29  # of the scores of one block
MOST_WIDTHS = 64  # more would not make the matrix products much faster


class Factors(NamedTuple):
    """Factors of the score `siblings[sibling] @ forms[head] @ dependents[dependent]`."""

    forms: Tensor  # [N, features, features], finite like the others
    siblings: Tensor  # [N, features]
    dependents: Tensor  # [N, features]

    def scores(self, heads: Tensor, siblings: Tensor, dependents: Tensor) -> Tensor:
        """Scores `[triple]` of triples of tokens, in double precision."""
        forms, by_sibling, by_dependent = (part.double() for part in self)
        found = (by_sibling[siblings].unsqueeze(1) @ forms[heads]).squeeze(1)
        return (found * by_dependent[dependents]).sum(1)


class SiblingScores:
    """Scores of one sentence from their factors.

    All scores would take N^3 memory; only the last block of widths is kept.
    """

    def __init__(self, factors: Factors, *, block: int | None = None) -> None:
        forms, siblings, dependents = (part.detach().contiguous() for part in factors)
        tokens, features = dependents.shape
        if siblings.shape != dependents.shape or forms.shape != (tokens, features, features):
            raise ValueError(
                f"forms are {list(forms.shape)}, siblings {list(siblings.shape)} and dependents"
                f" {list(dependents.shape)}; they must be [N, features, features] and twice"
                " [N, features]"
            )
        self.tokens, self.features = tokens, features
        if block is None:
            # Spans times siblings are at most N^2 / 4, and there are two directions.
            block = MOST_BYTES // max(1, tokens**2 // 2 * forms.element_size())
            block = min(block, MOST_WIDTHS)
        self._block = max(1, min(block, tokens - 1))
        self._factors = Factors(forms, siblings, dependents)
        # A block reads this far beyond the sentence; those results are not used.
        beyond = (0, 0, self._block, self._block)
        self._siblings, self._dependents = (
            functional.pad(part, beyond) for part in (siblings, dependents)
        )
        # All blocks share memory: new pages would cost half as much as a product.
        shapes = [self._shape(first) for first in range(1, tokens, self._block)]
        most = max((spans * widths * siblings for spans, widths, siblings in shapes), default=0)
        self._memory = forms.new_empty(2, most)
        self._first = self._last = 0  # no widths yet
        self._right, self._left = self._memory

    def of_width(self, width: int) -> tuple[Tensor, Tensor]:
        """Scores `[span, sibling]` of the spans of a width, rightwards and leftwards.

        Row i is for the span from i to j = i + width, its columns for the siblings i + 1 to j - 1;
        i is the head and j the dependent, and leftwards the other way around. The next call
        overwrites them.
        """
        if not self._first <= width <= self._last:
            self._compute((width - 1) // self._block * self._block + 1)
        right = self._right[: self.tokens - width, width - self._first, : width - 1]
        left = self._left[width - self._first :, self._last - width, self._last - width :]
        return right, left

    def of_arc(self, head: int, dependent: int) -> Tensor:
        """Scores `[sibling]` of all siblings between head and dependent, from left to right."""
        forms, siblings, dependents = self._factors
        between = slice(min(head, dependent) + 1, max(head, dependent))
        return siblings[between] @ (forms[head] @ dependents[dependent])

    def _shape(self, first: int) -> tuple[int, int, int]:
        """Heads, widths and distances of a sibling in the block that begins with width `first`."""
        widths = min(self._block, self.tokens - first)
        return self.tokens - first, widths, first + widths - 2

    def _compute(self, first: int) -> None:
        """Compute the block that begins with width `first`."""
        shape = self._shape(first)
        last = first + shape[1] - 1
        size = shape[0] * shape[1] * shape[2]
        self._first, self._last = first, last
        self._right, self._left = (memory[:size].view(shape) for memory in self._memory)
        # right[i, k, r]: head i, dependent i + first + k, sibling i + 1 + r
        self._multiply(self._right, head=0, dependent=first, sibling=1)
        # left[h, k, r]: head j = first + h, dependent j - last + k, sibling j - last + 1 + r
        self._multiply(self._left, head=first, dependent=first - last, sibling=first - last + 1)

    def _multiply(self, scores: Tensor, *, head: int, dependent: int, sibling: int) -> None:
        """Fill the scores `[head, width, distance]`; arguments are tokens of the first of each.

        For one head it is a product of matrices: the dependents at the distances of the block, the
        head's form, and the siblings at any distance.
        """
        heads, widths, siblings = scores.shape
        forms = self._factors.forms[head : head + heads]
        by_arc = torch.bmm(self._windows(self._dependents, dependent, heads, widths), forms.mT)
        torch.bmm(by_arc, self._windows(self._siblings, sibling, heads, siblings).mT, out=scores)

    def _windows(self, padded: Tensor, first: int, heads: int, count: int) -> Tensor:
        """Features `[head, count, feature]` of the tokens from `first` on, one later each head.

        The matrices of two heads overlap in memory and are not copied.
        """
        features = self.features
        strides = (features, features, 1)
        return padded.as_strided(
            (heads, count, features), strides, (self._block + first) * features
        )
