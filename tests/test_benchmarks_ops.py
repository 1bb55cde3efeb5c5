"""The benchmarks of the layer and of the LSTM, on sentences of a few words."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from torch import Tensor

from benchmarks import peers
from benchmarks.families import FAMILIES
from benchmarks.lstm_tiles import difference
from benchmarks.memory import process_peak_mib
from benchmarks.ops import Row, measure, print_rows
from tests.benchmark_runs import run

pytestmark = pytest.mark.slow


def test_ops_are_timed_beside_the_reference(tmp_path: Path) -> None:
    figures = tmp_path / "ops.json"
    size = ("--shapes", "2x3", "--growth", 2, 3, "--seconds", 0, "--device", "cpu")
    result = run("benchmarks.ops", *size, "--json", figures)
    assert result.returncode == 0, result.stderr
    for module in ("supar", "torch_struct"):  # told once, if it is not here
        told = result.stderr.count(f"No module named '{module}'")
        assert told == (find_spec(module) is None)
    content = json.loads(figures.read_text())
    assert {"commit", "cores", "torch", "numba", "threads"} <= set(content["machine"])
    rows = [row for row in content["rows"] if row["question"] == "log Z + marginals"]
    assert [row["family"] for row in rows] == list(FAMILIES)
    assert all({"ours", "reference"} <= set(row["milliseconds"]) for row in rows)
    assert [row["words"] for row in content["growth"]] == [2, 2, 3, 3] * len(FAMILIES)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells the peak")
def test_peak_memory_of_grandparents_is_that_of_their_charts() -> None:
    """Three charts of mantissas and exponents and three of flows, 101^3 cells of float64 each."""
    peak = process_peak_mib("grandsibling", sentences=1, words=100)
    charts = 9 * 8 * 101**3 / 2**20
    assert peak is not None
    # Some of it may be memory that was free before.
    assert charts / 2 < peak < 3 * charts + 20


def test_a_peer_that_lies_is_not_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def liar(family: str, parts: tuple[Tensor, ...], *, lengths: Tensor) -> peers.Peer:
        uniform = torch.full_like(parts[0], 1 / parts[0].shape[1])
        chains = torch.arange(-1, parts[0].shape[1] - 1).clamp(min=0).repeat(len(lengths), 1)
        return peers.Peer("liar", lambda: (lengths.float(), uniform), lambda: chains)

    monkeypatch.setattr(peers, "supar", liar)
    rows = measure("first_order", torch.device("cpu"), sentences=2, words=5, seconds=0)
    assert [set(row.milliseconds) - {"torch-struct", "plain loops"} for row in rows] == [
        {"ours", "reference"}
    ] * 2
    told = capsys.readouterr().err
    assert "liar log Z + marginals differ from the reference: log Z by" in told
    assert "liar argmax misses the best score by" in told


def test_a_ratio_tells_who_is_ahead(capsys: pytest.CaptureFixture[str]) -> None:
    times = {"ours": 2.0, "slower": 50.0, "faster": 1.5}
    print_rows([Row("first_order", "argmax", 2, 3, times, None)])
    assert "|   50.0 |   25x |    1.5 |  0.8x |" in capsys.readouterr().out


def test_profile_of_the_layer_tells_the_longest(tmp_path: Path) -> None:
    figures = tmp_path / "profile.json"
    size = ("--shapes", "2x3", "--device", "cpu")
    result = run("benchmarks.profile", *size, "--json", figures)
    assert result.returncode == 0, result.stderr
    rows = json.loads(figures.read_text())["rows"]
    assert [row["family"] for row in rows] == list(FAMILIES)
    for row in rows:
        assert row["wall"] > 0
        assert row["calls"] >= len(row["longest"]) == 2


def test_shapes_are_timed_beside_the_chosen_one(tmp_path: Path) -> None:
    figures = tmp_path / "shapes.json"
    options = ("--lengths", 2, "--seconds", 0, "--json", figures)
    result = run("benchmarks.shapes", *options, environment={"TRITON_INTERPRET": "1"})
    assert result.returncode == 0, result.stderr
    assert "| first_order  | 1 x 2 | 16 x 8, 4 warps, team of 1 |" in result.stdout
    rows = json.loads(figures.read_text())["rows"]
    assert [row["family"] for row in rows] == ["first_order", "second_order"]
    assert [list(row["milliseconds"]) for row in rows] == [
        [
            "16 x 8, 4 warps, team of 1",
            "8 x 8, 4 warps, team of 1",
            "32 x 8, 4 warps, team of 1",
            "16 x 4, 4 warps, team of 1",
            "16 x 16, 4 warps, team of 1",
            "16 x 8, 2 warps, team of 1",
            "16 x 8, 8 warps, team of 1",
        ]
    ] * 2


def test_shapes_need_a_gpu_or_the_interpreter() -> None:
    nothing = {"TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": ""}
    result = run("benchmarks.shapes", environment=nothing)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("the fused kernels need Triton and a CUDA device")
    assert result.stderr.count("\n") == 1


def test_lstm_is_timed_beside_the_library(tmp_path: Path) -> None:
    figures = tmp_path / "lstm.json"
    size = ("--batches", "2x2", "--size", 5, "--layers", 1, "--forms", 2, "--char-size", 3)
    options = (*size, "--seconds", 0, "--json", figures)
    result = run("benchmarks.lstm", *options, environment={"TRITON_INTERPRET": "1"})
    assert result.returncode == 0, result.stderr
    content = json.loads(figures.read_text())
    assert [row["what"] for row in content["layers"]] == ["2 x 2", "2 forms"]
    for row in content["layers"]:
        assert row["difference"] < 1e-4
        assert list(row["forward"]) == list(row["training"]) == ["library", "fused"]
    assert [(row["what"], row["direction"]) for row in content["tiles"]] == [
        (batch, direction)
        for batch in ("2 x 2", "2 forms")
        for direction in ("forward", "backward")
    ]
    assert all(row["chosen"] in row["microseconds"] for row in content["tiles"])


def test_a_difference_that_is_no_number_is_told() -> None:
    one, none = torch.ones(2), torch.full((2,), float("nan"))
    assert difference([one, one], [one, one]) == 0
    assert not difference([one, none], [one, one]) <= 1


def test_lstm_needs_a_gpu_or_the_interpreter() -> None:
    nothing = {"TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": ""}
    result = run("benchmarks.lstm", environment=nothing)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("the fused LSTM needs Triton and a CUDA device")
    assert result.stderr.count("\n") == 1
