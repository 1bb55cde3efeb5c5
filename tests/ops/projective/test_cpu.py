"""The compiled projective families against enumeration and against the torch reference."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.enumeration import adjacent_sibling, all_trees, is_projective, is_tree
from treecrf.ops.projective import cpu, reference

INFINITY = float("inf")
NAN = float("nan")
# Seven sentences: the last group of lanes is not full.
LENGTHS = [6, 0, 3, 1, 5, 2, 4]

Scores = tuple[Tensor, ...]  # arc scores, and in the second order sibling scores


@pytest.fixture(params=["first_order", "second_order"])
def family(request: pytest.FixtureRequest) -> str:
    return request.param


def random_batch(
    family: str,
    lengths: list[int],
    *,
    multiroot: bool,
    scale: float = 1.0,
    forbidden: float = 0.0,
    junk: float = NAN,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> tuple[Scores, Tensor]:
    """Scores in the shape that the operations take, with junk in unused sibling cells."""
    generator = torch.Generator().manual_seed(seed)
    batch, tokens = len(lengths), max(lengths, default=0) + 1
    counts = torch.tensor(lengths, dtype=torch.int64)

    def draw(*shape: int) -> Tensor:
        scores = scale * torch.randn(shape, dtype=torch.float64, generator=generator)
        gone = torch.rand(shape, generator=generator) < forbidden
        return scores.masked_fill(gone, -INFINITY).to(dtype)

    token = torch.arange(tokens)
    inside = token <= counts[:, None]
    usable = (inside & (token > 0))[:, :, None] & inside[:, None] & (token[:, None] != token)
    arcs = draw(batch, tokens, tokens).masked_fill(~usable, -INFINITY)
    best = arcs.amax(2, keepdim=True)
    arcs = arcs - best.where(best > -INFINITY, 0.0)
    if family == "first_order":
        return (arcs,), counts
    dependent, head, sibling = torch.meshgrid(token, token, token, indexing="ij")
    used = ((sibling - head) * (dependent - sibling) > 0) & ((head > 0) | multiroot)
    usable = arcs > -INFINITY
    used = used & usable[:, :, :, None] & usable.mT[:, None]
    siblings = draw(batch, tokens, tokens, tokens).masked_fill(~used, junk)
    return (arcs, siblings), counts


@cache
def tree_tensors(words: int, multiroot: bool) -> tuple[Tensor, Tensor]:
    """Heads and adjacent siblings (0 for none) of all trees, both `[tree, words + 1]`."""
    trees = all_trees(words, projective=True, multiroot=multiroot)
    siblings = [[0] + [adjacent_sibling(tree, m) for m in range(1, words + 1)] for tree in trees]
    return torch.tensor(trees), torch.tensor(siblings)


def tree_scores(scores: Scores, heads: Tensor, siblings: Tensor) -> Tensor:
    """Scores `[tree]` of trees of one sentence, in float64."""
    dependents = torch.arange(heads.shape[1])
    values = scores[0].double()[dependents, heads][:, 1:].sum(1)
    if len(scores) > 1:
        parts = scores[1].double()[dependents, heads, siblings]
        values = values + parts.where(siblings > 0, 0.0).sum(1)
    return values


def ranked_trees(
    scores: Scores, sentence: int, words: int, multiroot: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Heads, adjacent siblings and scores of the trees that exist, best first."""
    heads, siblings = tree_tensors(words, multiroot)
    values = tree_scores(tuple(part[sentence] for part in scores), heads, siblings)
    values, order = values.sort(descending=True)
    order = order[values > -INFINITY]
    return heads[order], siblings[order], values[values > -INFINITY]


def enumerated(
    scores: Scores, sentence: int, words: int, multiroot: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """log Z, arc marginals and sibling marginals of one sentence."""
    heads, siblings, values = ranked_trees(scores, sentence, words, multiroot)
    tokens = scores[0].shape[1]
    arcs = torch.zeros(tokens, tokens, dtype=torch.float64)
    pairs = torch.zeros(tokens, tokens, tokens, dtype=torch.float64)
    log_partition = values.logsumexp(0)
    for tree, row, probability in zip(heads, siblings, (values - log_partition).exp(), strict=True):
        dependents = torch.arange(1, words + 1)
        arcs[dependents, tree[1:]] += probability
        with_sibling = dependents[row[1:] > 0]
        pairs[with_sibling, tree[with_sibling], row[with_sibling]] += probability
    return log_partition, arcs, pairs


KINDS = {
    "plain": {},
    "constrained": {"forbidden": 0.25},
    "nearly impossible": {"forbidden": 0.6},
    "steep": {"scale": 300.0},
    "infinite junk": {"junk": INFINITY, "forbidden": 0.25},
}


@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_all_trees(family: str, multiroot: bool, kind: str) -> None:
    scores, lengths = random_batch(family, LENGTHS, multiroot=multiroot, **KINDS[kind])
    value, arcs = cpu.marginals(scores, lengths, multiroot=multiroot)
    assert torch.equal(cpu.log_partition(scores, lengths, multiroot=multiroot), value)
    expected = [enumerated(scores, b, n, multiroot) for b, n in enumerate(LENGTHS)]
    tolerance = {"rtol": 1e-12, "atol": 1e-9}
    torch.testing.assert_close(value, torch.stack([each[0] for each in expected]), **tolerance)
    torch.testing.assert_close(arcs, torch.stack([each[1] for each in expected]), **tolerance)
    if family == "second_order":
        results = cpu.part_marginals(scores, lengths, multiroot=multiroot)
        pairs = torch.stack([each[2] for each in expected])
        torch.testing.assert_close(results, (value, arcs, pairs), **tolerance)


@pytest.mark.parametrize("kind", KINDS)
def test_best_trees(family: str, multiroot: bool, kind: str) -> None:
    scores, lengths = random_batch(family, LENGTHS, multiroot=multiroot, seed=1, **KINDS[kind])
    k = 200
    best = cpu.argmax(scores, lengths, multiroot=multiroot)
    lists = cpu.topk(scores, lengths, k, multiroot=multiroot)
    assert best.dtype == lists.dtype == torch.int64
    for sentence, words in enumerate(LENGTHS):
        heads, _, _ = ranked_trees(scores, sentence, words, multiroot)
        expected = torch.full((k, max(LENGTHS) + 1), -1)
        expected[: len(heads)] = 0
        expected[: len(heads), : words + 1] = heads[:k]
        assert torch.equal(lists[sentence], expected)
        assert torch.equal(best[sentence], expected[0])


def test_float32(family: str, multiroot: bool) -> None:
    scores, lengths = random_batch(
        family, LENGTHS, multiroot=multiroot, scale=3.0, forbidden=0.1, dtype=torch.float32
    )
    expected = [enumerated(scores, b, n, multiroot) for b, n in enumerate(LENGTHS)]
    names = ["marginals"] if family == "first_order" else ["marginals", "part_marginals"]
    for name in names:
        results = getattr(cpu, name)(scores, lengths, multiroot=multiroot)
        for result, wanted in zip(results, zip(*expected, strict=True), strict=False):
            assert result.dtype == torch.float32
            torch.testing.assert_close(result.double(), torch.stack(wanted), rtol=1e-6, atol=1e-5)
    best = cpu.argmax(scores, lengths, multiroot=multiroot)
    lists = cpu.topk(scores, lengths, 3, multiroot=multiroot)
    assert torch.equal(lists[:, 0], best)
    drawn = cpu.sample(scores, lengths, 50, multiroot=multiroot, generator=None)
    for sentence, words in enumerate(LENGTHS):
        heads, _, _ = ranked_trees(scores, sentence, words, multiroot)
        existing = {tuple(tree) for tree in heads.tolist()}
        if existing:
            assert best[sentence, : words + 1].tolist() == heads[0].tolist()
            assert {tuple(tree) for tree in drawn[:, sentence, : words + 1].tolist()} <= existing


def test_no_tree(family: str, multiroot: bool) -> None:
    scores, lengths = random_batch(family, [3, 2, 4], multiroot=multiroot)
    scores[0][1, 2] = -INFINITY  # the last word of the second sentence has no head
    value, marginals = cpu.marginals(scores, lengths, multiroot=multiroot)
    assert value[1] == -INFINITY
    assert value[[0, 2]].isfinite().all()
    assert (marginals[1] == 0).all()
    assert (cpu.argmax(scores, lengths, multiroot=multiroot)[1] == -1).all()
    assert (cpu.topk(scores, lengths, 2, multiroot=multiroot)[1] == -1).all()
    drawn = cpu.sample(scores, lengths, 2, multiroot=multiroot, generator=None)
    assert (drawn[:, 1] == -1).all()
    assert (drawn[:, [0, 2]] >= 0).all()


def test_empty_batch(family: str) -> None:
    scores = (torch.zeros(0, 4, 4), torch.zeros(0, 4, 4, 4))[: 1 + (family == "second_order")]
    lengths = torch.zeros(0, dtype=torch.int64)
    value, marginals = cpu.marginals(scores, lengths, multiroot=False)
    assert value.shape == (0,)
    assert marginals.shape == (0, 4, 4)
    assert cpu.argmax(scores, lengths, multiroot=False).shape == (0, 4)
    assert cpu.topk(scores, lengths, 3, multiroot=False).shape == (0, 3, 4)
    drawn = cpu.sample(scores, lengths, 3, multiroot=False, generator=None)
    assert drawn.shape == (3, 0, 4)


def test_a_single_arc_keeps_its_score() -> None:
    """The exponential and the logarithm of the kernels, over all magnitudes."""
    numbers = torch.cat([torch.linspace(-1e4, 1e4, 4001), torch.linspace(-1, 1, 4001)]).double()
    arcs = torch.full((len(numbers), 2, 2), -INFINITY, dtype=torch.float64)
    arcs[:, 1, 0] = numbers
    lengths = torch.ones(len(numbers), dtype=torch.int64)
    value = cpu.log_partition((arcs,), lengths, multiroot=False)
    torch.testing.assert_close(value, numbers, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("scale", [1e4, 1e9, 1e30])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_scores(family: str, multiroot: bool, scale: float, dtype: torch.dtype) -> None:
    lengths = [40, 1, 25, 33, 12]
    scores, counts = random_batch(
        family, lengths, multiroot=multiroot, scale=scale, forbidden=0.1, dtype=dtype
    )
    scores[0].diagonal(-1, 1, 2)[:, :] = 0.0  # a chain of arcs, so that there is a tree
    for sentence, words in enumerate(lengths):
        scores[0][sentence, words + 1 :] = -INFINITY
    value, marginals = cpu.marginals(scores, counts, multiroot=multiroot)
    assert value.isfinite().all()
    words = torch.arange(41)
    is_word = (words > 0) & (words <= counts[:, None])
    torch.testing.assert_close(marginals.sum(2), is_word.to(dtype), rtol=0, atol=1e-5)
    assert (marginals >= 0).all()
    assert (cpu.argmax(scores, counts, multiroot=multiroot) >= 0).all()
    if family == "second_order":
        _, arcs, pairs = cpu.part_marginals(scores, counts, multiroot=multiroot)
        assert torch.equal(arcs, marginals)
        # A word has at most one adjacent sibling towards its head.
        assert (pairs.sum(3) <= arcs + 1e-5).all()


@pytest.mark.parametrize(("lengths", "multiroot"), [([127, 64], False), ([63, 1, 30], True)])
def test_long_sentences(family: str, lengths: list[int], multiroot: bool) -> None:
    scores, counts = random_batch(family, lengths, multiroot=multiroot, scale=2.0, junk=0.0)
    name = "marginals" if family == "first_order" else "part_marginals"
    results = getattr(cpu, name)(scores, counts, multiroot=multiroot)
    expected = getattr(reference, name)(scores, counts, multiroot=multiroot)
    for result, wanted in zip(results, expected, strict=True):
        torch.testing.assert_close(result, wanted, rtol=1e-12, atol=1e-9)


def test_long_best_trees(family: str, multiroot: bool) -> None:
    lengths = [100, 63, 64, 1, 31]
    scores, counts = random_batch(family, lengths, multiroot=multiroot, junk=0.0)
    # log Z of steep scores is the score of the best tree.
    steep = tuple(1e9 * part for part in scores)
    largest = cpu.log_partition(steep, counts, multiroot=multiroot) / 1e9
    lists = cpu.topk(scores, counts, 8, multiroot=multiroot)
    assert torch.equal(lists[:, 0], cpu.argmax(scores, counts, multiroot=multiroot))
    for sentence, words in enumerate(lengths):
        trees = [tuple(tree) for tree in lists[sentence, :, : words + 1].tolist() if tree[0] == 0]
        assert len(set(trees)) == len(trees) == (8 if words > 1 else 1)
        assert all(is_tree(tree) and is_projective(tree) for tree in trees)
        siblings = [
            [0] + [adjacent_sibling(tree, m) for m in range(1, words + 1)] for tree in trees
        ]
        own = tuple(part[sentence] for part in scores)
        values = tree_scores(own, torch.tensor(trees), torch.tensor(siblings))
        torch.testing.assert_close(values[0], largest[sentence], rtol=0, atol=1e-6)
        assert (values.diff() <= 1e-12).all()


def test_samples_follow_the_distribution(family: str, multiroot: bool) -> None:
    lengths, draws = [4, 0, 2, 3, 1], 20_000
    scores, counts = random_batch(family, lengths, multiroot=multiroot, seed=2)
    drawn = cpu.sample(
        scores,
        counts,
        draws,
        multiroot=multiroot,
        generator=torch.Generator().manual_seed(0),
    )
    assert drawn.shape == (draws, 5, 5)
    for sentence, words in enumerate(lengths):
        heads, _, values = ranked_trees(scores, sentence, words, multiroot)
        trees, frequencies = drawn[:, sentence, : words + 1].unique(dim=0, return_counts=True)
        found = {tuple(tree): int(n) for tree, n in zip(trees.tolist(), frequencies, strict=True)}
        assert set(found) <= {tuple(tree) for tree in heads.tolist()}
        assert (drawn[:, sentence, words + 1 :] == 0).all()
        for tree, probability in zip(heads.tolist(), values.softmax(0).tolist(), strict=True):
            deviation = (draws * probability * (1 - probability)) ** 0.5
            assert abs(found.get(tuple(tree), 0) - draws * probability) <= 5 * deviation + 1e-6


def test_samples_depend_on_the_generator_only(family: str) -> None:
    scores, lengths = random_batch(family, [40] * 9, multiroot=False, seed=3)

    def draw(seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return cpu.sample(scores, lengths, 4, multiroot=False, generator=generator)

    first = draw(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    again = draw(0)
    torch.set_num_threads(threads)
    assert torch.equal(first, again)
    assert not torch.equal(first, draw(1))


PROGRAM = """
import sys
import torch
import treecrf.ops
assert "numba" not in sys.modules
from treecrf.ops.projective import cpu
from treecrf.ops.projective.decoding import best_trees
scores = torch.tensor([[[-torch.inf, -torch.inf], [0.0, -torch.inf]]])
assert cpu.argmax((scores,), torch.tensor([1]), multiroot=False).tolist() == [[0, 0]]
print(sum(best_trees.stats.cache_hits.values()), sum(best_trees.stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_a_second_process_finds_the_kernels_on_disk(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        ).stdout.split()
        for _ in range(2)
    ]
    assert outputs == [["0", "1"], ["1", "0"]]
