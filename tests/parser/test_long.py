"""Sentences whose sibling scores are computed as they are needed: the same trees as with all."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.parser.models import DECODERS, batch_of, decode, random_scorer, sentence_of, with_loss
from treecrf.ops.projective.trilinear import Factors
from treecrf.parser.decoding import decoder
from treecrf.parser.decoding.decoder import NoAllowedTreeError
from treecrf.parser.decoding.long import LongTreeCRF
from treecrf.parser.decoding.trees import Trees
from treecrf.parser.network.scorer import Scorer
from treecrf.treebank.trees import is_projective


def both_ways(
    words: int,
    decoder: str,
    monkeypatch: pytest.MonkeyPatch,
    *,
    multiroot: bool = False,
    allowed: Tensor | None = None,
    probs: bool = True,
    seed: int = 0,
    spread: float = 0.7,
) -> tuple[Trees, Trees]:
    """The tree by the plain path, and by the one for long sentences."""
    config = with_loss("crf2o", decoder=decoder, multiroot=multiroot)
    scorer = random_scorer(config, seed=seed, spread=spread)
    batch = batch_of([sentence_of(words, seed=seed)], config)
    decoded = partial(decode, scorer, batch, config=config, allowed=allowed, probs=probs)
    plain = decoded()
    with monkeypatch.context() as patch:
        patch.setattr(Scorer, "siblings", None)  # they would not fit into memory
        return plain, decoded(factored_cells=0)


def assert_same(plain: Trees, long: Trees) -> None:
    np.testing.assert_array_equal(long.heads, plain.heads)
    np.testing.assert_array_equal(long.relations, plain.relations)
    assert plain.probs is not None
    assert long.probs is not None
    np.testing.assert_allclose(long.probs[1:], plain.probs[1:], atol=1e-6)
    np.testing.assert_allclose(long.log_probs, plain.log_probs, rtol=1e-6, atol=1e-5)  # type: ignore[arg-type]
    np.testing.assert_array_equal(long.crossing, plain.crossing)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize("decoder", DECODERS)
def test_the_same_trees(decoder: str, multiroot: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (1, 2, 5, 9, 16):
        for seed in range(4):
            assert_same(*both_ways(words, decoder, monkeypatch, multiroot=multiroot, seed=seed))


def test_the_same_trees_that_cross(monkeypatch: pytest.MonkeyPatch) -> None:
    crossing = 0
    for seed in range(40):
        plain, long = both_ways(12, "mst", monkeypatch, seed=seed, spread=1.0)
        assert_same(plain, long)
        crossing += not is_projective(long.heads.tolist())
    assert crossing > 0


@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize("decoder", DECODERS)
def test_the_same_trees_with_constraints(
    decoder: str, multiroot: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = torch.ones(1, 8, 8, dtype=torch.bool)
    allowed[0, 5] = False
    allowed[0, 5, 2] = True
    allowed[0, 3, 4] = False
    for seed in range(4):
        plain, long = both_ways(
            7, decoder, monkeypatch, allowed=allowed, multiroot=multiroot, seed=seed
        )
        assert_same(plain, long)
        assert long.heads[5] == 2
        assert long.heads[3] != 4
    allowed[0, 3] = False
    allowed[0, 3, 7] = True  # crosses 2 -> 5
    for seed in range(4):
        plain, long = both_ways(
            7, decoder, monkeypatch, allowed=allowed, multiroot=multiroot, seed=seed
        )
        assert_same(plain, long)
        assert long.crossing is not None
        assert long.crossing.all()
        assert long.heads[[3, 5]].tolist() == [7, 2]


@pytest.mark.parametrize("decoder", DECODERS)
def test_what_no_tree_has(decoder: str) -> None:
    config = with_loss("crf2o", decoder=decoder)
    allowed = torch.zeros(1, 3, 3, dtype=torch.bool)
    allowed[0, 1, 2] = allowed[0, 2, 1] = True
    batch = batch_of([sentence_of(2)], config)
    with pytest.raises(NoAllowedTreeError, match="sentence 1"):
        decode(random_scorer(config), batch, config=config, allowed=allowed, factored_cells=0)


@pytest.mark.parametrize("decoder", DECODERS)
def test_probabilities_only_where_asked_for(decoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for decoded in both_ways(4, decoder, monkeypatch, probs=False):
        assert decoded.probs is None
        assert decoded.log_probs is None


def test_a_temperature_makes_no_second_copy_of_what_siblings_are_scored_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is gigabytes for thousands of words, and marginals are computed at two temperatures."""
    config = with_loss("crf2o", decoder="mbr").changed({"temperature": 2.0})
    batch = batch_of([sentence_of(12, seed=0)], config)
    kept: list[int] = []

    class Watched(LongTreeCRF):
        def __init__(
            self, arcs: Tensor, factors: Factors, lengths: Tensor, *, multiroot: bool
        ) -> None:
            kept.append(factors.forms.data_ptr())
            super().__init__(arcs, factors, lengths, multiroot=multiroot)

    monkeypatch.setattr(decoder, "LongTreeCRF", Watched)
    decode(random_scorer(config, seed=0), batch, config=config, probs=True, factored_cells=0)
    assert len(kept) == 2
    assert len(set(kept)) == 1
