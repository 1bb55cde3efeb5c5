"""The segmenter of the English model from the files of a treebank to its own."""

from pathlib import Path

import pytest

from experiments.english import segmenter
from treecrf.demo import generate_treebank
from treecrf.segment import Segmenter
from treecrf.treebank import write_conllu


def test_a_segmenter_is_trained_and_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train, dev, folder = (tmp_path / name for name in ("train.conllu", "dev.conllu", "model"))
    write_conllu(generate_treebank(30, seed=1), train)
    write_conllu(generate_treebank(8, seed=2), dev)
    assert (
        segmenter.main([str(train), str(dev), str(folder), "--epochs", "2", "--made-up", "3"]) == 0
    )
    assert len(capsys.readouterr().out.splitlines()) == 2  # a line for each epoch
    sentences = Segmenter.load(folder).segment("The dog slept. It barked.")
    text = "".join(form for sentence in sentences for form in sentence.forms)
    assert text == "Thedogslept.Itbarked."


def test_seeds_that_go_on_from_one_segmenter_may_be_an_ensemble(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train, first, second = (tmp_path / name for name in ("train.conllu", "first", "second"))
    write_conllu(generate_treebank(10), train)
    quick = ["--epochs", "1", "--made-up", "3"]
    assert segmenter.main([str(train), str(train), str(first), *quick, "--size", "16"]) == 0
    more = [*quick, "--start", str(first), "--seeds", "1", "2"]
    assert segmenter.main([str(train), str(train), str(second), *more]) == 0
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert [line.partition(":")[0] for line in lines] == ["seed 1", "seed 2", "the best 2"]
    assert Segmenter.load(second).config.lstm_size == 16


def test_what_cannot_be_learnt_from_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "train.conllu")
    assert segmenter.main([missing, missing, str(tmp_path / "model")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("experiments.english.segmenter: ")
    assert missing in line
    assert not (tmp_path / "model").exists()
