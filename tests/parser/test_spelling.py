"""The spelling of words, beside an encoder that ignores case."""

from pathlib import Path

import pytest

import treecrf
from tests.parser.encoders import config_for, make_bert
from treecrf.parser import set_up
from treecrf.parser.batching.spelling import SPELLINGS, spellings_of
from treecrf.parser.training.loop import train
from treecrf.treebank import Sentence, write_conllu


def test_features_tell_shapes_prefixes_and_suffixes() -> None:
    forms = ["Walked", "walked", "talked", "", "\ud800", "x" * 100_000]
    rows = spellings_of(forms)
    assert rows.shape == (len(forms), 9)
    assert ((rows >= 0) & (rows < SPELLINGS)).all()
    upper, lower, other = (set(row) for row in rows[:3])
    assert len(upper & lower) == 5  # the suffixes; case is in shape and prefixes
    assert len(lower & other) == 6  # shape and suffixes


def sentence(form: str) -> Sentence:
    tag = "PROPN" if form[0].isupper() else "NOUN"
    words = Sentence(["the", form], [2, 0], deprels=["det", "root"])
    return words.with_columns({"upos": ["DET", tag]})


@pytest.mark.parametrize(("size", "told"), [(0, False), (16, True)])
def test_case_is_seen_where_the_encoder_ignores_it(size: int, told: bool, tmp_path: Path) -> None:
    bert = make_bert(tmp_path / "bert")
    names = ["man", "cat", "dog", "son", "tree", "rose"]
    sentences = [sentence(form) for name in names for form in (name, name.title())] * 100
    write_conllu(sentences, tmp_path / "train.conllu")
    config = config_for(bert, predict=["upos"], spelling_size=size, batch_tokens=50, loss="local")
    files = {"train": [tmp_path / "train.conllu"], "dev": tmp_path / "train.conllu"}
    train(set_up(tmp_path / "model", config, device="cpu", **files), tmp_path / "model")
    parser = treecrf.load(tmp_path / "model", device="cpu")
    parsed = parser.parse_tokens([["the", "bird"], ["the", "Bird"]])
    assert ([one.tokens[1].upos for one in parsed] == ["NOUN", "PROPN"]) == told
