"""Draws follow the distribution: trees come as often as their probability says."""

from dataclasses import replace

import pytest
import torch

from tests.struct.expected import Trees
from tests.struct.problems import BACKENDS, FAMILIES, Problem, device_of, random_problem
from treecrf.ops import use_backend

DRAWS = 20
COPIES = {"torch": 50, "numba": 200, "triton": 25}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize("family", FAMILIES)
def test_trees_come_as_often_as_they_should(family: str, multiroot: bool, backend: str) -> None:
    problem = random_problem(
        family, [3, 4, 0, 2], seed=3, multiroot=multiroot, forbidden=0.1, padding=1
    )
    copies = COPIES[backend]
    repeated = repeat(problem, copies).to(device_of(backend))
    generator = torch.Generator().manual_seed(0)
    with use_backend(backend):
        heads = repeated.distribution().sample(DRAWS, generator=generator)
    tokens = problem.arc_scores.shape[1]
    assert heads.shape == (DRAWS, 4 * copies, tokens)
    assert heads.dtype == torch.int64
    draws = heads.cpu().view(DRAWS, copies, 4, tokens)
    for sentence in range(4):
        trees = Trees(problem, sentence)
        rows, kinds = draws[:, :, sentence].flatten(0, 1).unique(dim=0, return_inverse=True)
        indices = torch.tensor([trees.index(row) for row in rows])[kinds]
        probabilities = trees.log_probs.exp()
        counts = indices.bincount(minlength=len(probabilities))
        deviations = counts - DRAWS * copies * probabilities
        spread = (DRAWS * copies * probabilities * (1 - probabilities)).sqrt()
        assert (deviations.abs() <= 4.5 * spread + 1).all()
        # Two draws of one sentence in one call are independent, too.
        first, second = indices.view(DRAWS, copies)[::2], indices.view(DRAWS, copies)[1::2]
        equal = (first == second).double().mean()
        chance = (probabilities**2).sum()
        assert abs(equal - chance) <= 4.5 * (chance * (1 - chance) / first.numel()).sqrt() + 1e-12


def repeat(problem: Problem, copies: int) -> Problem:
    """The sentences of a batch again and again."""
    scores = [part.repeat(copies, *[1] * (part.dim() - 1)) for part in problem.scores]
    return replace(
        problem.with_scores(*scores),
        lengths=problem.lengths.repeat(copies),
        allowed=problem.allowed.repeat(copies, 1, 1),
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_decides_the_draws(family: str, backend: str) -> None:
    problem = random_problem(family, [5, 4, 5], magnitude=0.5).to(device_of(backend))
    with use_backend(backend):
        crf = problem.distribution()

        def draw(seed: int) -> torch.Tensor:
            return crf.sample(4, generator=torch.Generator().manual_seed(seed))

        assert torch.equal(draw(1), draw(1))
        assert not torch.equal(draw(1), draw(2))
        torch.manual_seed(1)
        first = crf.sample(4)
        second = crf.sample(4)
        torch.manual_seed(1)
        assert torch.equal(crf.sample(4), first)
        assert not torch.equal(first, second)
