"""The benchmarks of files, parsers and the service, on small treebanks."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks.stages import Stages
from tests.benchmark_runs import ROOT, run
from tests.parser.models import VOCABULARY, random_scorer, with_loss
from tests.segment.texts import untrained
from treecrf.demo import generate_treebank
from treecrf.nn.int8.linear import has_byte_products
from treecrf.parser import Parser
from treecrf.treebank import write_conllu

pytestmark = pytest.mark.slow

ENGLISH = ROOT / "src" / "treecrf" / "models" / "en"
GOLDEN = ROOT / "tests" / "treebank" / "data" / "golden.conllu"


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    folder = tmp_path / "en_small"
    folder.mkdir()
    full_trees = GOLDEN.read_bytes().split(b"\n\n")[:2]
    (folder / "train.conllu").write_bytes(b"\n\n".join([*full_trees, b""]))
    return tmp_path


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    folder = tmp_path / "en_generated"
    folder.mkdir()
    for seed, (part, count) in enumerate((("train", 60), ("dev", 10))):
        sentences = generate_treebank(count, seed=seed, crossing=0.1)
        write_conllu(sentences, folder / f"{part}.conllu")
    return tmp_path


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


def test_the_host_is_timed_with_and_without_objects(generated: Path) -> None:
    figures = generated / "host.json"
    options = ("--file", "*/*.conllu", "--rounds", 1, "--probs", "--json", figures)
    result = run("benchmarks.host", generated, *options)
    assert result.returncode == 0, result.stderr
    for row in json.loads(figures.read_text())["rows"]:
        assert set(row["objects"]) == set(row["columns"])
        assert min(row["columns"].values()) > 0


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


def test_parser_is_timed_beside_its_encoder(generated: Path) -> None:
    figures = generated / "parser.json"
    size = ("--treebank", "en_generated", "--sentences", 40, "--config", "tiny")
    rounds = ("--epochs", 2, "--rounds", 1, "--workers", 1, "--peers", "none", "--copies", 2)
    result = run(
        "benchmarks.parser", generated, *size, *rounds, "--device", "cpu", "--json", figures
    )
    assert result.returncode == 0, result.stderr
    content = json.loads(figures.read_text())
    assert content["corpus"]["sentences"] == 40
    rows = {(row["question"], row["unit"]): row["ours"] for row in content["rows"]}
    by_bytes = [
        ("parsing, file to file, int8", "sentences/s"),
        ("parsing, file to file, int8", "words/s"),
        ("the encoder alone, int8", "words/s"),
        ("parsing, file to file, int8", "of the encoder"),
    ]
    assert list(rows) == [
        ("training, 5,000 words a batch", "sentences/s"),
        ("training, 200 words a batch", "sentences/s"),
        ("parsing, file to file", "sentences/s"),
        ("parsing, file to file", "words/s"),
        ("parsing, file to file, 1 workers", "sentences/s"),
        ("parsing, file to file, 1 workers", "words/s"),
        ("the encoder alone", "words/s"),
        ("parsing, file to file", "of the encoder"),
        ("parsing, file to file, 1 workers", "of the encoder"),
        *(by_bytes if has_byte_products() else []),
    ]
    assert all(speed > 0 for speed in rows.values())


def test_profile_of_a_parser_has_every_stage(generated: Path) -> None:
    figures = generated / "profile.json"
    size = ("--treebank", "en_generated", "--sentences", 40, "--config", "tiny", "--device", "cpu")
    options = (*size, "--peak", 1, "--operations", "--json", figures)
    result = run("benchmarks.profile_parser", generated, *options)
    assert result.returncode == 0, result.stderr
    content = json.loads(figures.read_text())
    network = {
        "embeddings, CharLSTM",
        "BiLSTM",
        "MLPs",
        "biaffine arcs",
        "triaffine siblings",
        "biaffine relations",
        "batch, on the host",
        "the rest",
    }
    assert set(content["training"]["seconds"]) == network | {
        "TreeCRF",
        "loss of relations, rest of the loss",
        "backward",
        "clipping, Adam",
        "average of weights",
    }
    counts = content["training"]["operations"]
    assert counts["backward"] > counts["MLPs"] == 2  # without dropout
    assert counts["average of weights"] == 1
    assert set(content["parsing"]["seconds"]) == network | {
        "reading",
        "words to numbers",
        "marginals",
        "decoding",
        "best relations, to the host",
        "naming trees",
        "writing",
    }
    assert 0 < content["encoder"]["share_of_limit"] < 1


def test_time_counts_in_the_innermost_stage_alone() -> None:
    now = 0.0

    class Work:
        def inner(self) -> None:
            nonlocal now
            now += 1

        def outer(self) -> None:
            nonlocal now
            now += 10
            self.inner()
            now += 100

        def evaluate(self) -> None:
            nonlocal now
            now += 1000
            self.inner()

    before = dict(vars(Work))
    with Stages(torch.device("cpu"), clock=lambda: now) as stages:
        stages.watch(Work, "inner", "inner")
        stages.watch(Work, "outer", "outer")
        stages.watch(Work, "evaluate", None)
        Work().outer()
        Work().evaluate()
        Work().inner()
    assert stages.seconds == {"inner": 2, "outer": 110}
    assert dict(vars(Work)) == before


def test_onnx_is_timed_where_the_trees_are_the_same(tmp_path: Path) -> None:
    figures = tmp_path / "onnx.json"
    options = ("--config", "tiny", "--sentences", 100, "--rounds", 1, "--json", figures)
    result = run("benchmarks.onnx", *options)
    assert result.returncode == 0, result.stderr
    assert "the same trees for all" in result.stdout
    content = json.loads(figures.read_text())
    assert content["difference"] < 1e-4
    assert list(content["seconds"]) == ["torch", "onnx"]


@pytest.mark.parametrize("asked", [("--config", "tiny"), ("--model", ENGLISH, "--text")])
def test_service_is_loaded_beside_the_parser(asked: tuple[object, ...], tmp_path: Path) -> None:
    figures = tmp_path / "serve.json"
    options = ("--seconds", 2, "--connections", 8, "--json", figures)
    result = run("benchmarks.serve", *asked, *options)
    # How fast, and in how much memory, is another matter on a machine that runs tests.
    assert figures.exists(), result.stderr
    content = json.loads(figures.read_text())
    assert set(content["normal"]["statuses"]) == {"200"}
    assert set(content["half"]["statuses"]) == {"200"}
    assert {"200"} <= set(content["overload"]["statuses"]) <= {"200", "503"}
    for load in (content["normal"], content["overload"]):  # a connection may be reset now and then
        assert sum(load["problems"].values()) <= 0.01 * sum(load["statuses"].values())
    assert content["recovery"] < 60


def test_layers_are_timed_by_their_number(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    result = run("benchmarks.layers", GOLDEN, "--layers", 1, 2, "--rounds", 1, "--json", figures)
    assert result.returncode == 0, result.stderr
    speeds = json.loads(figures.read_text())["words_per_second"]
    assert list(speeds) == ["1", "2"]
    assert all(speed > 0 for pair in speeds.values() for speed in pair)
    result = run("benchmarks.layers", GOLDEN, "--layers", 99)
    assert result.returncode == 1
    assert "has 12" in result.stderr


def test_columns_are_timed_where_the_heads_are_the_same(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    result = run("benchmarks.columns", GOLDEN, "--rounds", 1, "--json", figures)
    assert result.returncode == 0, result.stderr
    assert "all columns" in result.stdout
    (first, *_) = json.loads(figures.read_text())["speeds"]
    assert first["precision"] == "float32"
    assert all(speed > 0 for speeds in first["words_per_second"].values() for speed in speeds)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_text_times_what_loses_nothing(precision: str, tmp_path: Path) -> None:
    model, figures = tmp_path / "model", tmp_path / "figures.json"
    config = with_loss("crf2o")
    weights = random_scorer(config).float().state_dict()
    Parser(config, VOCABULARY, weights, device="cpu").save(model)
    untrained().save(model)
    options = ("--characters", 2000, "--rounds", 1, "--workers", 1, "--json", figures)
    options += ("--precision", precision)
    result = run("benchmarks.text", GOLDEN, "--model", model, *options)
    assert result.returncode == 0, result.stderr
    content = json.loads(figures.read_text())
    assert all(speed > 0 for speed in content["words_per_second"].values())
    assert len(content["words_per_second"]) == 3
    # What was used, and not what was asked for.
    assert content["precision"] == (precision if has_byte_products() else "float32")
    assert set(content["stages"]) >= {"segmenter: network", "encoder", "scores and trees"}
