"""The benchmarks that need treebanks run on a small one, that of shapes on short sentences."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "treebank" / "data" / "golden.conllu"


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    folder = tmp_path / "en_small"
    folder.mkdir()
    full_trees = GOLDEN.read_bytes().split(b"\n\n")[:2]
    (folder / "train.conllu").write_bytes(b"\n\n".join([*full_trees, b""]))
    return tmp_path


def run(
    *arguments: object, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *map(str, arguments)]
    settings = os.environ | (environment or {})
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=settings)


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


def test_shapes_are_timed_beside_the_chosen_one(tmp_path: Path) -> None:
    figures = tmp_path / "shapes.json"
    options = ("--lengths", 2, "--seconds", 0, "--json", figures)
    result = run("benchmarks.shapes", *options, environment={"TRITON_INTERPRET": "1"})
    assert result.returncode == 0, result.stderr
    assert "| first_order  | 1 x 2 | 16 x 16, 4 warps, team of 1 |" in result.stdout
    rows = json.loads(figures.read_text())["rows"]
    assert [row["family"] for row in rows] == ["first_order", "second_order"]
    assert [list(row["milliseconds"]) for row in rows] == [
        [
            "16 x 16, 4 warps, team of 1",
            "8 x 16, 4 warps, team of 1",
            "32 x 16, 4 warps, team of 1",
            "16 x 8, 4 warps, team of 1",
            "16 x 32, 4 warps, team of 1",
            "16 x 16, 2 warps, team of 1",
            "16 x 16, 8 warps, team of 1",
        ]
    ] * 2


def test_shapes_need_a_gpu_or_the_interpreter() -> None:
    nothing = {"TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": ""}
    result = run("benchmarks.shapes", environment=nothing)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("the fused kernels need Triton and a CUDA device")
    assert result.stderr.count("\n") == 1
