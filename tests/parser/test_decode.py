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
    random_scorer,
    sentences_of,
    trees_of,
    with_loss,
)
from tests.struct.expected import Trees
from treecrf.parser import ParserError
from treecrf.parser.batching.batch import Batch
from treecrf.parser.config import Config
from treecrf.parser.decoding.decoder import Decoded, NoAllowedTreeError, decode, decode_best
from treecrf.parser.network.loss import masked_heads
from treecrf.parser.network.scorer import Scorer
from treecrf.treebank.trees import is_projective

LENGTHS = [3, 5, 0, 1, 4, 2]
NEGATIVE_INFINITY = float("-inf")


def check(
    scorer: Scorer, batch: Batch, config: Config, decoded: Decoded, allowed: Tensor | None
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
        heads = torch.from_numpy(decoded.heads[row])
        fallen_back = not len(family.heads)
        assert fallen_back == (decoded.crossing is not None and bool(decoded.crossing[row]))
        assert is_best(heads, all_of_them if fallen_back else family, all_of_them, config)
        by_head = (all_of_them if fallen_back else family).marginals
        if config.loss == "local":
            by_head = softmax[row]
        words = torch.arange(1, family.words + 1)
        probs = torch.from_numpy(decoded.probs[row])[words]
        torch.testing.assert_close(probs, by_head.detach()[words, heads[words]])
        log_prob = (all_of_them if fallen_back else family).log_prob(heads)
        assert decoded.log_probs[row] == pytest.approx(log_prob.item(), abs=1e-9)


def is_best(heads: Tensor, family: Trees, every: Trees, config: Config) -> bool:
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
        assert decoded.crossing is None
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
        for heads, length, value in zip(
            decoded.heads.tolist(), batch.lengths.tolist(), decoded.log_probs, strict=True
        ):
            projective = is_projective(heads[: length + 1])
            assert (value > NEGATIVE_INFINITY) == projective
            crossing += not projective
    assert crossing > 0


@pytest.mark.parametrize("loss", LOSSES)
def test_labels_are_the_best_for_the_heads(loss: str) -> None:
    config = with_loss(loss)
    seen = set()
    for seed in range(4):
        scorer = random_scorer(config, seed=seed)
        batch = batch_of(sentences_of(LENGTHS), config)
        decoded = decode(scorer, batch, config=config)
        labels = scorer.labels(scorer(batch), batch, torch.from_numpy(decoded.heads))
        best = batch.unpack(labels).argmax(2)
        for row, length in enumerate(batch.lengths.tolist()):
            words = slice(1, length + 1)
            assert decoded.relations[row, words].tolist() == best[row, words].tolist()
            assert not decoded.heads[row, length + 1 :].any()
            seen |= set(decoded.relations[row, words].tolist())
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
    batch = batch_of(sentences_of([3, 0, 1, 4, 2]), config)
    allowed = torch.ones(5, 5, 5, dtype=torch.bool)
    allowed[0, 2, 0] = allowed[1, 1, 3] = False
    for limits in (None, allowed):
        expected = trees_of(scorer, batch, config, allowed=limits)
        softmax = masked_heads(scorer.arcs(scorer(batch), batch), batch.lengths, limits).softmax(2)
        k = 20
        ranked = decode_best(scorer, batch, k, config=config, allowed=limits)
        assert len(ranked) == k
        for row, trees in enumerate(expected.sentences):
            order = trees.scores.argsort(descending=True)
            seen = set()
            for rank, decoded in enumerate(ranked):
                heads = torch.from_numpy(decoded.heads[row])
                if rank >= len(trees.heads):
                    assert (heads == -1).all()
                    continue
                index = trees.index(heads)
                seen.add(index)
                torch.testing.assert_close(trees.scores[index], trees.scores[order[rank]])
                assert decoded.log_probs is not None
                assert decoded.log_probs[row] == pytest.approx(trees.log_probs[index].item())
                by_head = softmax[row] if loss == "local" else trees.marginals
                words = torch.arange(1, trees.words + 1)
                assert decoded.probs is not None
                probs = torch.from_numpy(decoded.probs[row])[words]
                torch.testing.assert_close(probs, by_head[words, heads[words]].detach())
                labels = scorer.labels(scorer(batch), batch, torch.from_numpy(decoded.heads))
                own = batch.unpack(labels)[row, words].argmax(1)
                assert decoded.relations[row, 1 : trees.words + 1].tolist() == own.tolist()
            assert len(seen) == min(k, len(trees.heads))
