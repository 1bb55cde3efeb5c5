"""Every page does what it says: its Python and its commands run, unless marked to need more."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from treecrf.cli.app import app

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = [
    README,
    CONTRIBUTING,
    *sorted((ROOT / "docs").glob("**/*.md")),
    *sorted((ROOT / "website" / "pages").glob("**/*.md")),
    *sorted((ROOT / "experiments").glob("**/*.md")),
    *sorted((ROOT / "src" / "treecrf" / "models").glob("*/README.md")),
]

# A block of commands runs as it stands, unless the line before it says what tests have not.
FENCE = re.compile(
    r"^(?:<!-- needs: (?P<needs>[^\n]+) -->\n)?```(?P<kind>\w*)\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
COMMANDS = ("console", "sh", "bash", "shell")
ENVIRONMENT = ". .venv/bin/activate"  # which tests have already
PRINTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_does_what_it_says(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From top to bottom, in a folder with the examples in it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "docs" / "images").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": page.stem}
    for match in FENCE.finditer(text):
        if match["kind"] == "python":
            # Moved down to its line, so that a traceback points there.
            code = "\n" * text.count("\n", 0, match.start("body")) + match["body"]
            exec(compile(code, str(page), "exec"), namespace)
            assert capsys.readouterr().out.splitlines() == PRINTED.findall(code)
        elif match["kind"] in COMMANDS and not match["needs"]:
            for command, shown in commands_of(match):
                # Anything else needs something that tests have not: the page says so.
                assert command == ENVIRONMENT or command.startswith("treecrf "), command
                if command != ENVIRONMENT:
                    run_command(command, shown)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_that_are_not_run_have_options_that_exist(page: Path) -> None:
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        if match["kind"] not in COMMANDS or not match["needs"]:
            continue
        for command, _ in commands_of(match):
            words = shlex.split(command)
            if "treecrf" in words:  # of torchrun, too
                check_options(words[words.index("treecrf") + 1 :])
            elif words[:2] == ["python", "-m"]:
                assert importlib.util.find_spec(words[2]), command
                known = sources(words[2].partition(".")[0])
                options = [word.partition("=")[0] for word in words if word.startswith("--")]
                assert all(f'"{option}"' in known for option in options), command


@cache
def sources(package: str) -> str:
    """The code of a package of this repository, where options are named."""
    return "".join(path.read_text(encoding="utf-8") for path in (ROOT / package).rglob("*.py"))


def check_options(words: list[str]) -> None:
    """Read a command line as the command would, without running it."""
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context(command.name, words)


def commands_of(block: re.Match[str]) -> list[tuple[str, str]]:
    """The commands of a block, each with the output that it shows, if any."""
    body = block["body"].replace("\\\n", " ")
    if block["kind"] == "console":
        parts = [part.partition("\n") for part in re.split(r"^\$ ", body, flags=re.MULTILINE)]
    else:
        parts = [line.partition("\n") for line in body.splitlines()]
    commands = [(command.partition("  #")[0].strip(), output) for command, _, output in parts]
    return [pair for pair in commands if pair[0]]


def run_command(command: str, shown: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        shlex.split(command), env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert run.returncode == 0, f"{command}\n{run.stderr}"
    assert not shown or run.stdout == shown


def test_pages_have_something_to_run() -> None:
    readme = README.read_text(encoding="utf-8")
    blocks = list(FENCE.finditer(readme))
    assert sum(block["kind"] == "python" for block in blocks) >= 2
    sessions = [block for block in blocks if block["kind"] == "console" and not block["needs"]]
    assert sum(len(commands_of(session)) for session in sessions) >= 5


def test_every_block_is_found() -> None:
    """One that is indented, or whose mark is not just before it, would be left out."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fences = re.findall(rf"^[ \t]*(?:```|~~~)(?:{'|'.join(COMMANDS)})\b", text, re.MULTILINE)
        blocks = [block for block in FENCE.finditer(text) if block["kind"] in COMMANDS]
        assert len(blocks) == len(fences), page
        plain = [block["body"] for block in FENCE.finditer(text) if not block["kind"]]
        assert not re.search(r"^(?:\$ |treecrf |make )", "\n".join(plain), re.MULTILINE), page
        marks = re.findall(r"^\s*<!-- needs:", text, re.MULTILINE)
        assert len(marks) == sum(bool(block["needs"]) for block in blocks), page


def test_make_commands_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    code = [match["body"] for text in texts for match in FENCE.finditer(text)]
    code += [part for text in texts for part in re.findall(r"`([^`\n]+)`", text)]
    named = {target for part in code for target in re.findall(r"\bmake ([a-z-]+)", part)}
    assert {"parse", "test"} <= named
    assert named <= targets


def test_make_parse_draws_trees(tmp_path: Path) -> None:
    """With the environment that runs the tests, and a folder of its own for the model."""
    environment = Path(sys.prefix)
    if not (environment / ".installed").exists():
        pytest.skip("the tests do not run in the environment that make made")
    run = subprocess.run(
        ["make", "parse", f"VENV={environment}", f"DEMO={tmp_path}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "I saw Sarah with a telescope" in run.stdout
    assert "root" in run.stdout
