"""Inference by factored sibling scores against enumeration and against the scores as one tensor."""

import weakref
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tests.enumeration import all_trees, is_projective, is_tree, tree_score
from treecrf.ops.projective import factored
from treecrf.ops.projective.trilinear import Factors, SiblingScores
from treecrf.struct import SiblingTreeCRF

INFINITY = float("inf")
NAN = float("nan")
FEATURES = 7
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]

Scores = tuple[Tensor, Factors]  # of arcs, of siblings


def random_scores(
    words: int,
    *,
    scale: float = 1.0,
    forbidden: float = 0.0,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> Scores:
    """Scores with at least one tree, and junk for the arcs that no tree uses."""
    generator = torch.Generator().manual_seed(seed)
    tokens = words + 1

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    arcs = scale * draw(tokens, tokens)
    gone = torch.rand(tokens, tokens, generator=generator) < forbidden
    gone.diagonal(-1).zero_()  # each word may hang on the one before
    arcs = arcs.masked_fill(gone, -INFINITY)
    arcs[0] = arcs.diagonal()[:] = NAN
    forms = scale * draw(tokens, FEATURES, FEATURES) / FEATURES
    parts = (forms, draw(tokens, FEATURES), draw(tokens, FEATURES))
    return arcs.to(dtype), Factors(*(part.to(dtype) for part in parts))


def materialised(scores: Scores) -> Tensor:
    """Sibling scores `[dependent, head, sibling]`, in float64."""
    return torch.einsum("hgf,sg,df->dhs", *(part.double() for part in scores[1]))


def distribution(scores: Scores, *, multiroot: bool) -> SiblingTreeCRF:
    arcs = scores[0].double()[None]
    lengths = torch.tensor([len(scores[0]) - 1])
    return SiblingTreeCRF(arcs, materialised(scores)[None], lengths, multiroot)


@pytest.mark.parametrize("forbidden", [0.0, 0.4])
@pytest.mark.parametrize("words", range(7))
def test_enumeration(words: int, forbidden: float, multiroot: bool) -> None:
    scores = random_scores(words, forbidden=forbidden, seed=words)
    siblings = materialised(scores)
    trees = torch.tensor(all_trees(words, projective=True, multiroot=multiroot))
    values = torch.stack([tree_score(tuple(tree), scores[0], siblings) for tree in trees.tolist()])
    probabilities = (values - values.logsumexp(0)).exp()
    arcs = torch.zeros_like(scores[0])
    for tree, probability in zip(trees, probabilities, strict=True):
        arcs[torch.arange(1, words + 1), tree[1:]] += probability

    log_partition, marginals = factored.marginals(*scores, multiroot=multiroot)
    torch.testing.assert_close(log_partition, values.logsumexp(0))
    torch.testing.assert_close(marginals, arcs)
    assert torch.equal(factored.argmax(*scores, multiroot=multiroot), trees[values.argmax()])
    for tree, value in zip(trees, values, strict=True):
        torch.testing.assert_close(factored.score(*scores, tree), value)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("forbidden", [0.0, 0.5])
@pytest.mark.parametrize("words", [1, 2, 3, 17, 63, 100])
def test_materialised_scores(
    words: int, forbidden: float, dtype: torch.dtype, device: str, multiroot: bool
) -> None:
    scores = random_scores(words, scale=2.0, forbidden=forbidden, dtype=dtype, seed=words)
    crf = distribution(scores, multiroot=multiroot)
    placed = scores[0].to(device), Factors(*(part.to(device) for part in scores[1]))
    tolerance = {"rtol": 1e-6, "atol": 1e-5} if dtype == torch.float32 else {}

    log_partition, marginals = factored.marginals(*placed, multiroot=multiroot)
    heads = factored.argmax(*placed, multiroot=multiroot)
    assert (log_partition.device, marginals.device, heads.device) == (placed[0].device,) * 3
    assert log_partition.dtype == marginals.dtype == dtype
    torch.testing.assert_close(log_partition.cpu().double(), crf.log_partition[0], **tolerance)
    torch.testing.assert_close(marginals.cpu().double(), crf.marginals[0], **tolerance)
    assert heads.dtype == torch.int64
    assert is_tree(tuple(heads.tolist()))
    assert is_projective(tuple(heads.tolist()))
    assert multiroot or (heads[1:] == 0).sum() == 1
    best = factored.score(*placed, heads)
    torch.testing.assert_close(best.cpu().double(), crf.max[0], **tolerance)
    for drawn in crf.sample(3)[:, 0]:
        value = factored.score(*placed, drawn.to(device))
        torch.testing.assert_close(value.cpu().double(), crf.score(drawn[None])[0], **tolerance)


@pytest.mark.parametrize("words", [1, 2, 3, 17, 40])
@pytest.mark.parametrize("block", [1, 2, 5, 16, 17, 39, 40, 41, 1000])
def test_block_sizes(words: int, block: int, multiroot: bool) -> None:
    scores = random_scores(words, forbidden=0.2)
    crf = distribution(scores, multiroot=multiroot)
    log_partition, marginals = factored.marginals(*scores, multiroot=multiroot, block=block)
    torch.testing.assert_close(log_partition, crf.log_partition[0])
    torch.testing.assert_close(marginals, crf.marginals[0])
    heads = factored.argmax(*scores, multiroot=multiroot, block=block)
    assert torch.equal(heads, crf.argmax[0])


@pytest.mark.parametrize("block", [1, 3, 8, 20])
def test_scores_of_a_width(block: int) -> None:
    scores = random_scores(8)
    siblings = materialised(scores)
    blocks = SiblingScores(scores[1], block=block)
    for width in [*range(1, 9), *range(8, 0, -1)]:
        right, left = blocks.of_width(width)
        assert right.shape == left.shape == (9 - width, width - 1)
        for i, j in zip(range(9), range(width, 9), strict=False):
            torch.testing.assert_close(right[i], siblings[j, i, i + 1 : j])
            torch.testing.assert_close(left[i], siblings[i, j, i + 1 : j])
            torch.testing.assert_close(blocks.of_arc(i, j), right[i])
            torch.testing.assert_close(blocks.of_arc(j, i), left[i])


def only_arcs(*heads: int) -> Tensor:
    """Arc scores that allow nothing but these heads of the words."""
    tokens = len(heads) + 1
    arcs = torch.full((tokens, tokens), -INFINITY)
    arcs[torch.arange(1, tokens), torch.tensor(heads)] = 0.0
    return arcs


def without_heads(word: int, words: int) -> Tensor:
    arcs = torch.zeros(words + 1, words + 1)
    arcs[word] = -INFINITY
    return arcs


NO_TREE = {
    "cycle": only_arcs(0, 3, 2),
    "crossing arcs": only_arcs(3, 4, 0, 3),
    "no head": without_heads(word=5, words=30),
    "first word without a head": without_heads(word=1, words=1),
}


@pytest.mark.parametrize("kind", NO_TREE)
def test_no_tree(kind: str, multiroot: bool) -> None:
    arcs = NO_TREE[kind]
    tokens = len(arcs)
    _, factors = random_scores(tokens - 1, dtype=torch.float32)
    log_partition, marginals = factored.marginals(arcs, factors, multiroot=multiroot)
    assert log_partition == -INFINITY
    assert torch.equal(marginals, torch.zeros(tokens, tokens))
    heads = factored.argmax(arcs, factors, multiroot=multiroot)
    assert torch.equal(heads, torch.full((tokens,), -1))
    assert factored.score(arcs, factors, heads) == -INFINITY


def test_a_tree_with_two_roots(multiroot: bool) -> None:
    arcs, heads = only_arcs(2, 0, 2, 0), torch.tensor([0, 2, 0, 2, 0])
    _, factors = random_scores(4, dtype=torch.float32)
    log_partition, marginals = factored.marginals(arcs, factors, multiroot=multiroot)
    best = factored.argmax(arcs, factors, multiroot=multiroot)
    if multiroot:
        torch.testing.assert_close(log_partition, materialised((arcs, factors))[4, 0, 2].float())
        torch.testing.assert_close(marginals, arcs.exp())
        assert torch.equal(best, heads)
    else:
        assert log_partition == -INFINITY
        assert (marginals == 0).all()
        assert (best == -1).all()


@pytest.mark.parametrize("scale", [1e4, 1e9])
def test_steep_scores(scale: float, multiroot: bool) -> None:
    arcs, factors = random_scores(70, scale=scale, forbidden=0.1, dtype=torch.float32, seed=1)
    log_partition, marginals = factored.marginals(arcs, factors, multiroot=multiroot)
    assert log_partition.isfinite()
    torch.testing.assert_close(marginals[1:].sum(1), torch.ones(70), rtol=0, atol=1e-5)
    heads = factored.argmax(arcs, factors, multiroot=multiroot)
    best = factored.score(arcs, factors, heads)
    torch.testing.assert_close(best, log_partition, rtol=1e-5, atol=0)


def test_any_memory_layout(multiroot: bool) -> None:
    arcs, factors = random_scores(12)
    expected = factored.marginals(arcs, factors, multiroot=multiroot)
    layouts = {
        "part of a batch": [torch.stack([part, part, part])[1] for part in (arcs, *factors)],
        "transposed": [part.mT.contiguous().mT for part in (arcs, *factors)],
    }
    for own_arcs, *own_factors in layouts.values():
        result = factored.marginals(own_arcs, Factors(*own_factors), multiroot=multiroot)
        torch.testing.assert_close(result, expected)


def test_arguments_are_left_alone() -> None:
    scores = random_scores(9, forbidden=0.2)
    for layout in (lambda part: part.clone(), lambda part: part.mT.contiguous().mT):
        parts = (scores[0], *scores[1])
        leaves = [layout(part).requires_grad_() for part in parts]
        arcs, factors = leaves[0], Factors(*leaves[1:])
        log_partition, marginals = factored.marginals(arcs, factors)
        value = factored.score(arcs, factors, factored.argmax(arcs, factors))
        assert not any(result.requires_grad for result in (log_partition, marginals, value))
        for leaf, part in zip(leaves, parts, strict=True):
            assert torch.equal(leaf.isnan(), part.isnan())
            assert torch.equal(leaf.nan_to_num(), part.nan_to_num())


def test_shapes_that_do_not_fit() -> None:
    arcs, factors = random_scores(4)
    with pytest.raises(ValueError, match=r"\[N, features, features\] and twice \[N, features\]"):
        factored.marginals(arcs, factors._replace(forms=factors.forms[:, 1:]))
    with pytest.raises(ValueError, match=r"arc scores are \[4, 4\].* 5 tokens"):
        factored.argmax(arcs[1:, 1:], factors)


class MemoryMeter(TorchDispatchMode):
    """Adds up the memory of the tensors that live at one time, of those made under it."""

    def __init__(self) -> None:
        super().__init__()
        self.peak = 0
        self._alive: dict[int, weakref.ref[Tensor]] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        result = func(*args, **(kwargs or {}))
        for value in result if isinstance(result, tuple | list) else [result]:
            if isinstance(value, Tensor):
                self._alive[id(value)] = weakref.ref(value)
        alive = [(key, reference()) for key, reference in self._alive.items()]
        self._alive = {key: self._alive[key] for key, tensor in alive if tensor is not None}
        storages = [tensor.untyped_storage() for _, tensor in alive if tensor is not None]
        sizes = {storage.data_ptr(): storage.nbytes() for storage in storages}
        self.peak = max(self.peak, sum(sizes.values()))
        return result


@pytest.mark.slow
def test_memory_is_far_below_a_cube() -> None:
    words = 300
    scores = random_scores(words, dtype=torch.float32)
    cube = 4 * (words + 1) ** 3
    with MemoryMeter() as meter:
        materialised(scores)
    assert meter.peak > 2 * cube  # in float64: the meter does see it
    for function in (factored.marginals, factored.argmax):
        with MemoryMeter() as meter:
            function(*scores)
        assert 0 < meter.peak < cube / 4
