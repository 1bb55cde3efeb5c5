"""What needs more memory than is available is refused before anything is computed."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.cli.running import problem
from tests.parser.models import VOCABULARY, random_scorer, sentence_of, with_loss
from treecrf.memory import available_memory
from treecrf.parser import Parser, ParserError
from treecrf.parser.estimates import check_lists, check_training, needed_bytes
from treecrf.treebank import Sentence, write_conllu


@pytest.mark.parametrize("loss", ["local", "crf", "crf2o", "crf3o", "nonprojective"])
@pytest.mark.parametrize("workers", [0, 1])
def test_a_sentence_is_named_with_its_words_and_bytes(
    tmp_path: Path, loss: str, workers: int
) -> None:
    config = with_loss(loss)
    model = tmp_path / "model"
    scorer = random_scorer(config, seed=0)
    Parser(config, VOCABULARY, scorer.state_dict(), device="cpu").save(model)
    file = tmp_path / "long.conllu"
    words = math.isqrt(available_memory() // 32)  # four times as much as there is, or more
    write_conllu([sentence_of(5, seed=0), sentence_of(words, seed=0)], file)
    said = problem("parse", file, "--model", model, "--workers", workers, "--device", "cpu")
    needed = f"{needed_bytes(words, config) / 2**30:,.1f} GiB"
    assert said.startswith(f"{file}:")
    assert f"a sentence of {words:,} words needs about {needed} of memory, and " in said


def test_training_is_judged_by_the_memory_that_is_left(tmp_path: Path) -> None:
    file, model = tmp_path / "short.conllu", tmp_path / "model"
    write_conllu([Sentence(["a"], [0], deprels=["root"])], file)
    files = ("--train", file, "--dev", file, "--out", model)
    # So large that the weights are at hand, but not five times as much: 288 bytes for its square.
    size = math.isqrt(available_memory() // 288 // 2)
    settings = ("--config", "tiny", "--set", f"lstm_size={size}", "--device", "cpu")
    said = problem("train", *files, *settings)
    assert "(5 times the weights), and " in said
    assert "GiB are available on cpu: choose smaller sizes" in said
    assert not model.exists()


@pytest.mark.parametrize("loss", ["local", "crf", "crf2o", "crf3o", "nonprojective"])
def test_training_refuses_what_does_not_fit(loss: str) -> None:
    sentences, config = [sentence_of(5, seed=0), sentence_of(200, seed=0)], with_loss(loss)
    network, cpu = nn.Linear(10, 10, bias=False), torch.device("cpu")
    weights = (5 if config.average else 4) * 4 * 100
    needed = weights + needed_bytes(200, config, training=True)
    check_training(network, sentences, config, cpu, available=needed)
    with pytest.raises(ParserError, match="a sentence of 200 words needs about"):
        check_training(network, sentences, config, cpu, available=needed - 1)
    check_training(network, [], config, cpu, available=weights)
    with pytest.raises(ParserError, match=r"training needs at least 0.0 GiB .* times the weights"):
        check_training(network, [], config, cpu, available=weights - 1)


def test_more_words_need_more() -> None:
    for loss in ("crf", "crf2o"):
        for training in (False, True):
            needed = [needed_bytes(n, with_loss(loss), training=training) for n in (10, 600, 9_000)]
            assert needed == sorted(needed)


def test_a_long_sentence_needs_little_more_than_its_charts() -> None:
    """Vectors for all pairs of words would take 6 GiB."""
    first, second = (with_loss(loss).changed({"sibling_size": 64}) for loss in ("crf", "crf2o"))
    assert needed_bytes(5_000, second) - needed_bytes(5_000, first) < 5 << 28


def test_lists_of_trees_take_half_at_most() -> None:
    sentence = sentence_of(10, seed=0)
    check_lists(sentence, 5, with_loss("crf"), available=1 << 17)
    with pytest.raises(ParserError, match="more than half"):
        check_lists(sentence, 5, with_loss("crf"), available=1 << 10)
    third_order = with_loss("crf3o")
    with pytest.raises(ParserError, match="more than half"):
        check_lists(sentence, 5, third_order, available=1 << 17)
    check_lists(sentence, 5, third_order.changed({"longest_third_order": 9}), available=1 << 17)
