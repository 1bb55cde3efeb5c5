"""Temperatures: what they do to probabilities, and that the right one is found."""

from dataclasses import replace

import pytest
import torch

from tests.parser.models import VOCABULARY, random_scorer, sentences_of, with_loss
from treecrf.parser import Parser, ParserError
from treecrf.parser.calibration import fit_temperature
from treecrf.treebank import Sentence

LOSSES = ("local", "crf", "crf2o", "nonprojective")


def parser_with(temperature: float, loss: str = "crf2o") -> Parser:
    config = replace(with_loss(loss), temperature=temperature)
    weights = random_scorer(config).float().state_dict()
    return Parser(config, VOCABULARY, weights, device="cpu")


@pytest.mark.parametrize("loss", LOSSES)
def test_heat_takes_sureness_away(loss: str) -> None:
    words = [["a", "dog", "b", "c"]]
    cold, warm, hot = (parser_with(t, loss).distribution(words).entropy for t in (0.5, 1, 100))
    assert cold < warm < hot


def test_the_best_tree_by_score_stays() -> None:
    sentences = sentences_of([2, 5, 9])
    one, other = (parser_with(t).parse_tokens(sentences, decoder="viterbi") for t in (1, 3))
    assert [tree.heads for tree in one] == [tree.heads for tree in other]


def test_training_knows_no_temperature() -> None:
    parser = parser_with(2.0)
    scores = torch.ones(1, 2, 2)
    assert parser.scorer._tempered(scores).sum() == 2
    assert parser.scorer.train()._tempered(scores).sum() == 4


def with_drawn_trees(parser: Parser, sentences: list[Sentence]) -> list[Sentence]:
    """The sentences with trees that are drawn from what the parser says of them."""
    torch.manual_seed(1)
    drawn = parser.distribution(sentences).sample(1)[0]
    trees = []
    for sentence, heads in zip(sentences, drawn.tolist(), strict=True):
        words = heads[1 : len(sentence) + 1]
        trees.append(sentence.with_tree(words, ["x"] * len(words)))
    return trees


@pytest.mark.parametrize("loss", ["crf", "crf2o"])
def test_the_temperature_that_trees_were_drawn_with_is_found(loss: str) -> None:
    sentences = with_drawn_trees(parser_with(1.6, loss), sentences_of([4, 6, 8] * 200))
    fit = fit_temperature(parser_with(1.0, loss), sentences)
    assert fit.temperature == pytest.approx(1.6, abs=0.25)
    assert fit.after < fit.before
    assert fit.words == 18 * 200
    again = fit_temperature(parser_with(0.7, loss), sentences)
    assert again.temperature == pytest.approx(fit.temperature, abs=0.02)


def test_without_whole_trees_there_is_nothing_to_fit() -> None:
    with pytest.raises(ParserError, match="no sentence has a whole tree"):
        fit_temperature(parser_with(1.0), [Sentence(["a"])])
