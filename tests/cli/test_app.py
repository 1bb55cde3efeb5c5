"""The command itself: it starts at once, says what went wrong in a line, and exists twice."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import treecrf

GOLDEN = Path(__file__).parent.parent / "treebank" / "data" / "golden.conllu"
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


@pytest.mark.parametrize(
    "command", ["score", "train", "parse", "evaluate", "annotate", "doctor", "export", "calibrate"]
)
def test_help_loads_nothing_heavy(command: str) -> None:
    code = (
        "import sys\n"
        "from treecrf.cli.app import app\n"
        f"app([{command!r}, '--help'], standalone_mode=False)\n"
        "print(sorted({'torch', 'numpy', 'numba', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stderr == "[]\n"


def test_the_script_and_the_module_are_the_same() -> None:
    assert run("--version") == f"treecrf {treecrf.__version__}\n"
    assert run("--help") == run("--help", command=(str(COMMAND),))


@pytest.mark.parametrize("group", [(), ("data",)])
def test_without_a_command_there_is_help(group: tuple[str, ...]) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "treecrf", *group], capture_output=True, text=True
    )
    assert result.stderr.rstrip() == run(*group, "--help").rstrip()


def test_a_shell_completes_commands() -> None:
    shell = ("bash", "-c", f"{sys.executable} -m treecrf --show-completion; true")
    script = run(command=shell)
    assert "_TREECRF_COMPLETE=complete_bash" in script
    asked = 'COMP_WORDS=(treecrf ann) COMP_CWORD=1; _treecrf_completion "$0"; echo "$COMPREPLY"'
    answer = run(str(COMMAND), command=("bash", "-c", script + asked))
    assert answer == "annotate\n"


@pytest.mark.parametrize(
    "name", ["score", "compare", "data", "train", "parse", "evaluate", "annotate"]
)
def test_help_names_each_command(name: str) -> None:
    assert name in run("--help")
    assert "Usage: treecrf " + name in run(name, "--help")


def test_the_package_says_what_it_has() -> None:
    assert {"Sentence", "Token", "__version__"} <= set(dir(treecrf))
    assert treecrf.__all__ == sorted(treecrf.__all__)
    with pytest.raises(AttributeError, match="module 'treecrf' has no attribute 'nothing'"):
        treecrf.nothing  # noqa: B018


@pytest.mark.parametrize(
    "arguments", ["--help", "score {0} {0}", "score {0} {0} --json", "data convert {0}"]
)
def test_a_closed_output_is_one_line(arguments: str) -> None:
    line = f"{sys.executable} -m treecrf {arguments.format(GOLDEN)} >&-"
    result = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (2, "standard output is closed\n")


def test_a_closed_output_is_not_missed_by_what_writes_a_file(tmp_path: Path) -> None:
    copy = tmp_path / "copy.conllu"
    line = f"{sys.executable} -m treecrf data convert {GOLDEN} -o {copy} >&-"
    subprocess.run(line, shell=True, check=True)
    assert copy.read_bytes() == GOLDEN.read_bytes()


@pytest.mark.parametrize(
    ("sent", "said"),
    [(signal.SIGTERM, ""), (signal.SIGHUP, ""), (signal.SIGINT, "interrupted\n")],
)
def test_the_end_by_a_signal_leaves_no_temporary_file(
    sent: signal.Signals, said: str, tmp_path: Path
) -> None:
    target = tmp_path / "copy.conllu"
    target.write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-m", "treecrf", "data", "convert", "-", "-o", str(target)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Under nohup the tests ignore SIGHUP, and so would the command.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    with process:
        deadline = time.monotonic() + 300
        while len(os.listdir(tmp_path)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(os.listdir(tmp_path)) == 2
        process.send_signal(sent)
        assert process.communicate()[1] == said
    assert process.returncode == 128 + sent
    assert os.listdir(tmp_path) == [target.name]
    assert target.read_text() == "old"


def test_an_early_interrupt_has_no_traceback() -> None:
    # As if Ctrl-C came while the command was being loaded.
    code = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'typer':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from treecrf.__main__ import main\n"
        "main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (130, "")
