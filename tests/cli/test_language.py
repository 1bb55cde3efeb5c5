"""Commands warn in one line of text that is not in the language of the model."""

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import COMMAND, ENVIRONMENT, treecrf
from treecrf.cli.app import app

LINE = (
    "warning: this text does not look like English, which the model is for; its output may mean "
    "nothing (--quiet silences this)\n"
)
GERMAN = (
    "Der alte Mann wohnte seit vielen Jahren allein am Rand des Dorfes, und nur selten kam jemand "
    "zu ihm. Im Winter brachte ihm die Nachbarin manchmal Brot und frische Milch.\n"
)


@pytest.fixture
def german(tmp_path: Path) -> Path:
    path = tmp_path / "german.txt"
    path.write_text(GERMAN * 12, encoding="utf-8")
    return path


def told(*arguments: object, stdin: str | None = None) -> str:
    """Standard error of a command that succeeds."""
    result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin)
    assert result.exit_code == 0, result.output
    return result.stderr


@pytest.mark.parametrize(
    "command",
    ["parse", "segment", "tag", "parse --topk 2", "parse --input lines", "parse --workers 1"],
)
def test_one_line_and_none_with_quiet(command: str, german: Path, tmp_path: Path) -> None:
    options = (*command.split(), german, "--device", "cpu", "-o", tmp_path / "out.conllu")
    assert told(*options) == LINE
    assert told(*options, "--quiet") == ""


def test_one_line_for_several_files(german: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text(GERMAN, encoding="utf-8")
    command = ("parse", german, other, "--device", "cpu", "-o", f"{tmp_path}/out/")
    assert told(*command) == LINE


def test_text_and_standard_input_are_judged(tmp_path: Path) -> None:
    output = ("--device", "cpu", "-o", tmp_path / "out.conllu")
    assert told("parse", "--text", GERMAN, *output) == LINE
    assert told("parse", "-", *output, stdin=GERMAN) == LINE


@pytest.mark.cluster
@pytest.mark.slow
def test_one_line_from_a_cluster(german: Path, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text(GERMAN, encoding="utf-8")
    command = [*COMMAND, "parse", f"{tmp_path}/*.txt", "--engine", "ray", "--concurrency", "1"]
    for options, line in (
        (("-o", f"{tmp_path}/told"), LINE),
        (("-o", f"{tmp_path}/b", "--quiet"), ""),
    ):
        run = subprocess.run(
            [*command, *options], capture_output=True, text=True, check=True, env=ENVIRONMENT
        )
        assert run.stderr == line


def test_no_line_for_english_and_for_models_of_no_language(
    german: Path, full_model: Path, tmp_path: Path
) -> None:
    english = "The old man had lived alone for many years, and hardly anyone came to see him.\n"
    output = ("--device", "cpu", "-o", tmp_path / "out.conllu")
    treecrf("parse", "-", *output, stdin=english * 5)
    treecrf("parse", german, "-m", full_model, *output)
