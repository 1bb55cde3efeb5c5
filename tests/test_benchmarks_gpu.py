"""The command that measures a GPU runs its steps, here on a CPU, and names those that fail."""

import json
from pathlib import Path

import pytest

from benchmarks.gpu import steps
from tests.benchmark_runs import run
from treecrf.demo import generate_treebank
from treecrf.treebank import write_conllu

pytestmark = pytest.mark.slow


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    for name in ("en_ewt-2.3", "en_ewt-2.16"):
        (tmp_path / name).mkdir()
        for part in ("train", "dev"):
            write_conllu(generate_treebank(20, seed=1), tmp_path / name / f"{part}.conllu")
    return tmp_path


def test_options_are_those_that_the_benchmarks_have(treebanks: Path) -> None:
    for command in steps(treebanks, treebanks, "cpu").values():
        if command[0] == "pytest":
            continue
        helped = run(command[0], "--help")
        options = {word for word in command if word.startswith("--")} | {"--json"}
        assert all(option in helped.stdout for option in options), command


def test_each_step_leaves_its_figures(treebanks: Path) -> None:
    out = treebanks / "out"
    asked = ("benchmarks.gpu", treebanks, "--out", out, "--device", "cpu", "--only", "latency")
    result = run(*asked)
    assert result.returncode == 0, result.stderr + result.stdout
    assert "latency: exit 0" in result.stdout
    assert json.loads((out / "latency.json").read_text())["median"] > 0
    result = run(*asked, "--minutes", 0.001)
    assert result.returncode == 1
    assert "failed: latency" in result.stderr
    result = run(*asked, "parsing")
    assert result.returncode == 1
    assert "no such step; there are tests, latency, " in result.stderr
