"""Batches for the tests of the non-projective family, its backends, and trees by enumeration."""

import importlib
from types import ModuleType

import pytest
import torch
from torch import Tensor

from tests.enumeration import all_trees, is_tree

INFINITY = float("inf")
BACKENDS = ["reference", "cpu", "cuda"]


def load(name: str) -> ModuleType:
    if name == "cuda":
        pytest.importorskip("triton")
    return importlib.import_module(f"treecrf.ops.nonprojective.{name}")


def device_of(backend: ModuleType) -> str:
    return "cuda" if backend.__name__.endswith("cuda") and torch.cuda.is_available() else "cpu"


def to_device(backend: ModuleType, scores: Tensor, lengths: Tensor) -> tuple[tuple[Tensor], Tensor]:
    """First arguments of an operation."""
    device = device_of(backend)
    return (scores.to(device),), lengths.to(device)


def masked(scores: Tensor, lengths: Tensor) -> Tensor:
    """Scores with -inf in every cell that no tree may use."""
    token = torch.arange(scores.shape[1])
    inside = token <= lengths[:, None]
    usable = (inside & (token > 0))[:, :, None] & inside[:, None, :]
    return torch.where(usable & ~torch.eye(len(token), dtype=torch.bool), scores, -INFINITY)


def random_batch(
    lengths: list[int], *, scale: float = 1.0, forbidden: float = 0.0, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """Scores of normal deviates, a share of them -inf, and lengths."""
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), max(lengths) + 1, max(lengths) + 1)
    scores = scale * torch.randn(shape, dtype=torch.float64, generator=generator)
    gone = torch.rand(shape, dtype=torch.float64, generator=generator) < forbidden
    counts = torch.tensor(lengths)
    return masked(scores.masked_fill(gone, -INFINITY), counts), counts


def small_batches(seed: int) -> list[tuple[Tensor, Tensor]]:
    """Sentences of 0 to 5 words: ordinary scores, steep ones, some arcs missing, most missing."""
    lengths = [5, 0, 4, 1, 3, 2]
    kinds = [(1.0, 0.0), (30.0, 0.0), (1.0, 0.3), (1e4, 0.2), (1.0, 0.6)]
    return [
        random_batch(lengths, scale=scale, forbidden=share, seed=seed + index)
        for index, (scale, share) in enumerate(kinds)
    ]


def scored_trees(scores: Tensor, words: int, multiroot: bool) -> tuple[Tensor, Tensor]:
    """All trees `[tree, words + 1]` of one sentence that exist, and their scores, best first."""
    trees = torch.tensor(all_trees(words, projective=False, multiroot=multiroot))
    values = scores[torch.arange(words + 1), trees][:, 1:].sum(1)
    values, order = values.sort(descending=True)
    exists = values > -INFINITY
    return trees[order][exists], values[exists]


def enumerated(scores: Tensor, words: int, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z and marginals `[N, N]` of one sentence."""
    trees, values = scored_trees(scores, words, multiroot)
    marginals = torch.zeros_like(scores)
    log_partition = values.logsumexp(0)
    for tree, probability in zip(trees, (values - log_partition).exp(), strict=True):
        dependents = torch.arange(1, words + 1)
        marginals[dependents, tree[1:]] += probability
    return log_partition, marginals


def check_trees(
    heads: Tensor, scores: Tensor, trees: Tensor, values: Tensor, among: Tensor | None = None
) -> None:
    """Heads `[k, N]` are distinct legal trees with these scores, then rows of -1, padding 0."""
    words = trees.shape[1] - 1
    assert (heads[len(trees) :] == -1).all()
    found = heads[: len(trees), : words + 1]
    assert (heads[: len(trees), words + 1 :] == 0).all()
    chosen = [tuple(tree) for tree in found.tolist()]
    assert len(set(chosen)) == len(chosen)
    assert all(is_tree(tree) for tree in chosen)
    if among is not None:
        assert set(chosen) <= {tuple(tree) for tree in among.tolist()}
    found_values = scores[torch.arange(words + 1), found][:, 1:].sum(1)
    torch.testing.assert_close(found_values, values, rtol=1e-13, atol=1e-9)
