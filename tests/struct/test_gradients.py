"""Every gradient equals autograd through the list of all trees, on every backend."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.struct.expected import Expected
from tests.struct.problems import (
    BACKENDS,
    FAMILIES,
    HIGHER,
    QUICK_BACKENDS,
    Distribution,
    Problem,
    device_of,
    random_problem,
)
from treecrf.ops import use_backend

# Distributions and expectations have the same names, so one function asks both.
Asked = Distribution | Expected
Question = Callable[[Asked, Asked, Tensor], Tensor]

QUESTIONS: dict[str, Question] = {
    "log_partition": lambda crf, other, heads: crf.log_partition,
    "marginals": lambda crf, other, heads: crf.marginals,
    "sibling_marginals": lambda crf, other, heads: crf.sibling_marginals,
    "grandparent_marginals": lambda crf, other, heads: crf.grandparent_marginals,
    "max": lambda crf, other, heads: crf.max,
    "log_prob": lambda crf, other, heads: crf.log_prob(heads),
    "partial log_prob": lambda crf, other, heads: crf.log_prob(partial(heads)),
    "entropy": lambda crf, other, heads: crf.entropy,
    "cross_entropy": lambda crf, other, heads: crf.cross_entropy(other),
    "kl": lambda crf, other, heads: crf.kl(other),
}


def questions_for(family: str, backend: str = "torch") -> list[str]:
    if backend == "triton":  # its interpreter is slow, and its kernels answer only these
        return ["log_partition", "marginals", "log_prob"]
    other = [kind for kind in ("sibling", "grandparent") if kind not in HIGHER.get(family, [])]
    return [name for name in QUESTIONS if name not in {f"{kind}_marginals" for kind in other}]


CASES = [
    pytest.param(
        *(family, name, multiroot, backend),
        id=f"{family}-{name}-{root}-{backend}",
        marks=[pytest.mark.slow] if backend == "triton" and name != "log_partition" else [],
    )
    for family in FAMILIES
    for name in questions_for(family)
    for multiroot, root in ((False, "single root"), (True, "multiroot"))
    for backend in BACKENDS
    if name in questions_for(family, backend) or not multiroot
]


def partial(heads: Tensor) -> Tensor:
    """Heads of the first words only."""
    return heads.where(torch.arange(heads.shape[1]) < 3, -1)


def batch_of(family: str, *, seed: int = 0, multiroot: bool = False) -> Problem:
    """Short sentences, one of no words, and a last one whose constraints leave no tree."""
    problem = random_problem(family, [4, 0, 3, 1, 2], seed=seed, multiroot=multiroot, padding=1)
    allowed = torch.ones(problem.arc_scores.shape, dtype=torch.bool)
    allowed[0, 4, 1] = False
    allowed[4, 1, :] = False
    return replace(problem, allowed=allowed).with_junk(float("nan"))


HEADS = torch.tensor([[0, 2, 0, 4, 2, 0], [0] * 6, [0, 3, 3, 0, 0, 0], [0] * 6, [0, 2, 0, 0, 0, 0]])


def weights_of(value: Tensor) -> Tensor:
    """Some numbers to make one sum of many results."""
    return torch.linspace(0.5, 1.5, value.numel(), dtype=value.dtype).view_as(value)


def gradients(value: Tensor, leaves: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    assert value.requires_grad
    found = torch.autograd.grad(
        value,
        leaves,
        weights_of(value).to(value.device),
        retain_graph=True,
        allow_unused=True,
        materialize_grads=True,
    )
    return tuple(gradient.cpu() for gradient in found)


def assert_equal(actual: tuple[Tensor, ...], expected: tuple[Tensor, ...]) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("family", "name", "multiroot", "backend"), CASES)
def test_gradients_equal_those_of_enumeration(
    family: str, name: str, multiroot: bool, backend: str
) -> None:
    ask = QUESTIONS[name]
    ours = batch_of(family, multiroot=multiroot).to(device_of(backend)).with_gradients()
    theirs = batch_of(family, multiroot=multiroot, seed=1).to(device_of(backend)).with_gradients()
    leaves = (*ours.scores, *theirs.scores)
    with use_backend(backend):
        actual = gradients(ask(ours.distribution(), theirs.distribution(), HEADS), leaves)
    assert_equal(actual, gradients(ask(Expected(ours), Expected(theirs), HEADS), leaves))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_gradient_of_log_partition_is_the_marginals(family: str, backend: str) -> None:
    problem = batch_of(family).to(device_of(backend))
    wanted = problem.with_gradients()
    with use_backend(backend):
        wanted.distribution().log_partition.sum().backward()
        crf = problem.distribution()
        expected = [crf.marginals]
        expected += [getattr(crf, f"{kind}_marginals") for kind in HIGHER.get(family, [])]
    for part, marginals in zip(wanted.scores, expected, strict=True):
        torch.testing.assert_close(part.grad, marginals, rtol=0, atol=1e-12)


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_scores_of_trees_have_gradients(family: str, backend: str) -> None:
    problem = batch_of(family).to(device_of(backend)).with_gradients()
    with use_backend(backend):
        crf = problem.distribution()
        scores, heads = crf.topk(3)
        listed = gradients(scores, problem.scores)
        assert_equal(listed, gradients(Expected(problem).topk(3), problem.scores))
        first = heads[:, 0].where(heads[:, 0] >= 0, HEADS.to(heads.device))
        best = torch.autograd.grad(crf.score(first)[:4].sum(), problem.scores, retain_graph=True)
        assert_equal(best, torch.autograd.grad(crf.max[:4].sum(), problem.scores))


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_second_derivatives_of_log_partition(family: str, backend: str) -> None:
    problem = batch_of(family).to(device_of(backend)).with_gradients()

    def second(log_partition: Tensor) -> tuple[Tensor, ...]:
        first = torch.autograd.grad(log_partition.sum(), problem.scores, create_graph=True)
        total = sum((weights_of(part).to(part.device) * part).sum() for part in first)
        return gradients(total, problem.scores)

    with use_backend(backend):
        actual = second(problem.distribution().log_partition)
    assert_equal(actual, second(Expected(problem).log_partition))


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_gradcheck(family: str, backend: str) -> None:
    lengths = [2] if backend == "triton" else [3, 2]
    problem = random_problem(family, lengths, junk=0.0).to(device_of(backend)).with_gradients()

    def answers(*scores: Tensor) -> tuple[Tensor, ...]:
        crf = problem.with_scores(*scores).distribution()
        return crf.log_partition, crf.marginals, crf.entropy

    def log_partition(*scores: Tensor) -> Tensor:
        return problem.with_scores(*scores).distribution().log_partition

    with use_backend(backend):
        assert torch.autograd.gradcheck(answers, problem.scores, fast_mode=True)
        assert torch.autograd.gradgradcheck(log_partition, problem.scores, fast_mode=True)


@pytest.mark.parametrize("wanted", [0, 1], ids=["arcs", "others"])
@pytest.mark.parametrize("family", ["second_order", "grandparent"])
@pytest.mark.parametrize(
    ("name", "backend"),
    [
        (name, backend)
        for backend in BACKENDS
        for name in questions_for("first_order", backend)  # those of all families
    ],
)
def test_only_some_scores_want_a_gradient(
    family: str, name: str, backend: str, wanted: int
) -> None:
    """The scores of arcs, or of siblings or grandparents, may be constants."""
    ask = QUESTIONS[name]
    problem = batch_of(family).to(device_of(backend)).with_gradients()
    problem.scores[1 - wanted].requires_grad_(False)
    leaves = (problem.scores[wanted],)
    other = batch_of(family, seed=1).to(device_of(backend))
    with use_backend(backend):
        actual = gradients(ask(problem.distribution(), other.distribution(), HEADS), leaves)
    assert_equal(actual, gradients(ask(Expected(problem), Expected(other), HEADS), leaves))


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_result_without_a_graph_is_not_reused(family: str, backend: str) -> None:
    problem = batch_of(family).to(device_of(backend)).with_gradients()
    with use_backend(backend):
        crf = problem.distribution()
        for name in questions_for(family, backend):
            with torch.no_grad():
                before = QUESTIONS[name](crf, crf, HEADS)
            after = QUESTIONS[name](crf, crf, HEADS)
            assert not before.requires_grad
            assert after.requires_grad
            torch.testing.assert_close(after, before, rtol=0, atol=1e-12)


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_inference_mode(family: str, backend: str) -> None:
    """Every answer is there, and an answer asked again outside can take part in a graph."""
    problem = batch_of(family).to(device_of(backend))
    with use_backend(backend):
        crf = problem.distribution()
        for name in questions_for(family, backend):
            with torch.inference_mode():
                inside = QUESTIONS[name](crf, crf, HEADS)
                fresh = problem.with_gradients().distribution()
                torch.testing.assert_close(QUESTIONS[name](fresh, fresh, HEADS), inside)
            outside = QUESTIONS[name](crf, crf, HEADS)
            torch.testing.assert_close(outside, inside)
            factor = torch.ones((), dtype=outside.dtype, device=outside.device, requires_grad=True)
            (outside * factor).sum().backward()
        with torch.inference_mode():
            crf = random_problem(family, [4, 2]).to(device_of(backend)).distribution()
            assert crf.argmax.shape == crf.mbr.shape == crf.sample(1)[0].shape == (2, 5)
            assert crf.topk(2)[0].shape == (2, 2)


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("lengths", [[0], [0, 0], []], ids=["one", "two", "none"])
@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_sentences_without_words_have_gradient_zero(
    family: str, padding: int, lengths: list[int], backend: str
) -> None:
    problem = random_problem(family, lengths, padding=padding).to(device_of(backend))
    problem = problem.with_gradients()
    heads = torch.zeros(problem.arc_scores.shape[:2], dtype=torch.int64)
    with use_backend(backend):
        crf = problem.distribution()
        total = crf.log_partition.sum() - crf.log_prob(heads).sum() + crf.marginals.sum()
        total = total + crf.max.sum() + crf.entropy.sum() + crf.kl(crf).sum()
        assert total == 0
        total.backward()
    for part in problem.scores:
        assert part.grad is not None
        assert not part.grad.any()


@pytest.mark.parametrize("backend", QUICK_BACKENDS)
@pytest.mark.parametrize("junk", [float("nan"), float("inf"), 1e30])
@pytest.mark.parametrize("family", FAMILIES)
def test_cells_that_no_tree_uses_get_gradient_zero(family: str, junk: float, backend: str) -> None:
    problem = batch_of(family).with_junk(junk).to(device_of(backend)).with_gradients()
    with use_backend(backend):
        crf = problem.distribution()
        answers = [crf.log_partition, crf.marginals, crf.max, crf.log_prob(HEADS), crf.entropy]
        answers += [crf.score(HEADS), crf.topk(50)[0]]
        for answer in answers:
            found = torch.autograd.grad(
                answer, problem.scores, torch.ones_like(answer), retain_graph=True
            )
            for gradient, unused in zip(found, problem.unusable, strict=True):
                assert not gradient.isnan().any()
                assert not gradient.cpu()[unused].any()
