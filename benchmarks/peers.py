"""Other libraries that compute the same things, where they can be imported.

Each function here takes scores to a `Peer`: calls that give log Z and marginals, and the heads of
the best trees; None where the library cannot be imported, which is told, or lacks the family.
"""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Peer:
    """Two calls to time, both giving what ours gives."""

    name: str
    marginals: Callable[[], tuple[Tensor, Tensor]]
    argmax: Callable[[], Tensor]


def supar(family: str, parts: tuple[Tensor, ...], *, lengths: Tensor) -> Peer | None:
    """SuPar 1.1: all three families, `[batch, dependent, head]` like ours."""
    if family not in ("first_order", "second_order", "nonprojective"):
        return None
    structs = _imported("supar.structs")
    if structs is None:
        return None

    def distribution() -> Any:
        # A fresh one each time, since it keeps its results; it marks its scores as leaves.
        scores = tuple(part.detach().clone() for part in parts)
        if family == "second_order":
            return structs.Dependency2oCRF(scores, lengths)
        kind = structs.DependencyCRF if family == "first_order" else structs.MatrixTree
        return kind(scores[0], lengths)

    def marginals() -> tuple[Tensor, Tensor]:
        crf = distribution()
        return crf.log_partition.detach(), crf.marginals.detach()

    return Peer("SuPar", marginals, lambda: distribution().argmax)


def torch_struct(family: str, parts: tuple[Tensor, ...]) -> Peer | None:
    """torch-struct 0.5: `[batch, head, dependent]` with the root's scores on the diagonal.

    It writes into the scores that it is given, an error on a recent torch when they are leaves.
    """
    if family not in ("first_order", "nonprojective"):
        return None
    library = _imported("torch_struct")
    if library is None:
        return None

    arcs = parts[0].transpose(1, 2)  # [batch, head, dependent]
    scores = arcs[:, 1:, 1:].contiguous()
    scores.diagonal(dim1=1, dim2=2).copy_(arcs[:, 0, 1:])

    def distribution() -> Any:
        fresh = scores.clone().requires_grad_() + 0
        if family == "first_order":
            return library.DependencyCRF(fresh, multiroot=False)
        return library.NonProjectiveDependencyCRF(fresh, multiroot=False)

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


@cache
def _imported(module: str) -> Any:
    """Import a module; without it, print why its column is missing and return None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(module)
    except ImportError as problem:
        print(f"{module} is left out: {problem}", file=sys.stderr)
        return None
