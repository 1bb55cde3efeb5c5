"""`treecrf package` and `treecrf models`."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import problem, treecrf


def test_a_package_says_what_it_cost(full_model: Path, treebank: Path, tmp_path: Path) -> None:
    named = ("--name", "treecrf-model-xx", "--version", "1.0.0", "--out", tmp_path)
    options = ("--weights", "int8", "--dev", treebank / "dev.conllu", "--device", "cpu")
    said = treecrf("package", full_model, *named, *options).stdout
    assert "weights int8: " in said
    assert "dev F1 from   words before   words after   text before   text after" in said
    assert re.search(r"^  LAS( +\d+\.\d\d){4} *$", said, re.MULTILINE)
    assert re.search(r"^  Tokens( +\d+\.\d\d){2} *$", said, re.MULTILINE)
    assert "the card states no licence, no training data: --licence, --data" in said
    assert f"{tmp_path / 'treecrf_model_xx-1.0.0-py3-none-any.whl'}: " in said


def test_rounding_that_was_not_measured(full_model: Path, tmp_path: Path) -> None:
    named = ("--name", "xx", "--version", "1", "--licence", "MIT", "--data", "made up")
    said = treecrf("package", full_model, *named, "--weights", "float16", "--out", tmp_path).stdout
    assert "note: the card states no figures of the rounded weights: --dev\n" in said


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--name", "a b", "--version", "1"), "'a b' is not a name of a package"),
        (("--name", "xx", "--version", "new"), "'new' is not a version in the form of PEP 440"),
    ],
)
def test_what_is_refused(
    options: tuple[str, ...], expected: str, full_model: Path, tmp_path: Path
) -> None:
    assert problem("package", full_model, *options, "--out", tmp_path / "out").startswith(expected)
    assert not (tmp_path / "out").exists()


def test_a_model_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    expected = "de: no such folder, and no model of this name is installed; there is en "
    assert problem("parse", "--text", "Hallo.", "--model", "de").startswith(expected)


def test_models_are_listed() -> None:
    lines = treecrf("models").stdout.splitlines()
    assert re.fullmatch(r"en  treecrf \S+, \d+\.\d MB, CC-BY-SA-4.0", lines[0])
    assert re.fullmatch(r" +dev LAS \d+\.\d\d on given words, \d+\.\d\d from raw text", lines[-1])
    (english,) = json.loads(treecrf("models", "--json").stdout)
    assert (english["name"], english["language"]) == ("en", "en")
    assert english["figures"]["raw_text"]["LAS"] > 85
