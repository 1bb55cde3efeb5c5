"""The README and the pages in docs/ do what they say: their Python and the commands run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PRINTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)


def python_blocks(page: Path) -> list[str]:
    """The Python blocks of a page, each moved down to its line so that a traceback points there."""
    text = page.read_text(encoding="utf-8")
    return [
        "\n" * text.count("\n", 0, match.start(2)) + match[2]
        for match in FENCE.finditer(text)
        if match[1] == "python"
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_runs_and_prints_what_its_comments_say(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = python_blocks(page)
    namespace: dict[str, object] = {"__name__": page.stem}
    for block in blocks:
        exec(compile(block, str(page), "exec"), namespace)
        assert capsys.readouterr().out.splitlines() == PRINTED.findall(block)


def test_readme_has_python() -> None:
    assert python_blocks(README)


def treecrf_commands() -> list[tuple[str, str]]:
    """The treecrf commands of the README, each with the output that it shows, if any."""
    sessions = [m[2] for m in FENCE.finditer(README.read_text("utf-8")) if m[1] == "console"]
    parts = [part.partition("\n") for session in sessions for part in session.split("$ ")]
    commands = [(command.partition("  #")[0].strip(), output) for command, _, output in parts]
    return [pair for pair in commands if pair[0].startswith("treecrf ")]


@pytest.mark.parametrize(("command", "shown"), treecrf_commands())
def test_commands_run_and_print_what_is_shown(command: str, shown: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        command.split(), cwd=ROOT, env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout
    assert not shown or run.stdout == shown


def test_make_commands_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    text = README.read_text(encoding="utf-8")
    code = [match[2] for match in FENCE.finditer(text)] + re.findall(r"`([^`\n]+)`", text)
    named = {target for part in code for target in re.findall(r"\bmake ([a-z-]+)", part)}
    assert "test" in named
    assert named <= targets
