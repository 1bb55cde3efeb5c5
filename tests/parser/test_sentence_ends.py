"""A parser lends its encoder to a segmenter that was trained to ask it about sentence ends."""

from pathlib import Path

import pytest
import torch

from tests.parser.models import VOCABULARY, random_scorer, with_loss
from tests.segment.texts import untrained
from treecrf.parser import Parser, ParserError, load
from treecrf.parser.network.scorer import Scorer
from treecrf.segment.sentence_ends import EndScorer

TEXT = "The dog slept Anna saw the garden"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a model that reads words alone."""
    config = with_loss("crf2o").changed({"tags": "none"})
    scorer = random_scorer(config, vocabulary=VOCABULARY).float()
    Parser(config, VOCABULARY, scorer.state_dict(), device="cpu").save(tmp_path / "model")
    return tmp_path / "model"


def saved_with_ends(folder: Path, features: int, *, bias: float) -> Parser:
    """The parser of a folder, with a segmenter that asks at every word and always hears `bias`."""
    segmenter = untrained(joins=False, bias=(-1000.0, 0.0, -1000.0))
    segmenter.network.output.weight.data.zero_()
    segmenter.end_scorer = EndScorer(features, 2)
    for parameter in segmenter.end_scorer.parameters():
        parameter.data.zero_()
    segmenter.end_scorer.output.bias.data.fill_(bias)
    segmenter.save(folder)
    return load(folder, device="cpu")


def size_of(folder: Path) -> int:
    scorer = load(folder, device="cpu").scorer
    assert isinstance(scorer, Scorer)
    return scorer.reader.size


@pytest.mark.parametrize(("bias", "sentences"), [(1.0, 7), (-1.0, 1)])
def test_its_opinion_counts(folder: Path, bias: float, sentences: int) -> None:
    parser = saved_with_ends(folder, size_of(folder), bias=bias)
    assert len(parser.parse(TEXT)) == sentences
    assert [len(document) for document in parser.pipe([TEXT, TEXT])] == [sentences] * 2


def test_states_do_not_depend_on_what_else_is_read(folder: Path) -> None:
    read = load(folder, device="cpu").word_reader()
    assert read is not None
    texts = [TEXT.split()[:size] for size in (3, 7, 1, 5)]
    together = read(texts)
    assert [tuple(states.shape) for states in together] == [
        (n, size_of(folder)) for n in (3, 7, 1, 5)
    ]
    for words, states in zip(texts, together, strict=True):
        [alone] = read([words])
        torch.testing.assert_close(states, alone)


def test_a_segmenter_of_another_encoder_is_refused(folder: Path) -> None:
    parser = saved_with_ends(folder, size_of(folder) + 1, bias=0.0)
    with pytest.raises(ParserError, match="trained with another encoder"):
        parser.parse(TEXT)


def test_it_is_saved_with_the_model(folder: Path, tmp_path: Path) -> None:
    parser = saved_with_ends(folder, size_of(folder), bias=1.0)
    parser.save(tmp_path / "copy")
    assert len(load(tmp_path / "copy", device="cpu").parse(TEXT)) == 7
