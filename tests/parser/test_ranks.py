"""What processes that train together share: batches by words, and losses that add up."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.parser.models import LOSSES, SMALL, VOCABULARY, random_scorer
from treecrf.parser.batching.batch import make_batch
from treecrf.parser.batching.encoding import encode, encode_annotation
from treecrf.parser.batching.gold import count_words
from treecrf.parser.network.loss import training_loss
from treecrf.parser.training.ranks import ALONE, Ranks
from treecrf.treebank import Sentence, Token


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_each_has_as_many_words_as_the_others(size: int) -> None:
    draw = np.random.default_rng(0)
    lengths = draw.integers(5, 30, 400)
    rows = draw.permutation(400)[:50]
    parts = [Ranks(rank, size).part_of(rows, lengths) for rank in range(size)]
    assert sorted(np.concatenate(parts)) == sorted(rows)
    words = [int(lengths[part].sum()) for part in parts]
    assert max(words) - min(words) <= lengths.max()


def test_a_process_may_have_nothing_to_do() -> None:
    parts = [Ranks(rank, 3).part_of(np.array([7]), np.full(8, 5)) for rank in range(3)]
    assert [part.tolist() for part in parts] == [[7], [], []]


def annotated(number: int) -> Sentence:
    """A sentence of its own length; every third word has no head or no tag."""
    tokens = [
        Token(
            word,
            "abc"[(number + word) % 3],
            upos="_" if (number + word) % 3 == 0 else "NOUN",
            head=-1 if (number + word) % 3 == 1 else word - 1,
            deprel="xyz"[number % 3],
        )
        for word in range(1, 2 + number % 6)
    ]
    return Sentence.from_tokens(tokens)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_losses_of_parts_add_up(loss: str) -> None:
    """To that of the whole batch and its gradients, though some words are not annotated."""
    config = replace(SMALL, predict=("upos",)).changed({"loss": loss})
    sentences = [annotated(number) for number in range(12)]
    scorer = random_scorer(config)
    encoded = encode(sentences, VOCABULARY, config)
    annotation = encode_annotation(sentences, VOCABULARY, config)
    rows = np.arange(len(sentences))
    whole = training_loss(scorer, make_batch(encoded, rows, annotation=annotation), config)
    whole.backward()
    expected = [weights.grad for weights in scorer.parameters()]
    scorer.zero_grad()
    counts = count_words(encoded, annotation, rows)
    assert (counts.heads, counts.relations, counts.columns) == (28, 28, {"upos": 28})
    total = torch.zeros((), dtype=torch.float64)
    for rank in range(3):
        part = Ranks(rank, 3).part_of(rows, encoded.lengths)
        batch = make_batch(encoded, part, annotation=annotation)
        loss_of_part = training_loss(scorer, batch, config, counts=counts)
        loss_of_part.backward()
        total += loss_of_part.detach()
    torch.testing.assert_close(total, whole.detach())
    for weights, gradient in zip(scorer.parameters(), expected, strict=True):
        torch.testing.assert_close(weights.grad, gradient)


def test_a_group_of_one_process_changes_no_gradients() -> None:
    weights = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
    loss = weights[0].sum()
    loss.backward()
    assert Ranks(0, 1, connected=True).add_gradients(weights, loss) is loss
    assert weights[0].grad is not None
    assert weights[1].grad is None  # of zeros, Adam would make a step


def test_one_process_is_no_group() -> None:
    rows = np.arange(5)
    assert ALONE.leads
    assert ALONE.part_of(rows, np.ones(5, np.int64)) is rows
    assert ALONE.from_leader(lambda: 3) == 3
    assert ALONE.add([1, 2]) == [1, 2]
