"""The fast backends equal the reference at odd lengths, with fresh memory full of NaN.

A cell that a kernel reads and never wrote shows as NaN in the results.
"""

import ctypes
from collections.abc import Iterator

import numba
import numpy as np
import pytest
import torch
from torch import Tensor

from tests.struct.problems import FAMILIES, HIGHER, Problem, device_of, random_problem
from treecrf.ops import use_backend

# Triton's interpreter has no time for long sentences.
LENGTHS = {
    "numba": [[63, 1, 17, 0], [127, 126]],
    "triton": [[63, 1, 17, 0], [127, 126], [300]] if torch.cuda.is_available() else [[17, 0, 1]],
}
CASES = [
    pytest.param(backend, lengths, id=f"{backend}-{max(lengths)}")
    for backend in LENGTHS
    for lengths in LENGTHS[backend]
]


# The reference takes memory in the fourth power of the words where there are grandparents.
MOST_WORDS = 40


def random_batch(family: str, lengths: list[int], *, multiroot: bool = False) -> Problem:
    most = MOST_WORDS if "grandparent" in HIGHER.get(family, []) else max(lengths)
    lengths = [min(length, most) for length in lengths]
    return random_problem(family, lengths, multiroot=multiroot, forbidden=0.1)


@numba.njit
def fresh_array(size: int) -> np.ndarray:
    return np.empty(size)


@pytest.fixture
def fresh_memory_is_nan() -> Iterator[None]:
    """Fill what torch, numpy and compiled code allocate: all bits 1 are a NaN of any width."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt"):
        pytest.skip("needs the malloc of glibc")
    perturb, byte = -6, 0x100  # M_PERTURB: fresh memory gets the byte's complement
    libc.mallopt(perturb, byte)
    # CUDA memory does not come from malloc; this is torch's own way to fill it.
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        assert np.isnan(fresh_array(1000)).all()
        assert np.isnan(np.empty(1000)).all()
        assert torch.empty(1000).isnan().all()
        if torch.cuda.is_available():
            assert torch.empty(1000, device="cuda").isnan().all()
        yield
    finally:
        torch.use_deterministic_algorithms(False)
        libc.mallopt(perturb, 0)


pytestmark = [
    pytest.mark.usefixtures("fresh_memory_is_nan"),
    pytest.mark.filterwarnings("ignore:.*[Dd]eterministic"),
]


@pytest.mark.slow
@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize(("backend", "lengths"), CASES)
@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_equal_those_of_the_reference(
    family: str, backend: str, lengths: list[int], multiroot: bool
) -> None:
    problem = random_batch(family, lengths, multiroot=multiroot)
    problem = problem.to(device_of(backend))
    with use_backend("torch"):
        best = problem.distribution().argmax
    expected = values_and_gradients(problem, "torch", best=best)
    actual = values_and_gradients(problem, backend, best=best)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)
    actual = values_and_gradients(problem.to(torch.float32), backend, best=best)
    expected = [value.float() for value in expected]
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-4)


def values_and_gradients(problem: Problem, backend: str, *, best: Tensor) -> list[Tensor]:
    """Answers about the best trees, each with its gradients with respect to every score."""
    problem = problem.with_gradients()
    word = torch.arange(best.shape[1], device=best.device)
    partial = torch.where(word % 3 == 0, best, -1)
    results = []
    with use_backend(backend):
        crf = problem.distribution()
        for value in (crf.log_partition, crf.max, crf.log_prob(best), crf.log_prob(partial)):
            gradients = torch.autograd.grad(value.sum(), problem.scores, retain_graph=True)
            results += [value.detach(), *gradients]
    return results


@pytest.mark.parametrize("backend", LENGTHS)
@pytest.mark.parametrize("family", FAMILIES)
def test_best_scores_equal_those_of_the_reference(family: str, backend: str) -> None:
    problem = random_batch(family, LENGTHS[backend][0]).to(device_of(backend))
    with use_backend("torch"):
        expected = problem.distribution()
        best, listed = expected.max, expected.topk(3)[0]
    with use_backend(backend):
        crf = problem.distribution()
        torch.testing.assert_close(crf.max, best, rtol=0, atol=1e-9)
        torch.testing.assert_close(crf.topk(3)[0], listed, rtol=0, atol=1e-9)
        assert (crf.sample(3) >= 0).all()
        assert crf.log_prob(crf.mbr).isfinite().all()
