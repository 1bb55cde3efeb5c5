"""Sibling scores by a trilinear form, computed for a block of span widths at a time."""

import torch
from torch import Tensor

MOST_BYTES = 2**29  # of the scores of one block
MOST_WIDTHS = 64  # more would not make the matrix products much faster


class SiblingScores:
    """Scores `dot(pairs[head, sibling], dependents[dependent])` of one sentence.

    `pairs [N, N, features]`, `dependents [N, features]`. All scores would take N^3 memory; only the
    last block of widths is kept.
    """

    def __init__(self, pairs: Tensor, dependents: Tensor, *, block: int | None = None) -> None:
        if pairs.shape != (len(dependents), *dependents.shape):
            raise ValueError(
                f"pairs are {list(pairs.shape)} and dependents {list(dependents.shape)};"
                " they must be [N, N, features] and [N, features]"
            )
        self.tokens = tokens = len(dependents)
        if block is None:
            # Spans times siblings are at most N^2 / 4, and there are two directions.
            block = MOST_BYTES // max(1, tokens**2 // 2 * pairs.element_size())
            block = min(block, MOST_WIDTHS)
        self._block = max(1, min(block, tokens - 1))
        self._pairs = pairs.detach().contiguous()
        self._dependents = dependents.detach().contiguous()
        # A block reads this far beyond the sentence; those results are not used.
        self._padded = torch.nn.functional.pad(self._dependents, (0, 0, self._block, self._block))
        # All blocks share memory: new pages would cost half as much as a product.
        shapes = [self._shape(first) for first in range(1, tokens, self._block)]
        most = max((spans * widths * siblings for spans, widths, siblings in shapes), default=0)
        self._memory = pairs.new_empty(2, most)
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
        between = slice(min(head, dependent) + 1, max(head, dependent))
        return self._pairs[head, between] @ self._dependents[dependent]

    def _shape(self, first: int) -> tuple[int, int, int]:
        """Heads, widths and distances of a sibling in the block that begins with width `first`."""
        widths = min(self._block, self.tokens - first)
        return self.tokens - first, widths, first + widths - 2

    def _compute(self, first: int) -> None:
        """Compute the block that begins with width `first`.

        For one head it is a matrix product: the siblings at any distance with the dependents at the
        distances of the block. The matrices of two heads overlap in memory and are not copied.
        """
        shape = self._shape(first)
        last = first + shape[1] - 1
        size = shape[0] * shape[1] * shape[2]
        self._first, self._last = first, last
        self._right, self._left = (memory[:size].view(shape) for memory in self._memory)
        # right[i, k, r]: head i, dependent i + first + k, sibling i + 1 + r
        dependents, pairs = self._matrices(shape, head=0, dependent=first, sibling=1)
        torch.bmm(dependents, pairs.mT, out=self._right)
        # left[h, k, r]: head j = first + h, dependent j - last + k, sibling j - last + 1 + r
        dependents, pairs = self._matrices(
            shape, head=first, dependent=first - last, sibling=first - last + 1
        )
        torch.bmm(dependents, pairs.mT, out=self._left)

    def _matrices(
        self, shape: tuple[int, int, int], *, head: int, dependent: int, sibling: int
    ) -> tuple[Tensor, Tensor]:
        """Features of dependents and siblings for each head; arguments are for the first one."""
        heads, widths, siblings = shape
        tokens, features = self._dependents.shape
        dependents = self._padded.as_strided(
            (heads, widths, features), (features, features, 1), (self._block + dependent) * features
        )
        pairs = self._pairs.as_strided(
            (heads, siblings, features),
            ((tokens + 1) * features, features, 1),
            self._pairs.storage_offset() + (head * tokens + sibling) * features,
        )
        return dependents, pairs
