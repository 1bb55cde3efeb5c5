"""Comparison of the kernels of a device with the reference, on a few random sentences."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from treecrf.ops.backend import Backend, backend_for, use_backend
from treecrf.struct import (
    GrandparentTreeCRF,
    GrandSiblingTreeCRF,
    NonProjectiveTreeCRF,
    ProjectiveTreeCRF,
    SiblingTreeCRF,
)
from treecrf.struct.distribution import TreeDistribution

_LENGTHS = (23, 17, 8, 2, 1)
_TOLERANCE = 1e-4
_FAMILIES: dict[Callable[..., TreeDistribution], int] = {  # and how many third-rank scores it has
    ProjectiveTreeCRF: 0,
    SiblingTreeCRF: 1,
    GrandparentTreeCRF: 1,
    GrandSiblingTreeCRF: 2,
    NonProjectiveTreeCRF: 0,
}


@dataclass(frozen=True, slots=True)
class KernelCheck:
    """Result of comparing one distribution with the reference."""

    name: str
    backend: Backend
    difference: float
    """Largest difference in log Z, marginals and best scores."""
    problem: str | None
    """Error or discrepancy in one line; None if the check passed."""


def check_kernels(device: torch.device) -> Iterator[KernelCheck]:
    """Compare each distribution on this device with the reference; compiling takes seconds."""
    backend = backend_for(device)
    for family in _FAMILIES:
        difference, problem = float("nan"), None
        try:
            with use_backend("torch"):
                expected = _answers(family, torch.device("cpu"))
            with use_backend(backend):
                found = _answers(family, device)
        except Exception as error:  # whatever it is, it is what the report is for
            problem = f"{type(error).__name__}: {error}".splitlines()[0]
        else:
            pairs = zip(found, expected, strict=True)
            difference = max(float((one.cpu() - other).abs().max()) for one, other in pairs)
            if not difference < _TOLERANCE:
                problem = f"differs from the reference by {difference:.1e}"
        yield KernelCheck(family.__name__, backend, difference, problem)


def _answers(family: Callable[..., TreeDistribution], device: torch.device) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    batch, size = len(_LENGTHS), max(_LENGTHS) + 1
    arcs = torch.randn(batch, size, size, generator=generator)
    others = (
        torch.randn(batch, size, size, size, generator=generator) for _ in range(_FAMILIES[family])
    )
    scores = (part.to(device) for part in (arcs, *others, torch.tensor(_LENGTHS)))
    crf = family(*scores)
    return [crf.log_partition, crf.marginals, crf.max, crf.score(crf.argmax)]
