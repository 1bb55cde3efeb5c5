"""Nothing that is in a file, or in its name, is a command to the terminal that shows it."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from treecrf.cli.app import app
from treecrf.cli.console import visible
from treecrf.treebank import read_conllu

# The title of a window, colours, C1 controls, DEL, and turned writing.
HOSTILE = "a\x1b]0;b\x07\x1b[31mc\x9b2J\x85\x7f\u202ed\u2066"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def sentence(form: str = HOSTILE, relation: str = HOSTILE) -> str:
    return (
        f"# sent_id = {HOSTILE}\n# text = {HOSTILE}\n# {HOSTILE}\n"
        f"1\t{form}\t{HOSTILE}\t{HOSTILE}\t{HOSTILE}\t_\t2\t{relation}\t_\t{HOSTILE}=1\n"
        f"2\tb{HOSTILE}\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    )


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / f"{HOSTILE}.conllu"
    path.write_text(5 * sentence())
    return path


def shown(*arguments: object, code: int = 0) -> str:
    """What a command prints on both streams, where nothing may be for the terminal to obey."""
    # With colours, else typer takes escapes out of what goes to no terminal.
    result: Result = CliRunner().invoke(app, list(map(str, arguments)), color=True)
    assert result.exit_code == code, (result.output, result.exception)
    assert not OBEYED.search(result.output), result.output
    return result.output


def test_looking_at_a_treebank(treebank: Path) -> None:
    mark = visible(HOSTILE)
    assert shown("data", "stats", treebank).count(mark) >= 3  # its name, a relation, a tag
    assert shown("data", "show", treebank).count(mark) >= 3
    assert mark in shown("data", "validate", treebank)
    assert shown("score", treebank, treebank, "--by", "relation").count(mark) == 1
    shown("compare", treebank, treebank, treebank, "--rounds", 10)


def test_json_says_the_same_in_escapes(treebank: Path) -> None:
    counts = json.loads(shown("data", "stats", treebank, "--json"))
    assert counts["relations"][HOSTILE] == 5
    scores = shown("score", treebank, treebank, "--by", "relation", "--json")
    assert json.dumps(HOSTILE)[1:-1] in json.dumps(json.loads(scores))


def test_data_stays_as_it_is(treebank: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["data", "convert", str(treebank)])
    assert result.stdout_bytes == treebank.read_bytes()


def test_errors_quote_forms_and_names(treebank: Path, tmp_path: Path) -> None:
    other = tmp_path / f"other{HOSTILE}.conllu"
    other.write_text(5 * sentence(form=f"x{HOSTILE}"))
    mark = visible(HOSTILE)
    assert mark in shown("score", treebank, other, code=2)
    assert mark in shown("compare", treebank, other, other, code=2)
    other.write_text(sentence().replace("\t2\t", f"\t{HOSTILE}\t"))
    for command in ("stats", "show", "validate", "convert", "project"):
        assert mark in shown("data", command, other, code=2)
    assert mark in shown("data", "show", treebank, "--sent-id", f"no{HOSTILE}", code=2)
    assert mark in shown("data", "stats", tmp_path / f"none{HOSTILE}", code=2)
    assert mark in shown("data", "convert", treebank, "-o", tmp_path / HOSTILE / "none", code=2)
    assert mark in shown("parse", treebank, "-m", tmp_path / f"none{HOSTILE}", code=2)


def test_errors_about_arguments(tmp_path: Path) -> None:
    mark = visible(HOSTILE)
    (tmp_path / HOSTILE).mkdir()
    assert mark in shown("score", tmp_path / HOSTILE, "x", code=2)
    for arguments in ((f"--{HOSTILE}",), (HOSTILE,), ("data", HOSTILE), ("score", f"--{HOSTILE}")):
        shown(*arguments, code=2)
    shown("data", "generate", "-", "--seed", HOSTILE, code=2)


def test_training_and_what_is_made_with_it(treebank: Path, tmp_path: Path) -> None:
    mark, folder = visible(HOSTILE), tmp_path / f"model{HOSTILE}"
    data = ("--train", treebank, "--dev", treebank, "--config", "tiny", "--set", "epochs=1")
    assert mark in shown("train", *data, "--out", folder)
    assert mark in shown("train", *data, "--out", folder, code=2)  # there is a model already
    shown("train", *data, "--set", f"{HOSTILE}=1", "--out", "x", code=2)
    assert mark in shown("evaluate", treebank, "-m", folder, "--by", "relation")
    assert mark in shown("parse", treebank, "-m", folder, "--format", "tree")
    assert mark in shown("evaluate", tmp_path / f"none{HOSTILE}", "-m", folder, code=2)


def test_a_real_terminal(treebank: Path) -> None:
    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "treecrf", "data", "stats", str(treebank)]
    environment = os.environ | {"TERM": "dumb"}  # which takes no colours
    process = subprocess.Popen(command, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    parts = []
    try:
        while part := os.read(main, 1 << 16):
            parts.append(part)
    except OSError:  # the other side is closed
        pass
    os.close(main)
    assert process.wait() == 0
    output = b"".join(parts).decode()
    assert visible(HOSTILE) in output
    assert not OBEYED.search(output.replace("\r\n", "\n"))
    assert len(list(read_conllu(treebank))) == 5
