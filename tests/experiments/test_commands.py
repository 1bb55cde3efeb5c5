"""What the commands of experiments have in common beside their work."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.experiments.toys import OPTIONS, make_treebank

ROOT = Path(__file__).parent.parent.parent


def test_the_commands_are_listed() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "experiments"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    documented = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/experiments.md").read_text(), re.M)
    assert re.findall(r"^(\w+) {2,}\S", listed, re.M) == documented


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    treebank = make_treebank(tmp_path / "treebank")
    command = [sys.executable, "-m", "experiments.gold_tags", "--treebank", str(treebank)]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out"), *OPTIONS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    with process:
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    treebank, out = make_treebank(tmp_path / "treebank"), tmp_path / "out"
    command = [sys.executable, "-m", "experiments.gold_tags", "--treebank", str(treebank)]
    process = subprocess.Popen(
        [*command, "--out", str(out), *OPTIONS, "--epochs", "1000"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not list(out.rglob("log.jsonl")):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    with process:
        assert process.stderr is not None
        said = process.stderr.read().strip()
    assert said == "experiments.gold_tags: stopped; the same command goes on from here"
    assert process.returncode == 130
