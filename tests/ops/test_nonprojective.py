"""The non-projective family on every backend, against enumeration and exact integer arithmetic."""

import importlib
import math
from types import ModuleType

import pytest
import torch
from torch import Tensor

from tests.enumeration import all_trees, is_tree

INFINITY = float("inf")
NAMES = ["reference", "cpu", "cuda"]


@pytest.fixture(params=NAMES)
def backend(request: pytest.FixtureRequest) -> ModuleType:
    return load(request.param)


@pytest.fixture(params=[False, True], ids=["single", "multi"])
def multiroot(request: pytest.FixtureRequest) -> bool:
    return request.param


def load(name: str) -> ModuleType:
    if name == "cuda":
        pytest.importorskip("triton")
    return importlib.import_module(f"treecrf.ops.nonprojective.{name}")


def device_of(backend: ModuleType) -> str:
    return "cuda" if backend.__name__.endswith("cuda") and torch.cuda.is_available() else "cpu"


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


def small_batches(seed: int) -> list[tuple[Tensor, Tensor]]:
    """Sentences of 0 to 5 words: ordinary scores, steep ones, some arcs missing, most missing."""
    lengths = [5, 0, 4, 1, 3, 2]
    kinds = [(1.0, 0.0), (30.0, 0.0), (1.0, 0.3), (1e4, 0.2), (1.0, 0.6)]
    return [
        random_batch(lengths, scale=scale, forbidden=share, seed=seed + index)
        for index, (scale, share) in enumerate(kinds)
    ]


def test_log_partition_and_marginals_are_those_of_enumeration(
    backend: ModuleType, multiroot: bool
) -> None:
    none = 0
    # The interpreter of the Triton kernels is slow.
    more = [] if backend.__name__.endswith("cuda") else small_batches(seed=20)
    for scores, lengths in small_batches(seed=10) + more:
        values, marginals = backend.marginals(
            *to_device(backend, scores, lengths), multiroot=multiroot
        )
        alone = backend.log_partition(*to_device(backend, scores, lengths), multiroot=multiroot)
        for sentence, words in enumerate(lengths.tolist()):
            expected, probabilities = enumerated(scores[sentence], words, multiroot)
            none += int(expected == -INFINITY)
            tolerance = {"rtol": 1e-12, "atol": 1e-9}
            torch.testing.assert_close(values[sentence].cpu(), expected, **tolerance)
            torch.testing.assert_close(alone[sentence].cpu(), expected, **tolerance)
            torch.testing.assert_close(marginals[sentence].cpu(), probabilities, rtol=0, atol=1e-9)
    assert none > 0  # sentences without a tree were among them


def test_argmax_is_the_best_tree(backend: ModuleType, multiroot: bool) -> None:
    for scores, lengths in small_batches(seed=30) + small_batches(seed=40):
        heads = backend.argmax(*to_device(backend, scores, lengths), multiroot=multiroot).cpu()
        for sentence, words in enumerate(lengths.tolist()):
            trees, values = scored_trees(scores[sentence], words, multiroot)
            check_trees(heads[sentence, None], scores[sentence], trees[:1], values[:1], among=trees)


def test_topk_lists_the_best_trees_in_order(backend: ModuleType, multiroot: bool) -> None:
    k = 40
    for scores, lengths in small_batches(seed=50):
        heads = backend.topk(*to_device(backend, scores, lengths), k, multiroot=multiroot).cpu()
        for sentence, words in enumerate(lengths.tolist()):
            trees, values = scored_trees(scores[sentence], words, multiroot)
            check_trees(heads[sentence], scores[sentence], trees[:k], values[:k], among=trees)


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


def test_every_tree_is_listed_when_all_are_asked_for(backend: ModuleType, multiroot: bool) -> None:
    scores, lengths = random_batch([4, 3], seed=60)
    heads = backend.topk(*to_device(backend, scores, lengths), 200, multiroot=multiroot).cpu()
    for sentence, words in enumerate(lengths.tolist()):
        trees, values = scored_trees(scores[sentence], words, multiroot)
        assert len(trees) < 200
        check_trees(heads[sentence], scores[sentence], trees, values, among=trees)


@pytest.mark.parametrize("name", ["reference", "cpu"])
@pytest.mark.parametrize("pull", [0.0, 8.0, 1e4], ids=["free", "cyclic", "trapped"])
def test_draws_follow_the_distribution(name: str, multiroot: bool, pull: float) -> None:
    """With `pull` two words draw each other: a random walk from there hardly ever ends."""
    backend, draws = load(name), 20_000 if name == "cpu" else 1_000
    scores, lengths = random_batch([4, 3, 4, 0], forbidden=0.1, seed=70)
    scores[0, 1, 3] += pull
    scores[0, 3, 1] += pull
    heads = backend.sample(
        scores, lengths, draws, multiroot=multiroot, generator=torch.Generator().manual_seed(5)
    )
    assert heads.shape == (draws, 4, 5)
    for sentence, words in enumerate(lengths.tolist()):
        trees, values = scored_trees(scores[sentence], words, multiroot)
        assert (heads[:, sentence, words + 1 :] == 0).all()
        drawn, counts = heads[:, sentence, : words + 1].unique(dim=0, return_counts=True)
        seen = dict(zip(map(tuple, drawn.tolist()), counts.tolist(), strict=True))
        assert set(seen) <= {tuple(tree) for tree in trees.tolist()}
        for tree, p in zip(trees.tolist(), values.softmax(0).tolist(), strict=True):
            deviation = abs(seen.get(tuple(tree), 0) - draws * p)
            assert deviation <= 5 * math.sqrt(draws * p * (1 - p)) + 5


@pytest.mark.parametrize("name", NAMES)
def test_draws_depend_on_the_generator_alone(name: str, multiroot: bool) -> None:
    backend = load(name)
    sentences = 10 if name == "cpu" else 2
    scores, lengths = to_device(backend, *random_batch([6] * sentences, seed=80))

    def draw(seed: int) -> Tensor:
        return backend.sample(
            scores,
            lengths,
            20,
            multiroot=multiroot,
            generator=torch.Generator().manual_seed(seed),
        )

    threads = torch.get_num_threads()
    first = draw(1)
    torch.set_num_threads(1 if threads > 1 else 2)
    try:
        again = draw(1)
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(first, again)
    assert not torch.equal(first, draw(2))
    torch.manual_seed(3)
    from_global = backend.sample(scores, lengths, 2, multiroot=multiroot, generator=None)
    torch.manual_seed(3)
    repeated = backend.sample(scores, lengths, 2, multiroot=multiroot, generator=None)
    assert torch.equal(from_global, repeated)


def test_no_words_and_no_trees(backend: ModuleType, multiroot: bool) -> None:
    # Of 3 words: none may hang on the root symbol; two draw each other only; the others are fine.
    scores, lengths = random_batch([3, 3, 0, 2], seed=90)
    scores[0, :, 0] = -INFINITY
    scores[1, 1, [0, 3]] = -INFINITY
    scores[1, 2, [0, 3]] = -INFINITY
    arguments = to_device(backend, scores, lengths)
    values, marginals = backend.marginals(*arguments, multiroot=multiroot)
    assert values.tolist()[:3] == [-INFINITY, -INFINITY, 0.0]
    assert values[3] > -INFINITY
    assert (marginals[:3] == 0).all()
    torch.testing.assert_close(marginals[3, 1:3].sum(1).cpu(), torch.ones(2).double())
    for heads in (
        backend.argmax(*arguments, multiroot=multiroot),
        backend.topk(*arguments, 1, multiroot=multiroot)[:, 0],
        backend.sample(*arguments, 1, multiroot=multiroot, generator=None)[0],
    ):
        assert heads.dtype == torch.int64
        assert (heads[:2] == -1).all()
        assert (heads[2] == 0).all()
        assert (heads[3, [0, 3]] == 0).all()


def test_two_words_that_need_the_root_have_no_single_root_tree(backend: ModuleType) -> None:
    scores, lengths = random_batch([4], seed=95)
    scores[0, 1, 1:] = -INFINITY
    scores[0, 3, 1:] = -INFINITY
    arguments = to_device(backend, scores, lengths)
    for multiroot in (False, True):
        values, marginals = backend.marginals(*arguments, multiroot=multiroot)
        assert (values > -INFINITY).tolist() == [multiroot]
        assert float(marginals.sum()) == pytest.approx(4.0 * multiroot)
        heads = backend.argmax(*arguments, multiroot=multiroot)
        assert heads[0, 0] == (0 if multiroot else -1)


def test_an_empty_batch(backend: ModuleType, multiroot: bool) -> None:
    scores, lengths = to_device(backend, torch.zeros(0, 4, 4), torch.zeros(0, dtype=torch.int64))
    values, marginals = backend.marginals(scores, lengths, multiroot=multiroot)
    assert values.shape == (0,)
    assert marginals.shape == (0, 4, 4)
    assert backend.log_partition(scores, lengths, multiroot=multiroot).shape == (0,)
    assert backend.argmax(scores, lengths, multiroot=multiroot).shape == (0, 4)
    assert backend.topk(scores, lengths, 2, multiroot=multiroot).shape == (0, 2, 4)
    drawn = backend.sample(scores, lengths, 2, multiroot=multiroot, generator=None)
    assert drawn.shape == (2, 0, 4)


def test_single_precision_holds_at_extreme_scores(backend: ModuleType, multiroot: bool) -> None:
    words = 8 if backend.__name__.endswith("cuda") else 60
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
        exact, _ = load("cpu").marginals(single.double(), lengths, multiroot=multiroot)
        torch.testing.assert_close(values.cpu().double(), exact, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("forbidden", [0.0, 0.6])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_longer_sentences_agree_with_the_reference(
    multiroot: bool, forbidden: float, scale: float
) -> None:
    scores, lengths = random_batch([40, 21, 33, 1], scale=scale, forbidden=forbidden, seed=110)
    reference, cpu = load("reference"), load("cpu")
    expected, expected_marginals = reference.marginals(scores, lengths, multiroot=multiroot)
    values, marginals = cpu.marginals(scores, lengths, multiroot=multiroot)
    assert (expected > -INFINITY).sum() >= 3
    torch.testing.assert_close(values, expected, rtol=1e-12, atol=1e-9)
    torch.testing.assert_close(marginals, expected_marginals, rtol=0, atol=1e-9)
    k = 4
    best = reference.topk(scores, lengths, k, multiroot=multiroot)
    heads = cpu.topk(scores, lengths, k, multiroot=multiroot)
    assert torch.equal(heads[:, 0], cpu.argmax(scores, lengths, multiroot=multiroot))
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
    values, marginals = cpu.marginals(scores, lengths, multiroot=multiroot)
    others, other_marginals = cpu.marginals(shifted, lengths, multiroot=multiroot)
    torch.testing.assert_close(values, others + 256.0 * lengths, rtol=1e-13, atol=0)
    torch.testing.assert_close(marginals, other_marginals, rtol=0, atol=1e-12)
    alone = cpu.log_partition(shifted, lengths, multiroot=multiroot)
    torch.testing.assert_close(alone, others, rtol=1e-13, atol=0)


def test_tiny_marginals_keep_their_digits(multiroot: bool) -> None:
    scores, lengths = random_batch([5], scale=200.0, forbidden=0.1, seed=130)
    _, marginals = load("cpu").marginals(scores, lengths, multiroot=multiroot)
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
        values, marginals = backend.marginals(scores, lengths, multiroot=multiroot)
        assert float(values) == pytest.approx(math.log(exact), rel=1e-12)
        assert marginals[0, 1].tolist() == pytest.approx(probabilities, abs=1e-9)


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
            torch.where(exists, values, -INFINITY), lengths, multiroot=multiroot
        )

    values = torch.where(exists, scores, 0).requires_grad_()
    assert log_partition(values).isfinite().all()
    assert torch.autograd.gradcheck(log_partition, values)
    assert torch.autograd.gradgradcheck(log_partition, values)


def test_reference_gradients_are_zero_without_a_tree(multiroot: bool) -> None:
    scores, lengths = random_batch([3, 3], scale=1e4, seed=160)
    scores[0, :, 0] = -INFINITY
    scores.requires_grad_()
    value = load("reference").log_partition(scores, lengths, multiroot=multiroot)
    (gradient,) = torch.autograd.grad(value[1] + value[0], scores, create_graph=True)
    assert (gradient[0] == 0).all()
    torch.testing.assert_close(gradient[1].sum(), torch.tensor(3.0).double())
    (second,) = torch.autograd.grad(gradient.square().sum(), scores)
    assert second.isfinite().all()


def test_kernels_of_several_tiles(multiroot: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = load("cuda")
    tile = {"ROWS": 4, "COLUMNS": 16, "num_warps": 4}
    monkeypatch.setattr(cuda, "_tile", lambda words: tile)
    scores, lengths = random_batch([11, 8], forbidden=0.2, seed=170)
    values, marginals = cuda.marginals(*to_device(cuda, scores, lengths), multiroot=multiroot)
    expected = load("cpu").marginals(scores, lengths, multiroot=multiroot)
    torch.testing.assert_close(values.cpu(), expected[0], rtol=0, atol=1e-10)
    torch.testing.assert_close(marginals.cpu(), expected[1], rtol=0, atol=1e-10)


def to_device(backend: ModuleType, *tensors: Tensor) -> tuple[Tensor, ...]:
    return tuple(tensor.to(device_of(backend)) for tensor in tensors)
