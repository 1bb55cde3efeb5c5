"""What needs more memory than is available is refused before anything is computed."""

from pathlib import Path

import pytest
import torch
from torch import nn

from tests.cli.running import problem
from tests.parser.models import VOCABULARY, random_scorer, sentence_of, with_loss
from treecrf import memory
from treecrf.parser import Parser, ParserError
from treecrf.parser.estimates import check_lists, check_training, needed_bytes
from treecrf.treebank import Sentence, write_conllu

WORDS = 1_000


@pytest.fixture
def little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that has 50 MiB left."""
    file = tmp_path / "meminfo"
    file.write_text("MemTotal: 99999999 kB\nMemAvailable: 51200 kB\n")
    monkeypatch.setattr(memory, "_MEMORY_FILE", file)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("loss", ["local", "crf", "crf2o", "nonprojective"])
@pytest.mark.parametrize("workers", [0, 1])
def test_a_sentence_is_named_with_its_words_and_bytes(
    tmp_path: Path, loss: str, workers: int
) -> None:
    config = with_loss(loss)
    model = tmp_path / "model"
    scorer = random_scorer(config, seed=0)
    Parser(config, VOCABULARY, scorer.state_dict(), device="cpu").save(model)
    file = tmp_path / "long.conllu"
    write_conllu([sentence_of(5, seed=0), sentence_of(WORDS, seed=0)], file)
    said = problem("parse", file, "--model", model, "--workers", workers, "--device", "cpu")
    needed = f"{needed_bytes(WORDS, config) / 2**30:.1f} GiB"
    assert said.startswith(f"{file}:")
    assert f"a sentence of 1,000 words needs about {needed} of memory, and 0.0 GiB" in said


@pytest.mark.usefixtures("little_memory")
def test_training_is_judged_by_the_memory_that_is_left(tmp_path: Path) -> None:
    file, model = tmp_path / "short.conllu", tmp_path / "model"
    write_conllu([Sentence(["a"], [0], deprels=["root"])], file)
    files = ("--train", file, "--dev", file, "--out", model)
    settings = ("--config", "tiny", "--set", "lstm_size=600", "--device", "cpu")
    said = problem("train", *files, *settings)
    assert "(5 times the weights), and 0.0 GiB are available on cpu: choose smaller sizes" in said
    assert not model.exists()


@pytest.mark.parametrize("loss", ["local", "crf", "crf2o", "nonprojective"])
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


def test_lists_of_trees_take_half_at_most() -> None:
    check_lists(sentence_of(10, seed=0), 5, siblings=False, available=1 << 20)
    with pytest.raises(ParserError, match="more than half"):
        check_lists(sentence_of(10, seed=0), 5, siblings=False, available=1 << 10)
