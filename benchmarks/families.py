"""Families of distributions that benchmarks time: random scores, and the shapes of batches."""

from collections.abc import Callable

import torch
from torch import Tensor

from treecrf.struct import (
    GrandparentTreeCRF,
    GrandSiblingTreeCRF,
    NonProjectiveTreeCRF,
    ProjectiveTreeCRF,
    SiblingTreeCRF,
)
from treecrf.struct.distribution import TreeDistribution

FAMILIES: dict[str, Callable[..., TreeDistribution]] = {
    "first_order": ProjectiveTreeCRF,
    "second_order": SiblingTreeCRF,
    "grandparent": GrandparentTreeCRF,
    "grandsibling": GrandSiblingTreeCRF,
    "nonprojective": NonProjectiveTreeCRF,
}
SHAPES = {
    "cpu": [(32, 25), (32, 40), (8, 100)],
    "cuda": [(200, 25), (125, 40), (50, 100), (16, 300), (4, 500)],
}
GROWTH = {"cpu": [25, 50, 100, 200], "cuda": [25, 50, 100, 200, 400]}

# Score tensors of third rank, beside those of arcs.
_HIGHER = {"second_order": 1, "grandparent": 1, "grandsibling": 2}
# The time of the third order grows with the fourth power of the words.
_THIRD_ORDER_UP_TO_WORDS = {"cpu": 100, "cuda": 200}
# Past these the reference needs minutes, or more memory than there is.
_REFERENCE_UP_TO_CELLS = 60_000_000
_REFERENCE_UP_TO_TERMS = 120_000_000  # of the third order: sentences times tokens^4


def random_parts(
    family: str, *, sentences: int, words: int, device: torch.device
) -> tuple[Tensor, ...]:
    """Normal deviates as the scores of a family, the same ones in every call."""
    generator = torch.Generator(device).manual_seed(words)
    square, cube = (sentences, words + 1, words + 1), (sentences, *[words + 1] * 3)
    shapes: list[tuple[int, ...]] = [square, *[cube] * _HIGHER.get(family, 0)]
    return tuple(torch.randn(shape, generator=generator, device=device) for shape in shapes)


def fits(family: str, words: int, device: torch.device) -> bool:
    """Whether a family is timed at so many words without being asked to."""
    return not _is_third_order(family) or words <= _THIRD_ORDER_UP_TO_WORDS[device.type]


def reference_room(family: str, tokens: int) -> int:
    """Sentences of so many tokens that the reference can compute at once."""
    if _is_third_order(family):
        return _REFERENCE_UP_TO_TERMS // tokens**4
    return _REFERENCE_UP_TO_CELLS // tokens ** (3 if family in _HIGHER else 2)


def _is_third_order(family: str) -> bool:
    return family in ("grandparent", "grandsibling")
