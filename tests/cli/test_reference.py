"""The help of commands and the page made of it: it fits, is not stale, and its examples exist."""

import os
import re
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from tests.cli.running import COMMAND
from treecrf.cli.app import app
from website.commands import PAGE, SERVERS, commands_of, page, parts_of

ROOT: Any = typer.main.get_command(app)
COMMANDS = dict(commands_of(ROOT))
EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def help_of(path: str) -> str:
    result = CliRunner().invoke(app, [*path.split(), "--help"], terminal_width=80)
    assert result.exit_code == 0
    return result.stdout


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make commands"


@pytest.mark.parametrize("path", ["", "data", *COMMANDS])
def test_help_fits_a_terminal(path: str) -> None:
    text = help_of(path)
    assert max(map(len, text.splitlines())) <= 80
    # Names of Python types say nothing, and braces are not for arguments.
    assert not re.search(r"<(str|int|float|path)\b|[{}]", text, re.IGNORECASE)
    usage = text.partition("\n")[0].removesuffix("...")
    assert "..." not in usage.replace("COMMAND [ARGS]...", "")


@pytest.mark.parametrize("path", ["", "data"])
def test_each_command_has_one_line(path: str) -> None:
    listed = help_of(path).partition("Commands:\n")[2].partition("\n\n")[0]
    for line in listed.splitlines():
        name, summary = line.split(maxsplit=1)
        group = f"{path} {name}".strip()
        first = ROOT.commands[group].help if group not in COMMANDS else COMMANDS[group].help
        assert summary == first.partition("\n")[0]
        assert summary.endswith(".")
        assert not summary.endswith("...")


@pytest.mark.parametrize("path", COMMANDS)
def test_each_command_has_an_example(path: str) -> None:
    """Those on the page run with the other commands of pages; here they are of this command."""
    _, examples = parts_of(COMMANDS[path])
    assert examples
    for example in examples:
        assert shlex.split(example.replace("\\\n", " "))[: 1 + len(path.split())] == [
            "treecrf",
            *path.split(),
        ]


@pytest.mark.service
@pytest.mark.parametrize("path", SERVERS)
def test_examples_of_servers_run_until_they_are_interrupted(path: str, tmp_path: Path) -> None:
    (example,) = parts_of(COMMANDS[path])[1]
    (tmp_path / "examples").symlink_to(EXAMPLES)
    process = subprocess.Popen(
        # At a free port: that of the example may be taken.
        [*COMMAND, *shlex.split(example)[1:], "--port", "0"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("serving at http://")
        process.send_signal(signal.SIGINT)
        assert process.communicate()[1] == "interrupted\n"
    assert process.returncode == 130


def test_a_reader_that_ends_first_is_exit_code_1() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [*COMMAND, "data", "convert", str(EXAMPLES / "gold.conllu")]
    result = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (result.returncode, result.stderr) == (1, "")
