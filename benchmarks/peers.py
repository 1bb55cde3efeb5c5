"""Other libraries that compute the same things, where they can be imported.

Each peer is a function from scores and lengths to a distribution with `log_partition`, `marginals`
and `argmax`; None where the library is not installed or lacks the family.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Peer:
    """Two calls to time, both giving what ours gives."""

    name: str
    marginals: Callable[[], tuple[Tensor, Tensor]]
    argmax: Callable[[], Tensor]


def supar(family: str, parts: tuple[Tensor, ...], lengths: Tensor) -> Peer | None:
    """SuPar 1.1: all three families, `[batch, dependent, head]` like ours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from supar.structs import Dependency2oCRF, DependencyCRF, MatrixTree
    except ImportError:
        return None

    def distribution() -> Any:
        # A fresh one each time, since it keeps its results; it marks its scores as leaves.
        scores = tuple(part.detach().clone() for part in parts)
        if family == "second_order":
            return Dependency2oCRF(scores, lengths)
        return (DependencyCRF if family == "first_order" else MatrixTree)(scores[0], lengths)

    def marginals() -> tuple[Tensor, Tensor]:
        crf = distribution()
        return crf.log_partition.detach(), crf.marginals.detach()

    return Peer("SuPar", marginals, lambda: distribution().argmax)


def torch_struct(family: str, parts: tuple[Tensor, ...]) -> Peer | None:
    """torch-struct 0.5: `[batch, head, dependent]` with the root's scores on the diagonal.

    It writes into the scores that it is given, an error on a recent torch when they are leaves.
    """
    if family == "second_order":
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch_struct import DependencyCRF, NonProjectiveDependencyCRF
    except ImportError:
        return None

    arcs = parts[0].transpose(1, 2)  # [batch, head, dependent]
    scores = arcs[:, 1:, 1:].contiguous()
    scores.diagonal(dim1=1, dim2=2).copy_(arcs[:, 0, 1:])

    def distribution() -> Any:
        fresh = scores.clone().requires_grad_() + 0
        if family == "first_order":
            return DependencyCRF(fresh, multiroot=False)
        return NonProjectiveDependencyCRF(fresh, multiroot=False)

    def back(theirs: Tensor) -> Tensor:
        ours = torch.zeros_like(parts[0])
        ours[:, 1:, 1:] = theirs.transpose(1, 2)
        ours[:, 1:, 0] = theirs.diagonal(dim1=1, dim2=2)
        ours.diagonal(dim1=1, dim2=2).zero_()
        return ours

    def marginals() -> tuple[Tensor, Tensor]:
        crf = distribution()
        return crf.partition.detach(), back(crf.marginals.detach())

    return Peer("torch-struct", marginals, lambda: back(distribution().argmax).argmax(-1))
