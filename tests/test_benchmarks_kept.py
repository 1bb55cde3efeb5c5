"""The benchmark of what we keep by hand, at toy sizes."""

import json
from pathlib import Path

import pytest

from tests.benchmark_runs import run
from treecrf.nn.onednn.linear import has_packed_products

pytestmark = pytest.mark.slow


def found(folder: Path, *what: str) -> dict[str, list[dict[str, str]]]:
    figures = folder / "kept.json"
    size = ("--sentences", 80, "--layers", 1, "--config", "tiny", "--rounds", 1)
    result = run("benchmarks.kept", *what, *size, "--json", figures)
    assert result.returncode == 0, result.stderr
    tables: dict[str, list[dict[str, str]]] = json.loads(figures.read_text())
    return tables


def test_what_we_keep_is_timed_beside_the_library(tmp_path: Path) -> None:
    packs = has_packed_products()
    tables = found(tmp_path, "bert", "wordpieces", *["packed"] * packs)
    assert all(float(row["transformers"]) > 0 for row in tables["bert"])
    assert float(tables["wordpieces"][0]["tokenizers"]) > 0
    assert len(tables["packed"]) == 6 if packs else "packed" not in tables


def test_one_graph_for_all_sizes_is_made_of_some_parts(tmp_path: Path) -> None:
    lstm, bert, siblings = (row["torch.export"] for row in found(tmp_path, "exporter")["exporter"])
    assert lstm.startswith("refused: ")
    assert bert == "one graph for all sizes"
    assert siblings.startswith("wrong for 3 sentences of 31: ")


@pytest.mark.cluster
def test_gradients_of_two_processes_are_those_of_the_library(tmp_path: Path) -> None:
    step, alone = found(tmp_path, "ranks")["ranks"]
    assert float(step["DistributedDataParallel"].split()[0]) > 0
    assert "Error" in alone["DistributedDataParallel"]


@pytest.mark.cluster
def test_ray_data_writes_other_files_than_it_reads(tmp_path: Path) -> None:
    _, ordered, first, second = (row["found"] for row in found(tmp_path, "ray_data")["ray_data"])
    assert ordered == "3 of 3"
    assert 3 < int(first) < int(second)
