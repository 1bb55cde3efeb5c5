"""Commands about parsers, run in the process of the test: torch is loaded there already."""

import io
import os
import sys

from click.testing import Result
from typer.testing import CliRunner

from treecrf.cli.app import app
from treecrf.treebank import Sentence, read_conllu

COMMAND = [sys.executable, "-m", "treecrf"]
# One thread: sums in another order have other last digits.
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

ONE_EPOCH = ("--config", "tiny", "--set", "epochs=1")
TWO_ROOTS = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


def treecrf(*arguments: object, stdin: str | None = None) -> Result:
    """What a command does that has nothing to complain of."""
    result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result


def problem(*arguments: object, stdin: str | None = None) -> str:
    """The one line about what is wrong, with which a command ends."""
    result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.count("\n") == 1
    return result.stderr.rstrip("\n")


def misuse(*arguments: object) -> str:
    """What a command says about options that it cannot take, after its usage."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("Usage: ")
    return result.stderr.splitlines()[-1].removeprefix("Error: Invalid value: ")


def parsed(text: str) -> list[Sentence]:
    """The sentences that a command has written."""
    return list(read_conllu(io.StringIO(text)))
