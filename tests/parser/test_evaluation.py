"""Scores on dev data against those of the treebank's own metrics."""

import pytest
import torch

from tests.parser.models import LOSSES, SMALL, VOCABULARY, random_parser, sentence_of, with_loss
from treecrf.parser import ParserError
from treecrf.parser.config import Config
from treecrf.parser.training.evaluation import DevSet
from treecrf.parser.vocab import Vocabulary
from treecrf.treebank import Sentence, evaluate

GOLD = [[2, 0, 2, 3], [0], [3, 4, 0, 3], [2, 3, 4, 5, 0], [-1, 0, 2], [0, 1], [-1]]


def gold_sentences(relations: list[str]) -> list[Sentence]:
    sentences = []
    for number, heads in enumerate(GOLD):
        labels = [relations[(number + word) % len(relations)] for word in range(len(heads))]
        words = sentence_of(len(heads), seed=number).forms
        sentences.append(Sentence(words, heads, deprels=labels))
    return sentences


def check(
    config: Config, vocabulary: Vocabulary, *, seed: int, comma: str = ",", batch_words: int = 5_000
) -> tuple[float, float]:
    parser = random_parser(config, vocabulary=vocabulary, seed=seed)
    sentences = gold_sentences(["x", "y", "z"])
    for sentence in sentences[:4]:
        sentence.tokens[0].form, sentence.tokens[0].xpos = comma, ","
    device = torch.device("cpu")
    dev = DevSet(sentences, vocabulary, config, device=device, batch_words=batch_words)
    scores = dev.evaluate(parser.scorer.train())
    assert not parser.scorer.training
    expected = evaluate(sentences, parser.parse_tokens(sentences), punct=config.punct)
    assert scores.uas == pytest.approx(100 * expected.uas.f1)
    assert scores.las == pytest.approx(100 * expected.las.f1)
    return scores.uas, scores.las


@pytest.mark.parametrize("loss", LOSSES)
def test_the_scores_are_those_of_the_metrics(loss: str) -> None:
    found = [check(with_loss(loss), VOCABULARY, seed=seed, batch_words=6) for seed in range(4)]
    assert len(set(found)) > 1
    assert all(las <= uas for uas, las in found)


@pytest.mark.parametrize(("punct", "comma"), [("unicode", ","), ("tag", "comma")])
def test_punctuation_is_left_out_as_the_metrics_do(punct: str, comma: str) -> None:
    found, kept = (
        [check(SMALL.changed({"punct": by}), VOCABULARY, seed=s, comma=comma) for s in range(4)]
        for by in (punct, "keep")
    )
    assert found != kept


def test_lifted_arcs_are_put_back_first() -> None:
    vocabulary = Vocabulary(
        words=VOCABULARY.words,
        characters=VOCABULARY.characters,
        tags=[],
        relations=["x", "y↑x", "x↓", "z"],
    )
    config = SMALL.changed({"loss": "crf", "nonprojective": "pseudo"})
    for seed in range(8):
        check(config, vocabulary, seed=seed)


def test_there_must_be_something_to_score() -> None:
    for sentences in ([], [Sentence(["a"])]):
        with pytest.raises(ParserError, match="no word of the dev data has a head"):
            DevSet(sentences, VOCABULARY, SMALL, device=torch.device("cpu"))
    config = SMALL.changed({"punct": "unicode"})
    with pytest.raises(ParserError, match="has a head, but for punctuation, so"):
        DevSet([Sentence(["!"], [0])], VOCABULARY, config, device=torch.device("cpu"))
