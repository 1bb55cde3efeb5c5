"""A model folder has one writer: trainings, models and segmenters that are saved wait for none."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.parser.models import SMALL, random_parser
from tests.test_locks import held_by_another
from treecrf.demo import generate_treebank
from treecrf.parser import ParserError, load
from treecrf.parser.training.loop import train
from treecrf.parser.training.setup import set_up
from treecrf.segment import SegmenterConfig, SegmentError, train_segmenter
from treecrf.treebank import write_conllu

CONFIG = replace(SMALL, epochs=1)


def test_nothing_is_saved_where_another_process_writes(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    treebank = tmp_path / "train.conllu"
    sentences = list(generate_treebank(5))
    write_conllu(sentences, treebank)
    training = set_up(folder, CONFIG, train=[treebank], dev=treebank, device="cpu")
    parser = random_parser(CONFIG)
    segmenter = train_segmenter(sentences, sentences, SegmenterConfig(epochs=1))
    train(training, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = set_up(folder, CONFIG, train=[treebank], dev=treebank, overwrite=True, device="cpu")
    with held_by_another(folder) as process:
        told = rf"model: a model is being written here already \(process {process.pid} on "
        with pytest.raises(ParserError, match=told):
            parser.save(folder)
        with pytest.raises(SegmentError, match=told):
            segmenter.save(folder)
        with pytest.raises(ParserError, match=told):
            train(again, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    segmenter.save(folder)
    parser.save(folder)
    assert load(folder, device="cpu").config == CONFIG
