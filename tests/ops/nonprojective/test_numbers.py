"""The non-projective family where numbers are extreme, sentences long or gradients asked for."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.ops.nonprojective.problems import (
    BACKENDS,
    INFINITY,
    check_trees,
    enumerated,
    load,
    masked,
    random_batch,
    to_device,
)


@pytest.mark.parametrize("name", BACKENDS)
def test_single_precision_holds_at_extreme_scores(name: str, multiroot: bool) -> None:
    backend, words = load(name), 8 if name == "cuda" else 60
    for forbidden in (0.0, 0.5):
        scores, lengths = random_batch([words, words - 3], scale=1e4, forbidden=forbidden, seed=100)
        scores = scores - scores.amax(2, keepdim=True).clamp(min=-1e9)
        single = scores.float()
        values, marginals = backend.marginals(
            *to_device(backend, single, lengths), multiroot=multiroot
        )
        assert values.dtype == marginals.dtype == torch.float32
        assert values.isfinite().all()
        sums = marginals.cpu().sum(2)
        is_word = single.isfinite().any(2)
        torch.testing.assert_close(sums, is_word.float(), rtol=0, atol=1e-5)
        assert (marginals >= 0).all()
        assert (marginals.cpu()[single == -INFINITY] == 0).all()
        exact, _ = load("cpu").marginals((single.double(),), lengths, multiroot=multiroot)
        torch.testing.assert_close(values.cpu().double(), exact, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("forbidden", [0.0, 0.6])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_longer_sentences_agree_with_the_reference(
    multiroot: bool, forbidden: float, scale: float
) -> None:
    scores, lengths = random_batch([40, 21, 33, 1], scale=scale, forbidden=forbidden, seed=110)
    reference, cpu = load("reference"), load("cpu")
    expected, expected_marginals = reference.marginals((scores,), lengths, multiroot=multiroot)
    values, marginals = cpu.marginals((scores,), lengths, multiroot=multiroot)
    assert (expected > -INFINITY).sum() >= 3
    torch.testing.assert_close(values, expected, rtol=1e-12, atol=1e-9)
    torch.testing.assert_close(marginals, expected_marginals, rtol=0, atol=1e-9)
    k = 4
    best = reference.topk((scores,), lengths, k, multiroot=multiroot)
    heads = cpu.topk((scores,), lengths, k, multiroot=multiroot)
    assert torch.equal(heads[:, 0], cpu.argmax((scores,), lengths, multiroot=multiroot))
    for sentence, words in enumerate(lengths.tolist()):
        exists = best[sentence, :, 0] == 0
        trees = best[sentence, exists, : words + 1]
        values = scores[sentence][torch.arange(words + 1), trees][:, 1:].sum(1)
        check_trees(heads[sentence], scores[sentence], trees, values)
        if not multiroot:
            assert ((heads[sentence, exists, 1 : words + 1] == 0).sum(1) == 1).all()


def test_moderate_and_extreme_arithmetic_agree(multiroot: bool) -> None:
    """A shift of all scores of a word changes log Z alone, and here the way it is computed."""
    cpu = load("cpu")
    scores, lengths = random_batch([30, 17, 2, 1], scale=20.0, seed=120)
    shifted = scores - 256.0
    values, marginals = cpu.marginals((scores,), lengths, multiroot=multiroot)
    others, other_marginals = cpu.marginals((shifted,), lengths, multiroot=multiroot)
    torch.testing.assert_close(values, others + 256.0 * lengths, rtol=1e-13, atol=0)
    torch.testing.assert_close(marginals, other_marginals, rtol=0, atol=1e-12)
    alone = cpu.log_partition((shifted,), lengths, multiroot=multiroot)
    torch.testing.assert_close(alone, others, rtol=1e-13, atol=0)


@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_ordinary_floats_agree_with_wide_numbers(multiroot: bool, forbidden: float) -> None:
    """Every remainder of a length by the words of a block, one block and many."""
    lengths = [*range(1, 14), 31, 62, 100, 101]
    scores, words = random_batch(lengths, scale=3.0, forbidden=forbidden, seed=121)
    values, marginals, solved = in_ordinary_floats(scores, words, multiroot=multiroot)
    wide, wide_marginals = in_wide_numbers(scores, words, multiroot=multiroot)
    # A short sentence may have no tree, or a word that can only hang on the root symbol.
    assert solved.all() if forbidden == 0 else solved[len(lengths) // 2 :].all()
    assert (wide[solved] > -INFINITY).all()
    torch.testing.assert_close(values[solved], wide[solved], rtol=1e-13, atol=1e-11)
    torch.testing.assert_close(marginals[solved], wide_marginals[solved], rtol=0, atol=1e-12)


def test_what_ordinary_floats_lose_is_computed_in_wide_numbers(multiroot: bool) -> None:
    """Each score is moderate, but the only way to the root symbol multiplies many of them."""
    words, step = 12, -90.0
    scores, lengths = torch.full((2, words + 1, words + 1), -INFINITY).double(), [words, 3]
    for word in range(1, words + 1):
        scores[:, word, word - 1] = step
        if word < words:
            scores[:, word, word + 1] = 0.0
    scores, counts = masked(scores, torch.tensor(lengths)), torch.tensor(lengths)
    _, _, solved = in_ordinary_floats(scores, counts, multiroot=multiroot)
    assert solved.tolist() == [False, True]
    values, marginals = load("cpu").marginals((scores,), counts, multiroot=multiroot)
    torch.testing.assert_close(values, step * counts.double(), rtol=1e-14, atol=0)
    for sentence, length in enumerate(lengths):
        chain = marginals[sentence].diagonal(-1)[:length]
        torch.testing.assert_close(chain, torch.ones(length).double(), rtol=0, atol=1e-12)


def test_tiny_marginals_keep_their_digits(multiroot: bool) -> None:
    scores, lengths = random_batch([5], scale=200.0, forbidden=0.1, seed=130)
    _, marginals = load("cpu").marginals((scores,), lengths, multiroot=multiroot)
    _, expected = enumerated(scores[0], 5, multiroot)
    assert ((expected > 0) & (expected < 1e-50)).any()
    torch.testing.assert_close(marginals[0], expected, rtol=1e-9, atol=0)


def test_extreme_scores_against_exact_integers(multiroot: bool) -> None:
    """Weights 2^k, k up to 20,000: determinants of integers are exact."""
    words = 6
    generator = torch.Generator().manual_seed(140)
    powers = torch.randint(0, 20_000, (words + 1, words + 1), generator=generator)
    # What follows makes several heads of word 1 about as likely as each other.
    powers[1] = 10_000 + torch.arange(words + 1)
    powers[2:, 0] = 15_000
    powers[:, 1] = 0
    scores, lengths = powers.double()[None] * math.log(2), torch.tensor([words])
    scores = masked(scores, lengths)
    scores[0, 3, 2] = -INFINITY
    weights = [
        [1 << int(powers[m, h]) if scores[0, m, h] > -INFINITY else 0 for h in range(words + 1)]
        for m in range(words + 1)
    ]
    exact = tree_sum(weights, multiroot)
    probabilities = []
    for head in range(words + 1):
        without = [list(row) for row in weights]
        without[1][head] = 0
        probabilities.append((exact - tree_sum(without, multiroot)) / exact)
    for backend in (load("reference"), load("cpu")):
        values, marginals = backend.marginals((scores,), lengths, multiroot=multiroot)
        assert float(values) == pytest.approx(math.log(exact), rel=1e-12)
        assert marginals[0, 1].tolist() == pytest.approx(probabilities, abs=1e-9)


def in_ordinary_floats(
    scores: Tensor, lengths: Tensor, *, multiroot: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """log Z, marginals, and where the checks let both pass."""
    values, marginals = torch.zeros(len(lengths)).double(), torch.zeros_like(scores)
    solved = torch.zeros(len(lengths), dtype=torch.bool)
    arrays = (part.numpy() for part in (values, marginals, solved))
    load("moderate").log_partitions(
        np.arange(len(lengths)), scores.numpy(), lengths.numpy(), multiroot, *arrays
    )
    return values, marginals, solved


def in_wide_numbers(scores: Tensor, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z and marginals."""
    values, marginals = torch.zeros(len(lengths)).double(), torch.zeros_like(scores)
    arrays = (part.numpy() for part in (values, marginals))
    load("matrix_tree").log_partitions(
        np.arange(len(lengths)), scores.numpy(), lengths.numpy(), multiroot, *arrays
    )
    return values, marginals


def tree_sum(weights: list[list[int]], multiroot: bool) -> int:
    """The matrix-tree theorem; single root: summed over the root symbol's child."""
    words = range(1, len(weights))
    if multiroot:
        return determinant(
            [[sum(weights[m]) if m == h else -weights[m][h] for h in words] for m in words]
        )
    laplacian = [[sum(weights[m][1:]) if m == h else -weights[m][h] for h in words] for m in words]
    return sum(
        weights[child][0]
        * determinant(
            [
                [cell for h, cell in zip(words, row, strict=True) if h != child]
                for m, row in zip(words, laplacian, strict=True)
                if m != child
            ]
        )
        for child in words
    )


def determinant(matrix: list[list[int]]) -> int:
    """Bareiss: elimination in integers, every division exact."""
    matrix, sign, previous = [list(row) for row in matrix], 1, 1
    for i in range(len(matrix) - 1):
        pivot = next((row for row in range(i, len(matrix)) if matrix[row][i]), None)
        if pivot is None:
            return 0
        if pivot != i:
            matrix[i], matrix[pivot], sign = matrix[pivot], matrix[i], -sign
        for j in range(i + 1, len(matrix)):
            for k in range(i + 1, len(matrix)):
                product = matrix[j][k] * matrix[i][i] - matrix[j][i] * matrix[i][k]
                matrix[j][k] = product // previous
        previous = matrix[i][i]
    return sign * matrix[-1][-1]


def test_reference_differentiates_twice(multiroot: bool) -> None:
    reference = load("reference")
    scores, lengths = random_batch([3, 4, 0], forbidden=0.1, seed=151)
    exists = scores > -INFINITY

    def log_partition(values: Tensor) -> Tensor:
        return reference.log_partition(
            (torch.where(exists, values, -INFINITY),), lengths, multiroot=multiroot
        )

    values = torch.where(exists, scores, 0).requires_grad_()
    assert log_partition(values).isfinite().all()
    assert torch.autograd.gradcheck(log_partition, values)
    assert torch.autograd.gradgradcheck(log_partition, values)


def test_reference_gradients_are_zero_without_a_tree(multiroot: bool) -> None:
    scores, lengths = random_batch([3, 3], scale=1e4, seed=160)
    scores[0, :, 0] = -INFINITY
    scores.requires_grad_()
    value = load("reference").log_partition((scores,), lengths, multiroot=multiroot)
    (gradient,) = torch.autograd.grad(value[1] + value[0], scores, create_graph=True)
    assert (gradient[0] == 0).all()
    torch.testing.assert_close(gradient[1].sum(), torch.tensor(3.0).double())
    (second,) = torch.autograd.grad(gradient.square().sum(), scores)
    assert second.isfinite().all()
