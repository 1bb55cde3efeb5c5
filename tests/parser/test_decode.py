"""Decoders against a list of all trees: the best one, how probable it is, what is held."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.parser.models import (
    DECODERS,
    LOSSES,
    batch_of,
    decode,
    grid_of,
    random_scorer,
    row_of,
    sentences_of,
    trees_of,
    with_loss,
)
from tests.struct.expected import Trees as EveryTree
from treecrf.parser import ParserError
from treecrf.parser.batching.batch import Batch
from treecrf.parser.config import Config
from treecrf.parser.decoding.decoder import Decoding, NoAllowedTreeError
from treecrf.parser.decoding.trees import Trees
from treecrf.parser.network.loss import masked_heads
from treecrf.parser.network.scorer import Scorer
from treecrf.treebank.trees import is_projective

LENGTHS = [3, 5, 0, 1, 4, 2]
NEGATIVE_INFINITY = float("-inf")


def check(
    scorer: Scorer, batch: Batch, config: Config, decoded: Trees, allowed: Tensor | None
) -> None:
    """The trees of a batch are the best ones, with the probabilities that they have."""
    spans_all = config.loss == "nonprojective" or (
        config.loss == "local" and config.resolved_decoder == "mst"
    )
    own = trees_of(scorer, batch, config, allowed=allowed, crossing=spans_all)
    every = trees_of(scorer, batch, config, allowed=allowed, crossing=True)
    arcs = scorer.arcs(scorer(batch), batch)
    softmax = masked_heads(arcs, batch.lengths, allowed).softmax(2).detach()
    assert decoded.probs is not None
    assert decoded.log_probs is not None
    for row, (family, all_of_them) in enumerate(zip(own.sentences, every.sentences, strict=True)):
        heads = torch.from_numpy(decoded.heads[row_of(decoded, row)])
        fallen_back = not len(family.heads)
        assert decoded.crossing is not None
        assert fallen_back == bool(decoded.crossing[row])
        assert is_best(heads, all_of_them if fallen_back else family, all_of_them, config)
        by_head = (all_of_them if fallen_back else family).marginals
        if config.loss == "local":
            by_head = softmax[row]
        words = torch.arange(1, family.words + 1)
        probs = torch.from_numpy(decoded.probs[row_of(decoded, row)])[words]
        torch.testing.assert_close(probs, by_head.detach()[words, heads[words]])
        log_prob = (all_of_them if fallen_back else family).log_prob(heads)
        assert decoded.log_probs[row] == pytest.approx(log_prob.item(), abs=1e-9)


def is_best(heads: Tensor, family: EveryTree, every: EveryTree, config: Config) -> bool:
    decoder = config.resolved_decoder
    if decoder == "mst" and config.learns_projective and family is not every:
        # Any tree may be taken, and the marginals are those of projective ones.
        words = torch.arange(1, family.words + 1)
        gains = family.marginals.detach()[words, every.heads[:, 1:]].sum(1)
        return bool(gains[every.index(heads)] >= gains.max() - 1e-9)
    if decoder == "mbr" and (family is not every or config.loss == "nonprojective"):
        return bool(family.gains[family.index(heads)] >= family.gains.max() - 1e-9)
    return bool(family.scores[family.index(heads)] >= family.scores.max() - 1e-9)


@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_trees_and_their_probabilities(loss: str, decoder: str, multiroot: bool) -> None:
    config = with_loss(loss, decoder=decoder, multiroot=multiroot)
    for seed in range(4):
        scorer = random_scorer(config, seed=seed)
        batch = batch_of(sentences_of(LENGTHS, seed=seed), config)
        decoded = decode(scorer, batch, config=config, probs=True)
        assert decoded.crossing is not None
        assert not decoded.crossing.any()
        check(scorer, batch, config, decoded, None)
        plain = decode(scorer, batch, config=config)
        assert plain.probs is None
        assert plain.log_probs is None
        np.testing.assert_array_equal(plain.heads, decoded.heads)
        np.testing.assert_array_equal(plain.relations, decoded.relations)


@pytest.mark.parametrize("loss", ["crf", "crf2o"])
def test_a_tree_that_crosses_is_none_of_a_distribution_over_projective_trees(loss: str) -> None:
    config = with_loss(loss, decoder="mst")
    crossing = 0
    for seed in range(28, 60):
        scorer = random_scorer(config, seed=seed, spread=1.0)
        batch = batch_of(sentences_of([12, 11, 10, 9], seed=seed), config)
        decoded = decode(scorer, batch, config=config, probs=True)
        assert decoded.log_probs is not None
        for row, value in enumerate(decoded.log_probs):
            projective = is_projective(decoded.heads[row_of(decoded, row)].tolist())
            assert (value > NEGATIVE_INFINITY) == projective
            crossing += not projective
    assert crossing > 0


@pytest.mark.parametrize("loss", LOSSES)
def test_relations_are_the_best_for_the_heads(loss: str) -> None:
    config = with_loss(loss)
    seen = set()
    for seed in range(4):
        scorer = random_scorer(config, seed=seed)
        batch = batch_of(sentences_of(LENGTHS), config)
        decoded = decode(scorer, batch, config=config)
        heads = torch.from_numpy(grid_of(decoded, decoded.heads))
        best = batch.unpack(scorer.relations(scorer(batch), batch, heads)).argmax(2)
        for row, length in enumerate(batch.lengths.tolist()):
            relations = decoded.relations[row_of(decoded, row)][1:].tolist()
            assert relations == best[row, 1 : length + 1].tolist()
            seen |= set(relations)
    assert seen == {0, 1, 2}


@st.composite
def allowed_masks(draw: st.DrawFn, lengths: list[int]) -> Tensor:
    """Heads that are kept and heads that are ruled out, `[batch, dependent, head]`."""
    width = max(lengths) + 1
    allowed = torch.ones(len(lengths), width, width, dtype=torch.bool)
    for row, length in enumerate(lengths):
        for word in range(1, length + 1):
            head = draw(st.integers(-3, length))  # a third or so of the words is held
            if head >= 0 and head != word:
                allowed[row, word] = False
                allowed[row, word, head] = True
            elif draw(st.integers(0, 4)) == 0:
                allowed[row, word, draw(st.integers(0, length))] = False
    return allowed


@settings(max_examples=120)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=3).map(lambda x: sorted(x, reverse=True)),
    st.sampled_from(LOSSES),
    st.sampled_from(DECODERS),
    st.booleans(),
    st.integers(0, 9),
    st.data(),
)
def test_constraints_always_hold(
    lengths: list[int],
    loss: str,
    decoder: str,
    multiroot: bool,
    seed: int,
    data: st.DataObject,
) -> None:
    """Sentences that no projective tree is allowed for have the best of those that cross."""
    config = with_loss(loss, decoder=decoder, multiroot=multiroot)
    scorer = random_scorer(config, seed=seed)
    batch = batch_of(sentences_of(lengths, seed=seed), config)
    allowed = data.draw(allowed_masks(lengths))
    every = trees_of(scorer, batch, config, allowed=allowed, crossing=True)
    impossible = [row for row, trees in enumerate(every.sentences) if not len(trees.heads)]
    if impossible:
        with pytest.raises(NoAllowedTreeError) as caught:
            decode(scorer, batch, config=config, allowed=allowed, probs=True)
        assert caught.value.row in [int(batch.rows[row]) for row in impossible]
        return
    decoded = decode(scorer, batch, config=config, allowed=allowed, probs=True)
    check(scorer, batch, config, decoded, allowed)


def test_an_impossible_sentence_is_named() -> None:
    config = with_loss("crf")
    batch = batch_of(sentences_of([1, 2, 3]), config)
    allowed = torch.ones(3, 4, 4, dtype=torch.bool)
    allowed[1, 1], allowed[1, 2] = False, False  # of two words, in the second row of the batch
    allowed[1, 1, 2] = allowed[1, 2, 1] = True
    with pytest.raises(ParserError, match="sentence 2: no tree has the heads") as caught:
        decode(random_scorer(config), batch, config=config, allowed=allowed)
    assert isinstance(caught.value, NoAllowedTreeError)
    assert caught.value.row == 1
    assert str(caught.value.named("file:7")).startswith("file:7: no tree has the heads")


@pytest.mark.parametrize("multiroot", [False, True], ids=["single root", "multiroot"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_k_best_trees(loss: str, multiroot: bool) -> None:
    config = with_loss(loss, multiroot=multiroot)
    scorer = random_scorer(config)
    k = 20
    for sentence in sentences_of([3, 0, 1, 4, 2]):
        batch = batch_of([sentence], config)
        forbidden = torch.ones(1, *batch.grid[1:] * 2, dtype=torch.bool)
        forbidden[:, 2:3, 0] = forbidden[:, 1:2, 3:4] = False
        for allowed in (None, forbidden):
            (trees,) = trees_of(scorer, batch, config, allowed=allowed).sentences
            arcs = scorer.arcs(scorer(batch), batch)
            softmax = masked_heads(arcs, batch.lengths, allowed).softmax(2)[0]
            with torch.inference_mode():
                found = Decoding(scorer, batch, config=config, allowed=allowed).list_best(k)
            assert len(found) == min(k, len(trees.heads))
            assert found.log_probs is not None
            order = trees.scores.argsort(descending=True)
            words = torch.arange(1, trees.words + 1)
            seen = set()
            for rank, (heads, probs, relations) in enumerate(
                zip(
                    grid_of(found, found.heads),
                    grid_of(found, found.probs),
                    grid_of(found, found.relations),
                    strict=True,
                )
            ):
                tree = torch.from_numpy(heads)
                index = trees.index(tree)
                seen.add(index)
                torch.testing.assert_close(trees.scores[index], trees.scores[order[rank]])
                assert found.log_probs[rank] == pytest.approx(trees.log_probs[index].item())
                by_head = softmax if loss == "local" else trees.marginals
                expected = by_head[words, tree[words]].detach()
                torch.testing.assert_close(torch.from_numpy(probs)[words], expected)
                scores = scorer.relations(scorer(batch), batch, tree.unsqueeze(0))
                assert relations[1:].tolist() == scores[1:].argmax(1).tolist()
            assert len(seen) == len(found)
