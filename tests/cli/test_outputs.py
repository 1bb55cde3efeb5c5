"""Files that commands write: never over what they read, and refused before a model is loaded."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import misuse, problem, treecrf
from treecrf.cli.app import app

ROW = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
# A model that is not there: what is wrong with files is said before it is looked for.
NONE = ("-m", f".{os.sep}none")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "mine.txt"
    path.write_text("A dog slept.\n")
    return path


@pytest.mark.parametrize("link", [None, os.symlink, os.link])
@pytest.mark.parametrize("command", ["parse", "segment -f conllu", "tag -f json"])
def test_a_text_is_not_written_over(command: str, link: object, text: Path, tmp_path: Path) -> None:
    output = text
    if callable(link):
        link(text, output := tmp_path / "link.txt")
    line = problem(*command.split(), text, "-o", output, *NONE)
    assert line == f"{output}: is also the input; choose another --output"
    assert text.read_text() == "A dog slept.\n"


def test_a_treebank_is_replaced_by_nothing_less(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(ROW)
    wrong = f"{path}: is also the input; choose another --output"
    assert problem("parse", path, "-f", "json", "-o", path, *NONE) == wrong
    assert problem("data", "convert", path, "--to", "conllx", "-o", path) == wrong
    assert problem("data", "mask", path, "--keep", 0, "-o", path) == wrong
    assert problem("data", "show", path, "--svg", path) == wrong
    treecrf("data", "convert", path, "-o", path)
    assert path.read_text() == ROW


def test_files_are_looked_at_before_a_model_is_loaded(text: Path, tmp_path: Path) -> None:
    missing, binary = tmp_path / "no.txt", tmp_path / "a.dat"
    binary.write_bytes(b"%PDF-1.4\n%\xe2\xe3\n")
    assert problem("parse", missing, *NONE) == f"{missing}: No such file or directory"
    assert problem("parse", tmp_path, *NONE).endswith(": this is a folder; name a file in it")
    assert "no text file" in problem("parse", binary, *NONE)
    target = tmp_path / "none" / "x"
    no_folder = f"{target}: there is no folder {target.parent}; make it first"
    assert problem("parse", text, "-o", target, *NONE) == no_folder
    assert problem("parse", "--text", "a dog", "-o", target, *NONE) == no_folder
    assert problem("export", "--onnx", target, *NONE) == no_folder
    assert "no such file" in problem("tag", f"{missing}/*.txt", "-o", tmp_path, *NONE)


@pytest.mark.parametrize("ending", ["svg", "txt"])
@pytest.mark.parametrize("command", ["segment", "tag"])
def test_what_draws_no_trees_says_what_it_writes(command: str, ending: str, text: Path) -> None:
    target = text.with_name(f"t.{ending}")
    line = f"no .{ending} is written here, as in {target}: name it .conllu or .json, with or "
    assert misuse(command, text, "-o", target).startswith(line)
    assert misuse(command, text, "-o", f"{target}.pdf").endswith(
        line.partition(": ")[2] + "without .gz, or give --format"
    )


def test_a_text_that_is_the_name_of_a_file(text: Path) -> None:
    run = CliRunner().invoke(app, ["parse", "--text", str(text), *NONE])
    assert run.stderr.startswith(f"note: {text} is a file; `treecrf parse {text}` parses it\n")
