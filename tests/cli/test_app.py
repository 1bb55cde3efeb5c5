"""The command itself: it starts at once, says what went wrong in a line, and exists twice."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

import treecrf

COMMAND = Path(sys.executable).with_name("treecrf")


def run(*arguments: str, command: tuple[str, ...] = (sys.executable, "-m", "treecrf")) -> str:
    result = subprocess.run([*command, *arguments], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_help_takes_no_time() -> None:
    def seconds() -> float:
        # Processor time: on a warm machine that is all it takes, and here other tests run as well.
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert "GOLD" in run("score", "--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.3


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from treecrf.cli.app import app\n"
        "app(['score', '--help'], standalone_mode=False)\n"
        "print(sorted({'torch', 'numpy', 'numba', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stderr == "[]\n"


def test_the_script_and_the_module_are_the_same() -> None:
    assert run("--version") == f"treecrf {treecrf.__version__}\n"
    assert run("--help") == run("--help", command=(str(COMMAND),))


@pytest.mark.parametrize("name", ["score", "compare", "data"])
def test_help_names_each_command(name: str) -> None:
    assert name in run("--help")
    assert "Usage: treecrf " + name in run(name, "--help")


def test_the_package_says_what_it_has() -> None:
    assert {"Sentence", "Token", "__version__"} <= set(dir(treecrf))
    assert treecrf.__all__ == sorted(treecrf.__all__)
    with pytest.raises(AttributeError, match="module 'treecrf' has no attribute 'nothing'"):
        treecrf.nothing  # noqa: B018
