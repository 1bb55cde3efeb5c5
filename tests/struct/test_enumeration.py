"""Every answer equals the sum, or the best, over all trees of short sentences."""

from dataclasses import replace
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from tests.enumeration import tree_score
from tests.struct.expected import Expected
from tests.struct.problems import (
    BACKENDS,
    FAMILIES,
    HIGHER,
    LONGEST,
    NEGATIVE_INFINITY,
    Problem,
    device_of,
    problems,
    random_problem,
)
from treecrf.ops import use_backend

TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}  # for scores up to 10 in magnitude
# What a backend has time for, Triton's interpreter least.
EXAMPLES = {"torch": 25, "numba": 100, "triton": 4}
SENTENCES = {"torch": 5, "numba": 5, "triton": 2}
WORDS = {"torch": 4, "numba": 6, "triton": 3}


@cache
def mixed_problem(family: str, multiroot: bool, forbidden: float) -> tuple[Problem, Expected]:
    """Every length in one batch, among shorter and longer ones."""
    lengths = [LONGEST, 0, *range(1, LONGEST)]
    problem = random_problem(
        family,
        lengths,
        seed=int(multiroot),
        multiroot=multiroot,
        forbidden=forbidden,
        masked=forbidden / 4,
        junk=float("inf" if forbidden else "nan"),
    )
    return problem, Expected(problem)


@pytest.mark.parametrize(
    "backend", ["torch", "numba", pytest.param("triton", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("divergences", [False, True], ids=["answers", "divergences"])
@pytest.mark.parametrize("forbidden", [0.0, 0.2], ids=["all arcs", "some arcs"])
@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_length(
    family: str, multiroot: bool, forbidden: float, divergences: bool, backend: str
) -> None:
    """Without constraints and with some, which leave trees to most sentences; all k-best lists."""
    problem, expected = mixed_problem(family, multiroot, forbidden)
    problem = problem.to(device_of(backend))
    with use_backend(backend):
        if divergences:
            check_divergences(problem, expected)
        else:
            # The reference lists trees for each grandparent apart, which takes its time.
            slow = backend == "torch" and "grandparent" in HIGHER.get(family, [])
            check(problem, expected, rows=100 if slow else None)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_any_batch(family: str, backend: str) -> None:
    @settings(max_examples=EXAMPLES[backend])
    @given(problems(family, words=WORDS[backend], sentences=SENTENCES[backend]))
    def check_batch(problem: Problem) -> None:
        expected = Expected(problem)
        problem = problem.to(device_of(backend))
        with use_backend(backend):
            check(problem, expected, rows=60)
            check_divergences(problem, expected)

    check_batch()


def check(problem: Problem, expected: Expected, *, rows: int | None) -> None:
    """Ask every question about one distribution; k-best lists may end after so many rows."""
    check_sums(problem, expected)
    check_best_trees(problem, expected)
    check_k_best_list(problem, expected, rows=rows)
    check_given_trees(problem, expected)


def check_sums(problem: Problem, expected: Expected) -> None:
    crf = problem.distribution()
    assert_close(crf.log_partition, expected.log_partition, problem)
    assert_close(crf.marginals, expected.marginals, problem)
    assert_close(crf.entropy, expected.entropy, problem)
    for kind in HIGHER.get(problem.family, []):
        name = f"{kind}_marginals"
        assert_close(getattr(crf, name), getattr(expected, name), problem)


def check_best_trees(problem: Problem, expected: Expected) -> None:
    tolerance = TOLERANCE[problem.arc_scores.dtype]
    crf = problem.distribution(validate=False)  # to get rows of -1 rather than an error
    assert_close(crf.max, expected.max, problem)
    for heads in (crf.argmax, crf.mbr):
        assert heads.shape == problem.arc_scores.shape[:2]
        assert heads.dtype == torch.int64
    rows = zip(expected.sentences, crf.argmax.cpu(), crf.mbr.cpu(), strict=True)
    for trees, best, surest in rows:
        if len(trees.heads):
            assert trees.scores[trees.index(best)] >= trees.scores.max() - tolerance
            assert trees.gains[trees.index(surest)] >= trees.gains.max() - tolerance
        else:
            assert (best == -1).all()
            assert (surest == -1).all()


def check_k_best_list(problem: Problem, expected: Expected, *, rows: int | None) -> None:
    """The whole list and two rows past its end, unless it is longer than so many rows."""
    k = max((len(trees.heads) for trees in expected.sentences), default=0) + 2
    k = k if rows is None else min(k, rows)
    scores, heads = problem.distribution().topk(k)
    assert_close(scores, expected.topk(k), problem)
    assert heads.shape == (len(problem.lengths), k, problem.arc_scores.shape[1])
    assert heads.dtype == torch.int64
    for trees, its_scores, its_heads in zip(expected.sentences, scores, heads, strict=True):
        count = min(k, len(trees.heads))
        indices = trees.indices(its_heads[:count])
        assert len(indices.unique()) == count
        assert_close(its_scores[:count], trees.scores[indices], problem)
        assert (its_heads[count:] == -1).all()


def check_given_trees(problem: Problem, expected: Expected) -> None:
    """Trees that exist, trees that need not, and parts of both."""
    crf = problem.distribution()
    full, whatever = pick_trees(problem, expected)
    known = torch.rand(full.shape, generator=torch.Generator().manual_seed(0)) < 0.4
    for heads in (full, whatever):
        assert_close(crf.score(heads), expected_scores(heads, problem, expected), problem)
    for heads in (full, whatever, full.where(known, -1), whatever.where(~known, -1)):
        assert_close(crf.log_prob(heads), expected.log_prob(heads), problem)
    nothing = torch.where(expected.log_partition > NEGATIVE_INFINITY, 0.0, NEGATIVE_INFINITY)
    assert_close(crf.log_prob(torch.full_like(full, -1)), nothing.double(), problem)


def check_divergences(problem: Problem, expected: Expected) -> None:
    other = reversed_problem(problem)
    expected_other = Expected(other)
    crf, crf_other = problem.distribution(), other.distribution()
    assert_close(crf.cross_entropy(crf_other), expected.cross_entropy(expected_other), problem)
    assert_close(crf.kl(crf_other), expected.kl(expected_other), problem)
    assert_close(crf_other.kl(crf), expected_other.kl(expected), problem)


def assert_close(actual: Tensor, expected: Tensor, problem: Problem) -> None:
    """Equal within the tolerance of the type of the scores, and of that type."""
    dtype = problem.arc_scores.dtype
    assert actual.dtype == dtype
    assert actual.device == problem.arc_scores.device
    actual = actual.detach().cpu().double()
    torch.testing.assert_close(actual, expected, rtol=0, atol=TOLERANCE[dtype])


def pick_trees(problem: Problem, expected: Expected) -> tuple[Tensor, Tensor]:
    """Heads `[batch, N]` of a tree that exists where one does, and of one that need not."""
    existing = torch.zeros(problem.arc_scores.shape[:2], dtype=torch.int64)
    listed = existing.clone()
    for sentence, trees in enumerate(expected.sentences):
        tokens = slice(trees.words + 1)
        listed[sentence, tokens] = trees.listed[len(trees.listed) // 3]
        existing[sentence, tokens] = (
            trees.heads[len(trees.heads) * 2 // 3] if len(trees.heads) else trees.listed[-1]
        )
    return existing, listed


def expected_scores(heads: Tensor, problem: Problem, expected: Expected) -> Tensor:
    """The sum over each tree's parts, -inf for a tree that does not exist."""
    scores = torch.full((len(heads),), NEGATIVE_INFINITY, dtype=torch.float64)
    for sentence, trees in enumerate(expected.sentences):
        row = heads[sentence, : trees.words + 1]
        if (trees.heads == row).all(1).any():
            parts = {
                name: part[sentence].cpu().double() for name, part in problem.named_scores.items()
            }
            scores[sentence] = tree_score(tuple(row.tolist()), **parts)
    return scores


def reversed_problem(problem: Problem) -> Problem:
    """The likely trees unlikely, and in every second sentence some of them forbidden."""
    generator = torch.Generator().manual_seed(0)

    def lose(part: Tensor) -> Tensor:
        lost = torch.rand(part.shape, generator=generator) < 0.1
        lost[::2] = False
        return lost.to(part.device)

    allowed = ~lose(problem.arc_scores)
    if problem.allowed is not None:
        allowed &= problem.allowed
    scores = [
        torch.where((part == NEGATIVE_INFINITY) | lose(part), NEGATIVE_INFINITY, -part)
        for part in problem.scores
    ]
    return replace(problem.with_scores(*scores), allowed=allowed).with_junk(float("nan"))
