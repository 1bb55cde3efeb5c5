"""MBR heads without a chart where the most probable heads are a tree, and what tells a tree."""

import itertools
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from tests.parser.models import batch_of, decode, random_scorer, sentences_of, with_loss
from tests.struct.problems import Problem, problems, random_problem
from treecrf.ops import use_backend
from treecrf.parser.decoding import mbr as mbr_module
from treecrf.parser.decoding.mbr import _greedy_heads, is_projective_tree, mbr_heads
from treecrf.parser.network.loss import TreeScores
from treecrf.struct import ProjectiveTreeCRF
from treecrf.treebank.trees import is_projective, is_tree

PROJECTIVE = ["first_order", "second_order"]


def gains(marginals: Tensor, heads: Tensor, lengths: Tensor) -> Tensor:
    token = torch.arange(heads.shape[1])
    is_word = (token > 0) & (token <= lengths[:, None])
    chosen = marginals.gather(2, heads.clamp(min=0).unsqueeze(2)).squeeze(2)
    return torch.where(is_word, chosen, 0).sum(1)


@pytest.mark.parametrize("family", PROJECTIVE)
def test_the_same_sum_of_marginals_as_the_chart(family: str) -> None:
    @settings(max_examples=100)
    @given(problems(family, words=7, sentences=5))
    def check(problem: Problem) -> None:
        # The scores of a model are finite: `allowed` is what forbids.
        finite = [part.nan_to_num(0.0, 0.0, 0.0) for part in problem.scores]
        usable = problem.usable_arcs & (problem.arc_scores > float("-inf"))
        problem = replace(problem.with_scores(*finite), allowed=usable)
        crf = problem.distribution(validate=False)
        heads, expected = mbr_heads(crf, problem.allowed), crf.mbr
        assert ((heads < 0) == (expected < 0)).all()
        exists = expected[:, 0] >= 0
        found, best = (gains(crf.marginals, trees, crf.lengths) for trees in (heads, expected))
        torch.testing.assert_close(found[exists], best[exists], rtol=0, atol=1e-5)
        own = is_projective_tree(heads.clamp(min=0), crf.lengths, multiroot=crf.multiroot)
        assert own[exists].all()
        allowed = usable.gather(2, heads.clamp(min=0).unsqueeze(2)).squeeze(2)
        assert (allowed[:, 1:] | (heads[:, 1:] <= 0)).all()

    check()


def test_compiled_heads_are_those_of_torch() -> None:
    torch.manual_seed(0)
    lengths = torch.tensor([6, 5, 4, 3, 2, 1, 0] * 40)
    for scale in (0.3, 3.0):
        marginals = (torch.randn(len(lengths), 7, 7) * scale).softmax(2)
        beyond = torch.arange(7) > lengths[:, None]
        marginals = marginals.masked_fill(beyond[:, None], 0).masked_fill(torch.eye(7).bool(), 0)
        for multiroot in (False, True):
            found = _greedy_heads(marginals, lengths, multiroot=multiroot)
            with use_backend("torch"):
                expected = _greedy_heads(marginals, lengths, multiroot=multiroot)
            assert 0 < int(expected[1].sum()) < len(lengths)
            assert all(map(torch.equal, found, expected))


@pytest.mark.parametrize("family", PROJECTIVE)
def test_no_chart_where_the_most_probable_heads_are_a_tree(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    charts = []

    class Counted(ProjectiveTreeCRF):
        def __init__(self, arc_scores: Tensor, lengths: Tensor, *rest: object, **named: object):
            charts.append(lengths.tolist())
            super().__init__(arc_scores, lengths, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(mbr_module, "ProjectiveTreeCRF", Counted)
    problem = random_problem(family, [6, 4, 3, 0], magnitude=0.1, junk=0.0)
    with torch.no_grad():
        for word in range(1, 7):  # a chain is by far the best tree
            problem.arc_scores[:, word, word - 1] += 20
    mbr_heads(problem.distribution())
    assert charts == []
    # Two words that are sure of each other are no tree: that sentence alone has a chart.
    confused = torch.tensor(
        [[[0, 0, 0], [1.0, 0, 1.2], [1.0, 1.2, 0]], [[0, 0, 0], [5, 0, 0], [0, 5, 0]]]
    )
    crf = TreeScores(confused).distribution(torch.tensor([2, 2]), config=with_loss("crf"))
    heads = torch.where(torch.tensor([False, True, True]), crf.marginals.argmax(2), 0)
    assert is_projective_tree(heads, crf.lengths, multiroot=False).tolist() == [False, True]
    charts.clear()
    mbr_heads(crf)
    assert charts == [[2]]


def test_no_tree_is_told_from_a_tree_at_the_root() -> None:
    """Without a tree all marginals are 0, and so is each word's first best head: the root."""
    config = with_loss("crf", multiroot=True)
    batch = batch_of(sentences_of([4]), config)
    allowed = torch.ones(1, 5, 5, dtype=torch.bool)
    allowed[0, 1], allowed[0, 2] = False, False
    allowed[0, 1, 3] = allowed[0, 2, 4] = True  # these two arcs cross
    decoded = decode(random_scorer(config), batch, config=config, allowed=allowed)
    assert decoded.heads[1] == 3
    assert decoded.heads[2] == 4
    assert decoded.crossing is not None
    assert decoded.crossing.tolist() == [True]


@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize("padding", [0, 2])
def test_projective_trees_are_told_from_others(multiroot: bool, padding: int) -> None:
    """All heads of up to five words."""
    for words in range(6):
        rows = list(itertools.product(range(words + 1), repeat=words))
        heads = torch.tensor([[0, *row, *[0] * padding] for row in rows])
        lengths = torch.full((len(rows),), words)
        found = is_projective_tree(heads, lengths, multiroot=multiroot).tolist()
        for row, answer in zip(rows, found, strict=True):
            expected = is_tree([0, *row], multiroot=multiroot) and is_projective([0, *row])
            assert answer == expected, row


def test_trees_of_mixed_lengths_and_long_chains() -> None:
    heads = torch.zeros(4, 70, dtype=torch.int64)
    heads[0, 1:] = torch.arange(69)
    heads[1, 2:70] = torch.arange(1, 69)
    heads[1, 1] = 69  # a cycle of 69 words
    heads[2, 2] = 1
    lengths = torch.tensor([69, 69, 2, 0])
    found = is_projective_tree(heads, lengths, multiroot=False)
    assert found.tolist() == [True, False, True, True]
