"""Biaffine and triaffine scores of pairs and triples of tokens."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from treecrf.nn.int8.affine import ByteForm
from treecrf.nn.int8.linear import ByteProduct
from treecrf.nn.onednn.linear import PackedProduct

# Intermediate results are larger than the scores by the number of features, so they are computed in
# pieces: rows that stay in the cache of a CPU, or that fit into a quarter of a gigabyte elsewhere.
_CACHED_ROWS = 64
_CELLS = 1 << 26


def with_one(vectors: Tensor) -> Tensor:
    """Append a 1 to each vector, which makes a linear form affine."""
    return functional.pad(vectors, (0, 1), value=1.0)


def _joined(pieces: list[Tensor]) -> Tensor:
    """Concatenate the rows of all pieces; a single one is not copied."""
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces)


def _product(packed: PackedProduct | None, weight: Tensor) -> Callable[[Tensor], Tensor]:
    """The product of rows with weights `[input, output]`, which may be packed."""
    if packed is not None and not torch.is_grad_enabled():
        return packed
    return lambda rows: rows @ weight


class BiaffineArcs(nn.Module):
    """s(i, j) = [m_j; 1]ᵀ W h_i: how well token i is the head of token j."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size + 1, size))
        self.rounded: ByteProduct | None = None
        self.packed: PackedProduct | None = None

    def use_bytes(self) -> None:
        """Multiply int8 from now on, on the CPU and without gradients."""
        self.rounded = ByteProduct(self.weight[:-1].T, self.weight[-1])

    def use_packed(self) -> None:
        """Multiply with packed weights from now on, on the CPU where no gradient is asked for."""
        self.packed = PackedProduct(self.weight[:-1].T, self.weight[-1])

    def forward(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Scores `[batch, dependent, head]` from two `[batch, token, feature]`."""
        if self.rounded is not None:
            weighted = self.rounded(dependents)
        elif self.packed is not None and not torch.is_grad_enabled():
            weighted = self.packed(dependents)
        else:
            # The bias of a head is the same for all dependents: a row added, not a column of ones.
            matrix, bias = self.weight.split([self.weight.shape[1], 1])
            weighted = torch.addmm(bias, dependents.flatten(0, 1), matrix).view(dependents.shape)
        return torch.bmm(weighted, heads.transpose(1, 2))


class BiaffineRelations(nn.Module):
    """s(i, j, r) = [m_j; 1]ᵀ W_r [h_i; 1]: how well arc i -> j has the relation r."""

    def __init__(self, size: int, relations: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(relations, size + 1, size + 1))
        self.rounded: ByteForm | None = None
        self.packed: PackedProduct | None = None

    def use_bytes(self) -> None:
        """Multiply int8 from now on, on the CPU and without gradients."""
        self.rounded = ByteForm(self.weight[..., :-1], self.weight[..., -1])

    def use_packed(self) -> None:
        """Multiply with packed weights from now on, on the CPU where no gradient is asked for."""
        self.packed = PackedProduct(self.weight.flatten(0, 1))

    def forward(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Scores `[arc, relation]` of arcs whose ends are two `[arc, feature]`."""
        if self.rounded is not None:
            return self.rounded(heads.unsqueeze(1), with_one(dependents).unsqueeze(1)).flatten(1)
        relations, size, _ = self.weight.shape
        by_head = _product(self.packed, self.weight.flatten(0, 1).t())
        scores = []
        rows = max(1, _CELLS // (relations * size)) if dependents.is_cuda else _CACHED_ROWS
        for dependent, head in zip(
            with_one(dependents).split(rows), with_one(heads).split(rows), strict=True
        ):
            weighted = by_head(head).view(-1, relations, size)
            scores.append(torch.bmm(weighted, dependent.unsqueeze(2)).squeeze(2))
        return _joined(scores)


class TriaffineSiblings(nn.Module):
    """s(i, k, j) = [s_k; 1]ᵀ (h_iᵀ W) [m_j; 1]: how well k and j are adjacent children of i.

    Grandparents are scored by the same form: how well k is the head of i, the head of j.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        # [head, sibling, dependent]
        self.weight = nn.Parameter(torch.zeros(size, size + 1, size + 1))
        self.rounded: ByteForm | None = None
        self.packed: PackedProduct | None = None

    def use_bytes(self) -> None:
        """Multiply int8 from now on, on the CPU and without gradients."""
        self.rounded = ByteForm(self.weight.permute(2, 1, 0))

    def use_packed(self) -> None:
        """Multiply with packed weights from now on, on the CPU where no gradient is asked for."""
        self.packed = PackedProduct(self.weight.flatten(1).t())

    def forms(self, heads: Tensor) -> Tensor:
        """h_iᵀ W `[head, feature + 1, feature + 1]` of heads `[head, feature]`."""
        size = self.weight.shape[1]
        return (heads @ self.weight.flatten(1)).view(-1, size, size)

    def pairs(self, heads: Tensor, siblings: Tensor) -> Tensor:
        """`[batch, head, sibling, feature + 1]`: the dot product with `[m_j; 1]` is s(i, k, j)."""
        if self.rounded is not None:
            return self.rounded(heads, with_one(siblings))
        batch, tokens, size = heads.shape
        expanded = with_one(siblings).unsqueeze(1).expand(-1, tokens, -1, -1)
        expanded = expanded.reshape(-1, tokens, size + 1)
        rows = len(expanded) if heads.is_cuda else _CACHED_ROWS
        by_head = _product(self.packed, self.weight.flatten(1))
        pairs = []
        for head, sibling in zip(
            heads.reshape(-1, size).split(rows), expanded.split(rows), strict=True
        ):
            form = by_head(head).view(-1, size + 1, size + 1)
            pairs.append(torch.bmm(sibling, form))
        return _joined(pairs).view(batch, tokens, tokens, size + 1)

    def forward(self, dependents: Tensor, heads: Tensor, siblings: Tensor) -> Tensor:
        """Scores `[batch, dependent, head, sibling]` from three `[batch, token, feature]`."""
        batch, tokens, _ = heads.shape
        pairs = self.pairs(heads, siblings).flatten(1, 2)
        scores = torch.bmm(with_one(dependents), pairs.transpose(1, 2))
        return scores.view(batch, tokens, tokens, tokens)


class BiaffineSiblings(TriaffineSiblings):
    """s(i, k, j) = h_iᵀ S s_k + h_iᵀ M [m_j; 1] + [s_k; 1]ᵀ P [m_j; 1]: three pairs of words.

    The first two are a triaffine form with weights at the 1 of the dependent or of the sibling
    alone; the third does not depend on the head, and is added to every form.
    """

    def __init__(self, size: int) -> None:
        nn.Module.__init__(self)
        self.by_sibling = nn.Parameter(torch.zeros(size, size))
        self.by_dependent = nn.Parameter(torch.zeros(size, size + 1))
        self.by_both = nn.Parameter(torch.zeros(size + 1, size + 1))
        self.rounded = self.packed = None

    @property
    def weight(self) -> Tensor:  # type: ignore[override]
        """Weights `[head, sibling, dependent]` of the first two pairs."""
        others = functional.pad(self.by_sibling.unsqueeze(2), (self.by_sibling.shape[0], 0))
        return torch.cat((others, self.by_dependent.unsqueeze(1)), 1)

    def forms(self, heads: Tensor) -> Tensor:
        """`[head, feature + 1, feature + 1]`, as of `TriaffineSiblings`."""
        return super().forms(heads) + self.by_both

    def pairs(self, heads: Tensor, siblings: Tensor) -> Tensor:
        """`[batch, head, sibling, feature + 1]`, as of `TriaffineSiblings`."""
        return super().pairs(heads, siblings) + (with_one(siblings) @ self.by_both).unsqueeze(1)
