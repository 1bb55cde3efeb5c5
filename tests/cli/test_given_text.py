"""`treecrf parse --text`: what is typed is text, and what is wrong with it is told of it."""

import io
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import misuse, problem, treecrf
from treecrf.cli.app import app
from treecrf.treebank import read_conllu


def test_words_that_nothing_parts(model: Path) -> None:
    run = CliRunner().invoke(app, ["parse", "--text", "a dog saw.", "-m", str(model)])
    assert run.stderr.startswith("note: this model has no segmenter, so words are what stands")
    assert treecrf("parse", "--text", "a dog .", "-m", model).stderr == ""


def test_text_is_never_taken_for_a_treebank(model: Path) -> None:
    assert treecrf("parse", "--text", "\t\n", "-m", model).stdout == ""


def test_text_may_be_anything_but_parquet(model: Path) -> None:
    record = '{"text": "a dog"}'
    text = treecrf("parse", "--text", record, "--input", "jsonl", "-m", model).stdout
    assert [sentence.forms for sentence in read_conllu(io.StringIO(text))] == [["a", "dog"]]
    line = misuse("parse", "--text", record, "--input", "parquet", "-m", model)
    assert line == "--text is no Parquet; give that as a FILE"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("a\ncaf\udce9 is nice", "2: not UTF-8: invalid continuation byte (byte 0xe9)"),
        ("\x1f\udc8b\x08", "1: not UTF-8: invalid start byte (byte 0x8b)"),  # of a packed file
    ],
)
def test_what_is_wrong_with_text_is_told_of_it(text: str, wrong: str, model: Path) -> None:
    assert problem("parse", "--text", text, "-m", model) == f"--text:{wrong}"
