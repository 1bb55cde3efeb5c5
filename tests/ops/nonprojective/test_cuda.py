"""The CUDA kernels one by one: ordinary floats in one tile and in blocks, and wide numbers."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.ops.nonprojective.problems import (
    INFINITY,
    device_of,
    load,
    masked,
    random_batch,
    to_device,
)

Answer = tuple[Tensor, Tensor, Tensor]
"""log Z, marginals, and where the checks let both pass; on the CPU."""
# Triton's interpreter takes its time: it gets short sentences and small blocks.
ON_GPU = torch.cuda.is_available()
SIZE = 32 if ON_GPU else 4
LENGTHS = [101, 64, 33, 32, 31, 2, 1, 0] if ON_GPU else [9, 8, 5, 4, 3, 2, 1, 0]


def in_one_tile(scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Answer:
    return answer(load("cuda").in_ordinary_floats, scores, lengths, multiroot=multiroot)


def in_blocks(scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Answer:
    def solve(*arguments: Tensor, multiroot: bool, marginals: Tensor) -> Tensor:
        solved: Tensor = load("triton.blocks").solve(
            *arguments, root_share=int(multiroot), marginals=marginals, size=SIZE
        )
        return solved

    return answer(solve, scores, lengths, multiroot=multiroot)


def answer(
    solve: Callable[..., Tensor], scores: Tensor, lengths: Tensor, *, multiroot: bool
) -> Answer:
    (arcs,), lengths = to_device(load("cuda"), scores, lengths)
    values, marginals = arcs.new_zeros(len(lengths)), torch.zeros_like(arcs)
    solved = solve(arcs, lengths, values, multiroot=multiroot, marginals=marginals)
    return values.cpu(), marginals.cpu(), solved.cpu().bool()


def test_log_z_alone_is_checked_for_what_overflows_too() -> None:
    scores = torch.zeros(1, 4, 4, dtype=torch.float64)
    for word in (1, 2, 3):
        scores[0, word, word] = float("-inf")
    for word in (1, 2):
        scores[0, word, word + 1], scores[0, word + 1, word] = -250, 100
    scores[0, 1, 0], scores[0, 3, 0] = 99.9, 100
    lengths = torch.tensor([3])
    expected = load("cpu").log_partition((scores,), lengths, multiroot=False)
    (arcs,), counts = to_device(load("cuda"), scores, lengths)
    values = arcs.new_zeros(1)
    solved = load("triton.blocks").solve(
        arcs, counts, values, root_share=0, marginals=None, size=SIZE
    )
    assert not bool(solved.cpu()) or torch.allclose(values.cpu(), expected)
    found = load("cuda").log_partition((arcs,), counts, multiroot=False)
    torch.testing.assert_close(found.cpu(), expected)


def longest(lengths: list[int], most: int) -> list[int]:
    return [words for words in lengths if words <= most]


WAYS = pytest.mark.parametrize("solve", [in_one_tile, in_blocks])


@WAYS
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_ordinary_floats_agree_with_the_cpu(
    solve: Callable[..., Answer], forbidden: float, multiroot: bool
) -> None:
    """Every remainder of a length by the words of a block, one block and many."""
    lengths = longest(LENGTHS, 64) if solve is in_one_tile else LENGTHS
    scores, counts = random_batch(lengths, scale=3.0, forbidden=forbidden, seed=180)
    values, marginals, solved = solve(scores, counts, multiroot=multiroot)
    expected = load("cpu").marginals((scores,), counts, multiroot=multiroot)
    # A short sentence may have no tree, or a word that can only hang on the root symbol.
    assert solved.all() if forbidden == 0 else solved[:2].all()
    torch.testing.assert_close(values[solved], expected[0][solved], rtol=1e-13, atol=1e-11)
    torch.testing.assert_close(marginals[solved], expected[1][solved], rtol=0, atol=1e-12)


@WAYS
@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0, 1e3, 1e4])
def test_the_checks_let_only_right_numbers_pass(
    solve: Callable[..., Answer], scale: float, multiroot: bool
) -> None:
    """At every spread of the scores; wide numbers are right for all the others."""
    scores, counts = random_batch([9, 9, 7, 6], scale=scale, forbidden=0.1, seed=181)
    scores[1, 1, 2] = scores[1, 2, 1] = scale * 5  # a cycle that a walk hardly ever leaves
    scores = scores - scores.amax(2, keepdim=True).clamp(min=-1e9)
    expected = load("cpu").marginals((scores,), counts, multiroot=multiroot)
    values, marginals, solved = solve(scores, counts, multiroot=multiroot)
    assert solved.any() or scale >= 100
    assert not solved.all() or scale <= 100
    torch.testing.assert_close(values[solved], expected[0][solved], rtol=1e-12, atol=1e-10)
    torch.testing.assert_close(marginals[solved], expected[1][solved], rtol=0, atol=1e-9)
    all_values, all_marginals = load("cuda").marginals(
        *to_device(load("cuda"), scores, counts), multiroot=multiroot
    )
    torch.testing.assert_close(all_values.cpu(), expected[0], rtol=1e-12, atol=1e-10)
    torch.testing.assert_close(all_marginals.cpu(), expected[1], rtol=0, atol=1e-9)


# NumPy, with which Triton's interpreter computes, warns where a GPU is quiet.
@pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) enc:RuntimeWarning")
@WAYS
def test_what_ordinary_floats_lose_does_not_pass(
    solve: Callable[..., Answer], multiroot: bool
) -> None:
    """Each score is moderate, but the only way to the root symbol multiplies many of them."""
    words, step = 9, -90.0
    scores, lengths = torch.full((3, words + 1, words + 1), -INFINITY).double(), [words, 3, 3]
    for word in range(1, words + 1):
        scores[:, word, word - 1] = step
        if word < words:
            scores[:, word, word + 1] = 0.0
    scores[2, 2, 1] = float("nan")
    counts = torch.tensor(lengths)
    scores = masked(scores, counts)
    _, _, solved = solve(scores, counts, multiroot=multiroot)
    assert solved.tolist() == [False, True, False]
    values, marginals = load("cuda").marginals(
        *to_device(load("cuda"), scores, counts), multiroot=multiroot
    )
    expected = torch.tensor([step * words, step * 3, -INFINITY]).double()
    torch.testing.assert_close(values.cpu(), expected, rtol=1e-14, atol=0)
    chain = marginals.cpu()[0].diagonal(-1)
    torch.testing.assert_close(chain, torch.ones(words).double(), rtol=0, atol=1e-12)


def test_wide_numbers_in_several_tiles(multiroot: bool) -> None:
    cuda = load("cuda")
    scores, lengths = random_batch([11, 8], forbidden=0.2, seed=170)
    (arcs,), counts = to_device(cuda, scores, lengths)
    values, marginals = arcs.new_zeros(2), torch.zeros_like(arcs)
    solved = torch.tensor([0, 1], dtype=torch.int32, device=arcs.device)
    options = {"multiroot": multiroot, "marginals": marginals, "rows": 4}
    cuda.in_wide_numbers(arcs, counts, values, solved, **options)
    assert values[1] == 0
    assert (marginals[1] == 0).all()
    cuda.in_wide_numbers(arcs, counts, values, 1 - solved, **options)
    expected = load("cpu").marginals((scores,), lengths, multiroot=multiroot)
    torch.testing.assert_close(values.cpu(), expected[0], rtol=0, atol=1e-10)
    torch.testing.assert_close(marginals.cpu(), expected[1], rtol=0, atol=1e-10)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1.0, 10.0, 1e3])
def test_long_sentences_agree_with_the_cpu(
    scale: float, dtype: torch.dtype, multiroot: bool
) -> None:
    """One tile and blocks, their boundaries, padding; twice the same bits."""
    cuda = load("cuda")
    for lengths in ([20, 32, 1], [63, 64, 33], [65, 64, 3], [128, 129, 97], [500, 300, 257]):
        scores, counts = random_batch(lengths, scale=scale, seed=182)
        scores = (scores - scores.amax(2, keepdim=True).clamp(min=-1e9)).to(dtype)
        expected = load("cpu").marginals((scores.double(),), counts, multiroot=multiroot)
        arguments = to_device(cuda, scores, counts)
        found = cuda.marginals(*arguments, multiroot=multiroot)
        alone = cuda.log_partition(*arguments, multiroot=multiroot)
        again = cuda.marginals(*arguments, multiroot=multiroot)
        assert all(map(torch.equal, found, again))
        bounds = {"rtol": 1e-6, "atol": 1e-6} if dtype == torch.float32 else {}
        bounds = bounds or {"rtol": 1e-12, "atol": 1e-9}
        torch.testing.assert_close(found[0].cpu().double(), expected[0], **bounds)
        torch.testing.assert_close(alone.cpu().double(), expected[0], **bounds)
        torch.testing.assert_close(
            found[1].cpu().double(), expected[1], rtol=0, atol=bounds["atol"]
        )


def test_the_kernels_run_on_the_device_of_the_scores() -> None:
    cuda = load("cuda")
    scores, lengths = to_device(cuda, *random_batch([2], seed=183))
    values, marginals = cuda.marginals(scores, lengths, multiroot=False)
    assert {values.device.type, marginals.device.type} == {device_of(cuda)}
