"""What training minimises, against the sum over all trees of short sentences."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.parser.models import (
    LOSSES,
    VOCABULARY,
    batch_of,
    random_scorer,
    sentence_of,
    trees_of,
    with_loss,
)
from treecrf.parser.batching.batch import Batch
from treecrf.parser.config import Config
from treecrf.parser.network.loss import TreeScores, masked_heads, training_loss
from treecrf.parser.network.scorer import Scorer
from treecrf.struct import (
    GrandSiblingTreeCRF,
    NonProjectiveTreeCRF,
    ProjectiveTreeCRF,
    SiblingTreeCRF,
)
from treecrf.treebank import Sentence

FULL = [[2, 0, 2, 3], [0], [0, 1, 2], [2, 3, 4, 5, 0]]
PARTIAL = [[-1, 0, 2, -1], [-1, -1, 2], [-1], [2, -1, -1, -1, 3]]
CROSSING = [[3, 4, 0, 3]]  # 3 -> 1 and 4 -> 2
SEVERAL = [[0, 0, 2, 0], [-1, 0, -1, 0]]


def annotated(rows: list[list[int]], *, seed: int = 0) -> list[Sentence]:
    """Sentences with these heads; one relation is none that the model knows."""
    sentences = []
    for number, heads in enumerate(rows):
        relations = [("x", "y", "z", "unseen")[(number + word) % 4] for word in range(len(heads))]
        words = sentence_of(len(heads), seed=seed + number).forms
        sentences.append(Sentence(words, heads, deprels=relations))
    return sentences


def expected_loss(scorer: Scorer, batch: Batch, config: Config) -> Tensor:
    """By listing trees, each sentence and word by itself."""
    assert batch.heads is not None
    assert batch.gold is not None
    relations = batch.gold.relations[batch.places]  # [batch, N]
    roles = scorer(batch)
    arcs = scorer.arcs(roles, batch)
    dependents, heads = (
        batch.unpack(roles[name]) for name in ("relation_dependent", "relation_head")
    )
    trees = trees_of(scorer, batch, config) if config.loss != "local" else None
    tree_losses, relation_losses, words = [], [], 0
    for row, length in enumerate(batch.lengths.tolist()):
        gold = batch.heads[row]
        if trees is not None:
            # log sum of p(tree) over the trees that agree with the heads there are
            tree_losses.append(-trees.sentences[row].log_prob(gold))
        for word in range(1, length + 1):
            head, relation = int(gold[word]), int(relations[row, word])
            if head < 0:
                continue
            words += 1
            if config.loss == "local":
                tree_losses.append(-arcs[row, word, : length + 1].log_softmax(0)[head])
            if relation >= 0:
                scores = scorer.label_scores(dependents[row, word][None], heads[row, head][None])
                relation_losses.append(-scores[0].log_softmax(0)[relation])
    return torch.stack(tree_losses).sum() / words + torch.stack(relation_losses).mean()


CASES = {
    "full": (FULL, False),
    "partial": (PARTIAL, False),
    "mixed": (FULL + PARTIAL, False),
    "several roots": (FULL + SEVERAL, True),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_is_that_of_all_trees(loss: str, case: str) -> None:
    heads, multiroot = CASES[case]
    if loss in ("local", "nonprojective"):
        heads = heads + CROSSING
    config = with_loss(loss, multiroot=multiroot)
    scorer = random_scorer(config)
    batch = batch_of(annotated(heads), config, annotated=True)
    assert (batch.gold is not None and batch.gold.arcs is None) == (case != "full")
    value = training_loss(scorer, batch, config)
    assert value.shape == ()
    expected = expected_loss(scorer, batch, config)
    torch.testing.assert_close(value, expected)
    names, weights = zip(*scorer.named_parameters(), strict=True)
    gradients = torch.autograd.grad(value, weights, retain_graph=True, allow_unused=True)
    wanted = torch.autograd.grad(expected, weights, allow_unused=True)
    for name, gradient, other in zip(names, gradients, wanted, strict=True):
        assert gradient is not None, name
        torch.testing.assert_close(gradient, other)


@torch.no_grad()
@pytest.mark.parametrize("loss", LOSSES)
def test_padding_changes_nothing(loss: str) -> None:
    """A batch has the loss that its sentences have one by one, weighted by their words."""
    config = with_loss(loss)
    scorer = random_scorer(config)
    sentences = annotated(FULL + PARTIAL)
    known = VOCABULARY.relation_numbers
    trees = relations = 0.0
    for sentence in sentences:
        words = sum(head >= 0 for head in sentence.heads)
        rows = zip(sentence.heads, sentence.deprels, strict=True)
        labelled = sum(head >= 0 and relation in known for head, relation in rows)
        if not words:
            continue
        batch = batch_of([sentence], config, annotated=True)
        blank = batch_of([Sentence(sentence.forms, sentence.heads)], config, annotated=True)
        tree = float(training_loss(scorer, blank, config))  # without a relation
        trees += words * tree
        relations += labelled * (float(training_loss(scorer, batch, config)) - tree)
    words = sum(head >= 0 for sentence in sentences for head in sentence.heads)
    labelled = sum(
        head >= 0 and relation in known
        for sentence in sentences
        for head, relation in zip(sentence.heads, sentence.deprels, strict=True)
    )
    batch = batch_of(sentences, config, annotated=True)
    expected = trees / words + relations / labelled
    assert float(training_loss(scorer, batch, config)) == pytest.approx(expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_finite_in_single_precision(loss: str) -> None:
    config = with_loss(loss)
    scorer = random_scorer(config, spread=3.0).float()
    training_loss(
        scorer, batch_of(annotated(FULL + PARTIAL), config, annotated=True), config
    ).backward()
    for name, parameter in scorer.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


def test_a_batch_without_any_relation_has_the_loss_of_its_trees() -> None:
    config = with_loss("crf")
    scorer = random_scorer(config)
    sentence = Sentence(["a", "b"], [0, 1])
    batch = batch_of([sentence], config, annotated=True)
    expected = -trees_of(scorer, batch, config).log_prob(torch.tensor([[0, 0, 1]])).sum() / 2
    torch.testing.assert_close(training_loss(scorer, batch, config), expected)


def test_tags_have_a_loss_of_their_own() -> None:
    """The mean over the words that have one, whether or not they have a head."""
    config = replace(with_loss("crf"), predict=("upos",))
    scorer = random_scorer(config)
    sentences = annotated(FULL + PARTIAL)
    plain = batch_of(sentences, replace(config, predict=()), annotated=True)
    assert plain.gold is not None
    assert plain.gold.columns == {}
    for number, sentence in enumerate(sentences):
        for token in sentence.tokens:
            token.upos = ("NOUN", "VERB", "unseen", "_")[(number + token.id) % 4]
    batch = batch_of(sentences, config, annotated=True)
    assert batch.gold is not None
    scores = scorer.columns(scorer(batch))["upos"]
    losses = [
        -token.log_softmax(0)[tag]
        for token, tag in zip(scores, batch.gold.columns["upos"].tolist(), strict=True)
        if tag >= 0
    ]
    assert len(losses) == sum(
        token.upos in ("NOUN", "VERB") for s in sentences for token in s.tokens
    )
    column = config.column_weight * torch.stack(losses).mean()
    expected = training_loss(scorer, plain, config) + column
    torch.testing.assert_close(training_loss(scorer, batch, config), expected)


def test_heads_that_a_sentence_has_not_are_masked() -> None:
    scores = torch.zeros(2, 4, 4)
    allowed = torch.ones(2, 4, 4, dtype=torch.bool)
    allowed[0, 1, 2] = False
    masked = masked_heads(scores, torch.tensor([3, 1]), allowed)
    assert (masked[0] == float("-inf")).nonzero().tolist() == [[1, 2]]
    assert (masked[1, :, 2:] == float("-inf")).all()
    assert (masked[1, :, :2] == 0).all()


@pytest.mark.parametrize(
    ("loss", "decoder", "family"),
    [
        ("local", "auto", ProjectiveTreeCRF),
        ("local", "mst", NonProjectiveTreeCRF),
        ("crf", "mbr", ProjectiveTreeCRF),
        ("crf", "mst", ProjectiveTreeCRF),
        ("crf2o", "mst", SiblingTreeCRF),
        ("crf3o", "mst", GrandSiblingTreeCRF),
        ("nonprojective", "viterbi", NonProjectiveTreeCRF),
    ],
)
def test_the_family_of_a_model(loss: str, decoder: str, family: type) -> None:
    config = replace(with_loss(loss, decoder=decoder), multiroot=True)
    siblings, grandparents = (
        torch.zeros(1, 3, 3, 3) if scored else None
        for scored in (config.scores_siblings, config.scores_grandparents)
    )
    scores = TreeScores(torch.zeros(1, 3, 3), siblings, grandparents)
    crf = scores.distribution(torch.tensor([2]), config=config)
    assert type(crf) is family
    assert crf.multiroot
