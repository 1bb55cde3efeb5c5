"""`treecrf compare` from end to end."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from treecrf.cli.app import app

LINE = "{}\tw\t_\t_\t_\t_\t{}\tdep\t_\t_\n"

TABLE = """\

  metric        A       B     B - A        p
 ────────────────────────────────────────────
  UAS      100.00   66.67    -33.33   0.0010
  LAS      100.00   66.67    -33.33   0.0010
  UCM      100.00    0.00   -100.00   0.0010
  LCM      100.00    0.00   -100.00   0.0010
  SIB        0.00    0.00     +0.00   1.0000

20 sentences, 999 rounds, seed 4; SIB is its F1
"""


def treebank(*heads: int) -> str:
    """Twenty sentences with the same heads."""
    return ("".join(LINE.format(*row) for row in enumerate(heads, 1)) + "\n") * 20


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    names = [tmp_path / name for name in ("gold.conllu", "a.conllu", "b.conllu")]
    for name, heads in zip(names, ((0, 1, 2), (0, 1, 2), (0, 1, 1)), strict=True):
        name.write_text(treebank(*heads), encoding="utf-8")
    return [str(name) for name in names]


def run(*arguments: str, stdin: str = "", code: int = 0) -> str:
    result = CliRunner().invoke(app, ["compare", *arguments], input=stdin)
    assert result.exit_code == code, result.output
    return "".join(line.rstrip() + "\n" for line in result.output.splitlines())


def test_table(files: list[str]) -> None:
    assert run(*files, "--rounds", "999", "--seed", "4") == TABLE


def test_json(files: list[str]) -> None:
    figures = json.loads(run(*files, "--rounds", "99", "--json"))
    assert list(figures) == ["UAS", "LAS", "UCM", "LCM", "SIB"]
    assert figures["UCM"] == {"a": 1.0, "b": 0.0, "difference": -1.0, "p": 0.01}


def test_same_seed_same_output(files: list[str]) -> None:
    first = run(*files, "--rounds", "50", "--seed", "2", "--json")
    assert run(*files, "--rounds", "50", "--seed", "2", "--json") == first


def test_partial_reference_says_why_there_is_no_sib(files: list[str]) -> None:
    output = run(
        "-", *files[1:], "--rounds", "9", stdin=treebank(0, 1, 2).replace("\t2\t", "\t_\t")
    )
    assert "SIB is empty: adjacent siblings need whole trees" in output


def test_errors(files: list[str]) -> None:
    assert "only one of the files" in run("-", "-", files[0], code=2)
    assert "--rounds" in run(*files, "--rounds", "0", code=2)
    output = run(*files[:2], "-", stdin=treebank(0, 1), code=2)
    assert output.startswith("<stdin>:1: sentence 1 has 3 words in gold and 2 in B")


def test_predicted_columns(tmp_path: Path) -> None:
    # ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED
    rows = [["1", "a", *"______", "0", "2", "ROOT", "SBJ", "_", "_"]]
    rows += [["2", "b", *"______", "1", "0", "OBJ", "ROOT", "_", "_"]]
    file = tmp_path / "both.conll09"
    file.write_text("".join("\t".join(row) + "\n" for row in rows) + "\n", encoding="utf-8")
    options = [*[str(file)] * 3, "--rounds", "1", "--json"]
    assert json.loads(run(*options))["UAS"]["a"] == 1.0
    figures = json.loads(run(*options, "--columns", "predicted"))["UAS"]
    assert (figures["a"], figures["b"]) == (0.0, 0.0)
