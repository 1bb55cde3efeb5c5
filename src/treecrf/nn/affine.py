"""Scores of pairs and triples of tokens: biaffine and triaffine forms."""

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["BiaffineArcs", "BiaffineLabels", "Form", "TriaffineSiblings", "with_one"]


# What is computed on the way to a score is as many times larger as a vector has features. So it is
# done in pieces: on a CPU of so many rows as stay in its cache, elsewhere of as many as fit.
_CACHED_ROWS = 64
_ROWS = 4096


def with_one(vectors: Tensor) -> Tensor:
    """The vectors with a 1 after the last feature, which makes a linear form affine."""
    return torch.cat((vectors, vectors.new_ones(*vectors.shape[:-1], 1)), -1)


class Form(nn.Module, ABC):
    """A form in several vectors; the product of its weights with one of them is most of the work."""

    product: Callable[[Tensor], Tensor] | None = None
    """What computes that product, where it is not the weights as they are."""

    @abstractmethod
    def linear(self) -> tuple[Tensor, Tensor | None]:
        """The weights `[output, feature]` and biases `[output]` of that product."""

    def multiply(self, vectors: Tensor) -> Tensor:
        """Vectors `[..., feature]` by the weights, `[..., output]`."""
        if self.product is not None:
            return self.product(vectors)
        return functional.linear(vectors, *self.linear())


class BiaffineArcs(Form):
    """s(i, j) = [m_j; 1]ᵀ W h_i: how well token i is the head of token j."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size + 1, size))

    def linear(self) -> tuple[Tensor, Tensor | None]:
        """Of the dependent: what it leaves is a vector for the head."""
        # The bias of a head is the same for all dependents: a row added, not a column of ones.
        return self.weight[:-1].T, self.weight[-1]

    def forward(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Scores `[batch, dependent, head]` from two `[batch, token, feature]`."""
        return torch.bmm(self.multiply(dependents), heads.transpose(1, 2))


class BiaffineLabels(Form):
    """s(i, j, l) = [m_j; 1]ᵀ W_l [h_i; 1]: how well arc i -> j has the label l."""

    def __init__(self, size: int, labels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(labels, size + 1, size + 1))

    def linear(self) -> tuple[Tensor, Tensor | None]:
        """Of the head: what it leaves is a vector for the dependent, of each label."""
        rows = self.weight.flatten(0, 1)
        return rows[:, :-1], rows[:, -1]

    def forward(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Scores `[arc, label]` of arcs whose ends are two `[arc, feature]`."""
        labels, size, _ = self.weight.shape
        scores = []
        rows = _ROWS if dependents.is_cuda else _CACHED_ROWS
        for dependent, head in zip(dependents.split(rows), heads.split(rows), strict=True):
            weighted = self.multiply(head).view(-1, labels, size)
            scores.append(torch.bmm(weighted, with_one(dependent).unsqueeze(2)).squeeze(2))
        return torch.cat(scores)


class TriaffineSiblings(Form):
    """s(i, k, j) = [s_k; 1]ᵀ (h_iᵀ W) [m_j; 1]: how well k and j are adjacent children of i."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(
            torch.zeros(size, size + 1, size + 1)
        )  # [head, sibling, dependent]

    def linear(self) -> tuple[Tensor, Tensor | None]:
        """Of the head: what it leaves is a matrix."""
        return self.weight.flatten(1).T, None

    def pairs(self, heads: Tensor, siblings: Tensor) -> Tensor:
        """What a head and a sibling leave of the form, `[batch, head, sibling, feature + 1]`.

        The dot product of `pairs[i, k]` and `[m_j; 1]` is s(i, k, j).
        """
        batch, tokens, size = heads.shape
        expanded = with_one(siblings).unsqueeze(1).expand(-1, tokens, -1, -1)
        expanded = expanded.reshape(-1, tokens, size + 1)
        rows = len(expanded) if heads.is_cuda else _CACHED_ROWS
        pairs = []
        for head, sibling in zip(
            heads.reshape(-1, size).split(rows), expanded.split(rows), strict=True
        ):
            form = self.multiply(head).view(-1, size + 1, size + 1)
            pairs.append(torch.bmm(sibling, form))
        return torch.cat(pairs).view(batch, tokens, tokens, size + 1)

    def forward(self, dependents: Tensor, heads: Tensor, siblings: Tensor) -> Tensor:
        """Scores `[batch, dependent, head, sibling]` from three `[batch, token, feature]`."""
        batch, tokens, _ = heads.shape
        pairs = self.pairs(heads, siblings).flatten(1, 2)
        scores = torch.bmm(with_one(dependents), pairs.transpose(1, 2))
        return scores.view(batch, tokens, tokens, tokens)
