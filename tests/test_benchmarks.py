"""The benchmarks that need treebanks run on a small one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.segment.texts import untrained

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "treebank" / "data" / "golden.conllu"


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    folder = tmp_path / "en_small"
    folder.mkdir()
    full_trees = GOLDEN.read_bytes().split(b"\n\n")[:2]
    (folder / "train.conllu").write_bytes(b"\n\n".join([*full_trees, b""]))
    return tmp_path


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_io_compares_with_conllu(treebanks: Path) -> None:
    figures = treebanks / "io.json"
    options = ("--file", "en_small/train.conllu", "--rounds", 1, "--json", figures)
    result = run("benchmarks.io", treebanks, *options)
    assert result.returncode == 0, result.stderr
    content = json.loads(figures.read_text())
    assert content["words"] == 20
    assert [row["what"] for row in content["rows"]] == [
        "forms, heads and relations",
        "tokens with every column",
        "new tree and written",
    ]


def test_io_times_nothing_where_the_readers_differ(treebanks: Path) -> None:
    (treebanks / "en_small" / "train.conllu").write_bytes(GOLDEN.read_bytes())  # a partial tree
    result = run("benchmarks.io", treebanks, "--file", "en_small/train.conllu")
    assert result.returncode == 1
    assert result.stderr.startswith("sentence 3 differs, so nothing is timed")


def test_pseudoprojective_counts_what_comes_back(treebanks: Path) -> None:
    figures = treebanks / "figures.json"
    result = run("benchmarks.pseudoprojective", treebanks, "--json", figures)
    assert result.returncode == 0, result.stderr
    assert "| en_small |           1 |       100.00 |" in result.stdout
    rows = json.loads(figures.read_text())["rows"]
    assert [(row["arcs"], row["lifted"], row["restored"]) for row in rows] == [(20, 1, 1)] * 3


def test_segment_times_what_loses_nothing(tmp_path: Path) -> None:
    model, figures = tmp_path / "model", tmp_path / "figures.json"
    untrained().save(model)
    options = ("--characters", 2000, "--rounds", 1, "--json", figures)
    result = run("benchmarks.segment", GOLDEN, "--model", model, *options)
    assert result.returncode == 0, result.stderr
    content = json.loads(figures.read_text())
    assert list(content["f1"]) == ["tokens", "words", "sentences"]
    assert all(row["words"] > 0 for row in content["speeds"])


def test_roundtrip_says_what_differs(treebanks: Path) -> None:
    assert run("benchmarks.roundtrip", treebanks).returncode == 0
    path = treebanks / "en_small" / "train.conllu"
    path.write_bytes(path.read_bytes() + b"\n")
    result = run("benchmarks.roundtrip", treebanks)
    assert result.returncode == 1
    assert "DIFFERENT" in result.stdout


def test_a_folder_without_treebanks_is_named(tmp_path: Path) -> None:
    result = run("benchmarks.roundtrip", tmp_path)
    assert result.stderr.startswith(f"no **/*.conllu in {tmp_path}; make ... TREEBANKS=FOLDER")
