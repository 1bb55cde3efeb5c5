"""`treecrf parse --text`: what is typed is text, and what is wrong with it is told of it."""

import io
import os
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
    run = CliRunner().invoke(app, ["parse", "--text", "\t\n", "-m", str(model)])
    assert (run.exit_code, run.stdout) == (0, "")
    assert run.stderr == "note: --text: there are no sentences in it\n"


def test_text_may_be_anything_but_parquet(model: Path) -> None:
    record = '{"text": "a dog"}'
    text = treecrf("parse", "--text", record, "--input", "jsonl", "-m", model).stdout
    assert [sentence.forms for sentence in read_conllu(io.StringIO(text))] == [["a", "dog"]]
    line = misuse("parse", "--text", record, "--input", "parquet", "-m", model)
    assert line == "--text is no Parquet; give that as a FILE"


@pytest.mark.parametrize("text", ["a dog saw Anna.", "who saw Anna?", "a dog " * 200])
def test_a_text_in_the_place_of_a_file(text: str, model: Path) -> None:
    line = misuse("parse", text, "-m", model)
    assert line == "there is no file of this name; a text to parse goes after --text"


@pytest.mark.parametrize("name", ["a dog.txt", "a d*.txt"])
def test_names_of_files_may_have_spaces(name: str, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a dog.txt").write_text("a dog .\n")
    treecrf("parse", tmp_path / name, "-m", model, "-o", f"{tmp_path / 'parsed'}{os.sep}")
    assert list((tmp_path / "parsed").iterdir())


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("a\ncaf\udce9 is nice", "2: not UTF-8: invalid continuation byte (byte 0xe9)"),
        ("\x1f\udc8b\x08", "1: not UTF-8: invalid start byte (byte 0x8b)"),  # of a packed file
    ],
)
def test_what_is_wrong_with_text_is_told_of_it(text: str, wrong: str, model: Path) -> None:
    assert problem("parse", "--text", text, "-m", model) == f"--text:{wrong}"
