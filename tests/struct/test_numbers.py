"""Numbers keep their meaning in float32 and below, and where scores are extreme."""

import pytest
import torch
from torch import Tensor

from tests.enumeration import is_projective, is_tree
from tests.struct.expected import Expected
from tests.struct.problems import (
    FAMILIES,
    HIGHER,
    LONGEST,
    NEGATIVE_INFINITY,
    QUICK_BACKENDS,
    Problem,
    device_of,
    random_problem,
)
from treecrf.ops import use_backend

LENGTHS = {
    "torch": [1, 4, 15, 9],
    "numba": [1, 4, 40, 25],
    "triton": [1, 4, 40, 25] if torch.cuda.is_available() else [7],
}
LARGEST = 1e4

# Triton's interpreter computes with NumPy, which warns where a GPU is quiet.
QUIET = pytest.mark.filterwarnings("ignore:(overflow|invalid value) enc:RuntimeWarning")


def extreme_problem(family: str, kind: str, lengths: list[int], *, multiroot: bool) -> Problem:
    """float32 scores up to 1e4 in magnitude; arcs forbidden by -inf, but never those of a chain."""
    problem = random_problem(
        family, lengths, multiroot=multiroot, magnitude=LARGEST, junk=0.0, dtype=torch.float32
    )
    scores = problem.scores
    if kind == "ties":
        scores = tuple(part.sign() * LARGEST for part in scores)
    elif kind == "peaks":
        scores = tuple(
            torch.where(part > 0.8 * LARGEST, LARGEST, part / LARGEST) for part in scores
        )
    lost = torch.rand(scores[0].shape, generator=torch.Generator().manual_seed(0)) < 0.3
    lost.diagonal(-1, 1, 2)[:] = False
    return problem.with_scores(scores[0].masked_fill(lost, NEGATIVE_INFINITY), *scores[1:])


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize(
    ("kind", "multiroot"), [("random", False), ("ties", True), ("peaks", False), ("peaks", True)]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_extreme_scores(family: str, kind: str, multiroot: bool, backend: str) -> None:
    lengths = LENGTHS[backend]
    problem = extreme_problem(family, kind, lengths, multiroot=multiroot)
    problem = problem.to(device_of(backend)).with_gradients()
    with use_backend(backend):
        crf = problem.distribution()
        best, surest = crf.argmax, crf.mbr
        sampled = crf.sample(2, generator=torch.Generator().manual_seed(0))
        for heads in (best, surest, *sampled):
            assert_trees(heads, problem)
        partial = best.where(torch.arange(best.shape[1], device=best.device) % 2 == 0, -1)
        rounding = max(lengths) * LARGEST * torch.finfo(torch.float32).eps
        log_probs = [crf.log_prob(best), crf.log_prob(surest), crf.log_prob(partial)]
        for log_prob in log_probs:
            assert (log_prob <= rounding).all()
            assert (log_prob > NEGATIVE_INFINITY).all()
        assert (log_probs[2] >= log_probs[0] - rounding).all()
        assert (crf.log_partition >= crf.max - rounding).all()
        assert_sum_to_one(crf.marginals, problem)
        with torch.no_grad():  # these come from the backend, those with a graph from the reference
            assert_sum_to_one(crf.marginals, problem)
        assert (crf.entropy >= -1e-3).all()
        torch.testing.assert_close(crf.kl(crf), torch.zeros_like(crf.entropy))
        answers = [crf.log_partition, crf.marginals, crf.max, crf.entropy, *log_probs]
        answers += [getattr(crf, f"{kind}_marginals") for kind in HIGHER.get(family, [])]
        for answer in answers:
            assert answer.isfinite().all()
            gradients = torch.autograd.grad(
                answer, problem.scores, torch.ones_like(answer), retain_graph=True
            )
            assert not any(gradient.isnan().any() for gradient in gradients)


@pytest.mark.parametrize(
    ("family", "magnitude", "error"),
    [
        ("first_order", 1e11, 1e-9),
        ("second_order", 1e11, 1e-9),
        ("grandsibling", 1e11, 1e-9),
        ("nonprojective", 1e6, 1e-9),
        ("nonprojective", 1e10, 1e-5),
    ],
)
def test_differences_of_large_scores_on_the_cpu(
    family: str, magnitude: float, error: float
) -> None:
    """Two words prefer each other, so that both trees have an arc far below the best one."""
    problem = random_problem(family, [2], magnitude=0.0, junk=0.0)
    arcs = problem.arc_scores.clone()
    for far in (magnitude, magnitude / 3, magnitude / 7):
        arcs[0, 1, 0], arcs[0, 2, 0] = -round(far), -round(far) - 1
        with use_backend("numba"):
            marginals = problem.with_scores(arcs, *problem.scores[1:]).distribution().marginals
        difference = (marginals[0, 1, 0] / marginals[0, 2, 0]).log().item()
        assert difference == pytest.approx(1, abs=error)


@QUIET
@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_lowest_number_makes_no_nan(family: str, backend: str) -> None:
    """As the score of every arc of a sentence, and of half of the arcs."""
    problem = random_problem(family, [5, 4], junk=0.0, dtype=torch.float32)
    arcs = problem.arc_scores.clone()
    lost = torch.rand(arcs.shape, generator=torch.Generator().manual_seed(0)) < 0.5
    lost[0] = True
    arcs[lost] = torch.finfo(torch.float32).min
    problem = problem.with_scores(arcs, *problem.scores[1:]).to(device_of(backend))
    problem = problem.with_gradients()
    with use_backend(backend):
        crf = problem.distribution()
        best = crf.argmax
        for answer in (crf.log_partition, crf.marginals, crf.max, crf.log_prob(best), crf.entropy):
            assert not answer.isnan().any()
            gradients = torch.autograd.grad(
                answer, problem.scores, torch.ones_like(answer), retain_graph=True
            )
            assert not any(gradient.isnan().any() for gradient in gradients)
        assert crf.log_prob(best)[0].isfinite()


def assert_trees(heads: Tensor, problem: Problem) -> None:
    """Heads of trees of the family that use no forbidden arc."""
    for sentence, row in enumerate(heads.tolist()):
        words = int(problem.lengths[sentence])
        tree = tuple(row[: words + 1])
        assert is_tree(tree)
        assert problem.multiroot or tree[1:].count(0) == 1
        assert problem.family == "nonprojective" or is_projective(tree)
        scores = problem.arc_scores[sentence, range(1, words + 1), tree[1:]]
        assert (scores > NEGATIVE_INFINITY).all()


def assert_sum_to_one(marginals: Tensor, problem: Problem) -> None:
    """Each word has one head."""
    token = torch.arange(marginals.shape[1], device=marginals.device)
    is_word = (token > 0) & (token <= problem.lengths[:, None])
    torch.testing.assert_close(marginals.sum(2), is_word.to(marginals.dtype), rtol=0, atol=1e-5)
    assert (marginals >= -1e-6).all()
    assert (marginals <= 1 + 1e-5).all()


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("family", FAMILIES)
def test_half_scores_are_computed_in_float32(family: str, dtype: torch.dtype, backend: str) -> None:
    problem = random_problem(family, [3, 0, 2], magnitude=5.0, forbidden=0.1, dtype=dtype)
    problem = problem.to(device_of(backend)).with_gradients()
    single = problem.to(torch.float32)
    with use_backend(backend):
        for half, full in zip(answers(problem), answers(single), strict=True):
            assert half.dtype == torch.float32
            assert torch.equal(half, full)
        value = problem.distribution().log_partition
        gradients = torch.autograd.grad(value, problem.scores, torch.ones_like(value))
    assert [gradient.dtype for gradient in gradients] == [dtype] * len(problem.scores)


def answers(problem: Problem) -> list[Tensor]:
    with torch.no_grad():
        crf = problem.distribution()
        return [crf.log_partition, crf.marginals, crf.max, crf.entropy, crf.topk(3)[0]]


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize("family", FAMILIES)
def test_float32_is_close_to_enumeration(family: str, multiroot: bool, backend: str) -> None:
    """Within 1e-4 for scores up to 10 in magnitude."""
    words = LONGEST if backend != "triton" else 4
    problem = random_problem(
        family, [words, words - 1], multiroot=multiroot, magnitude=10.0, dtype=torch.float32
    )
    expected = Expected(problem)
    with use_backend(backend):
        crf = problem.to(device_of(backend)).distribution()
        pairs = [
            (crf.log_partition, expected.log_partition),
            (crf.marginals, expected.marginals),
            (crf.max, expected.max),
            (crf.entropy, expected.entropy),
        ]
        for name in (f"{kind}_marginals" for kind in HIGHER.get(family, [])):
            pairs.append((getattr(crf, name), getattr(expected, name)))
    for actual, wanted in pairs:
        assert actual.dtype == torch.float32
        torch.testing.assert_close(actual.cpu().double(), wanted, rtol=0, atol=1e-4)
