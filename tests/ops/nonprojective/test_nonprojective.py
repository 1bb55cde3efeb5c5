"""The non-projective family on every backend, against enumeration."""

import math
from types import ModuleType

import pytest
import torch
from torch import Tensor

from tests.ops.nonprojective.problems import (
    BACKENDS,
    INFINITY,
    check_trees,
    enumerated,
    load,
    random_batch,
    scored_trees,
    small_batches,
    to_device,
)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> ModuleType:
    return load(request.param)


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
        (scores,), lengths, draws, multiroot=multiroot, generator=torch.Generator().manual_seed(5)
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


@pytest.mark.parametrize("name", BACKENDS)
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
