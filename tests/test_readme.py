"""The README and the pages in docs/ do what they say: their Python and the commands run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
FRONT_PAGE = ROOT / "website" / "pages" / "index.md"
PAGES = [README, FRONT_PAGE, *sorted((ROOT / "docs").glob("*.md"))]
# Pages whose commands run as they stand, one after the other; others name files of the reader's.
WITH_COMMANDS = {
    README,
    *(ROOT / "docs" / name for name in ("integrations.md", "parser.md", "partial.md")),
}

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PRINTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_does_what_it_says(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From top to bottom, in a folder with the examples in it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": page.stem}
    for match in FENCE.finditer(text):
        if match[1] == "python":
            # Moved down to its line, so that a traceback points there.
            code = "\n" * text.count("\n", 0, match.start(2)) + match[2]
            exec(compile(code, str(page), "exec"), namespace)
            assert capsys.readouterr().out.splitlines() == PRINTED.findall(code)
        elif match[1] == "console" and page in WITH_COMMANDS:
            for command, shown in treecrf_commands(match[2]):
                run_command(command, shown)


def treecrf_commands(session: str) -> list[tuple[str, str]]:
    """The treecrf commands of a console block, each with the output that it shows, if any."""
    parts = [part.partition("\n") for part in re.split(r"^\$ ", session, flags=re.MULTILINE)]
    commands = [(command.partition("  #")[0].strip(), output) for command, _, output in parts]
    return [pair for pair in commands if pair[0].startswith("treecrf ")]


def run_command(command: str, shown: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        shlex.split(command), env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert run.returncode == 0, f"{command}\n{run.stderr}"
    assert not shown or run.stdout == shown


def test_pages_have_something_to_run() -> None:
    readme = README.read_text(encoding="utf-8")
    blocks = FENCE.findall(readme)
    assert sum(kind == "python" for kind, _ in blocks) >= 2
    sessions = [session for kind, session in blocks if kind == "console"]
    assert sum(len(treecrf_commands(session)) for session in sessions) >= 5


def test_make_commands_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    text = README.read_text(encoding="utf-8")
    code = [match[2] for match in FENCE.finditer(text)] + re.findall(r"`([^`\n]+)`", text)
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
