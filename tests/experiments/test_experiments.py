"""Every experiment from its command line to its files, at toy size."""

import json
import re
from pathlib import Path
from statistics import mean, stdev

import pytest

from experiments import convergence, gold_tags, main_table, partial, speed, subtrees, universal
from experiments.convergence import length_notes
from experiments.systems import SYSTEMS
from tests.experiments.toys import OPTIONS, make_treebank, result_of, run
from treecrf.parser import load
from treecrf.treebank import evaluate, read_conllu

pytestmark = pytest.mark.slow

NAMES = [system.name for system in SYSTEMS]


def test_main_table_has_the_figures_of_the_models(
    treebank: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(main_table.main, treebank, out, "--seeds", "1,2")
    shown = capsys.readouterr().out
    assert "8 trainings, " in shown
    content = result_of(out / "made", "main_table")
    rows = {(row["split"], row["system"], row["metric"]): row for row in content["rows"]}
    assert list(rows) == [
        (split, name, metric)
        for split in ("dev", "test")
        for name in NAMES
        for metric in ("UAS", "LAS")
    ]
    assert len(content["trained"]) == 8  # systems that differ in the decoder share one
    for system in SYSTEMS:
        row = rows["test", system.name, "LAS"]
        assert len(row["values"]) == 2
        assert row["mean"] == pytest.approx(mean(row["values"]), abs=1e-3)
        assert row["spread"] == pytest.approx(stdev(row["values"]), abs=1e-3)
        assert (row["p"] is None) == (system.name == "Loc")
    # The second seed of a model that was kept, parsed again.
    gold = list(read_conllu(treebank / "test.conllu"))
    records = {item["run"]: Path(item["record"]) for item in content["trained"]}
    parser = load(out / "models" / records["Crf2o on made, seed 2"].stem, device="cpu")
    for system in ("Crf2o", "Crf2o w/o MBR"):
        decoder = "mbr" if system == "Crf2o" else "viterbi"
        scores = evaluate(gold, parser.parse_tokens(gold, decoder=decoder))
        for metric in ("UAS", "LAS"):
            expected = pytest.approx(100 * scores[metric].f1, abs=1e-3)
            assert rows["test", system, metric]["values"][1] == expected
    page = (out / "made" / "main_table.md").read_text()
    assert page.startswith("# Main results on made\n")
    table = [line for line in page.splitlines() if line.startswith("| ")]
    assert [line.split("|")[1].strip() for line in table[2:]] == NAMES
    figure = f"{rows['test', 'Loc', 'LAS']['mean']:.2f}"
    assert re.search(rf"\W{re.escape(figure)}\W", table[3])
    assert table[3] in shown


def test_a_second_call_trains_nothing(
    treebank: Path, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(subtrees.main, treebank, out)
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    capsys.readouterr()
    run(convergence.main, treebank, out)  # the same systems, another question
    assert "3 trainings, 3 finished before" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == before

    metrics = [row["metric"] for row in result_of(out / "made", "subtrees")["rows"]]
    assert metrics == ["SIB P", "SIB R", "SIB", "UCM", "LCM"] * 6
    curves = result_of(out / "made", "convergence")["curves"]
    assert list(curves) == ["Loc", "Crf", "Crf2o"]
    assert all(len(curve["las"]) == 2 for curve in curves.values())
    best = max(curves["Loc"]["las"])
    assert curves["Loc"]["las"][curves["Loc"]["reaches_best_of_loc"] - 1] == best
    assert "different numbers of epochs" not in (out / "made" / "convergence.md").read_text()


def test_convergence_says_where_seeds_stop(treebank: Path, out: Path) -> None:
    stopping = ("--seeds", "1,2", "--set", "epochs=6", "--set", "patience=1")
    run(convergence.main, treebank, out, *stopping)
    content = result_of(out / "made", "convergence")
    records = [json.loads((out / run["record"]).read_text()) for run in content["trained"]]
    las = [record["epochs"]["las"] for record in records]
    by_system = {name: las[2 * i : 2 * i + 2] for i, name in enumerate(content["curves"])}
    for name, curve in content["curves"].items():
        assert len(curve["las"]) == min(map(len, by_system[name]))
    page = (out / "made" / "convergence.md").read_text()
    assert all(note in page for note in length_notes(by_system))


def test_convergence_leaves_punctuation_out_where_asked(treebank: Path, out: Path) -> None:
    run(convergence.main, treebank, out, "--punct", "tag")
    page = (out / "made" / "convergence.md").read_text()
    assert "Punctuation is left out." in page
    assert "Punctuation counts" not in page


def test_partial_and_gold_tags(treebank: Path, out: Path) -> None:
    run(partial.main, treebank, out, "--shares", "40,100", "--same-steps")
    content = result_of(out / "made", "partial")
    rows = {(row["unit"], row["keep"], row["system"]): row for row in content["rows"]}
    assert len(rows) == 8
    for system in ("Loc", "Crf2o"):  # all of the data is the same, whatever it is a share of
        assert rows["dependencies", 1.0, system] == rows["sentences", 1.0, system] | {
            "unit": "dependencies"
        }
    records = [json.loads((out / run["record"]).read_text()) for run in content["trained"]]
    epochs = {
        (record["training"]["mask"] or {}).get("unit"): len(record["epochs"]["las"])
        for record in records
    }
    assert epochs == {None: 2, "dependencies": 2, "sentences": 5}

    run(gold_tags.main, treebank, out)
    content = result_of(out / "made", "gold_tags")
    records = [json.loads((out / run["record"]).read_text()) for run in content["trained"]]
    tags = [record["training"]["config"]["tags"] for record in records]
    assert tags == ["none"] * 3 + ["upos"] * 3
    sizes = [record["training"]["config"]["char_size"] for record in records]
    assert sizes == [32] * 3 + [0] * 3  # tags instead of characters
    systems = dict.fromkeys(row["system"] for row in content["rows"])
    names = ["Loc", "Crf", "Crf2o"]
    assert list(systems) == [*names, *(f"{name}, gold UPOS" for name in names)]


def test_universal_averages_over_treebanks(treebank: Path, out: Path, tmp_path: Path) -> None:
    make_treebank(tmp_path / "other", seed=2, test=False)
    run(universal.main, tmp_path, out, "--treebank", str(treebank))
    content = result_of(out, "universal")
    assert content["split"] == "dev"  # one of them has no test part
    rows = {(row["system"], row["treebank"]): row for row in content["rows"]}
    assert [name for name, where in rows if where == "Avg."] == ["Loc-MST", "Loc", "Crf", "Crf2o"]
    for system in ("Loc", "Crf2o"):
        treebanks = [rows[system, name]["mean"] for name in ("made", "other")]
        assert rows[system, "Avg."]["mean"] == pytest.approx(sum(treebanks) / 2, abs=1e-3)
    assert rows["Loc", "Avg."]["p"] is None
    assert 0 < rows["Crf2o", "Avg."]["p"] <= 1


def test_speed(treebank: Path, out: Path) -> None:
    run(speed.main, treebank, out, "--seconds", "0")
    content = result_of(out / "made", "speed")
    assert [(row["system"], row["where"]) for row in content["rows"]] == [
        (name, where)
        for where in ("CPU", "training")
        for name in ("Loc-MST", "Loc", "Crf", "Crf2o")
    ]
    assert all(row["sentences_per_second"] > 0 for row in content["rows"])
    assert content["greedy_share"].keys() == {"Crf", "Crf2o"}
    assert all(0 <= share <= 1 for share in content["greedy_share"].values())


def test_speed_is_of_one_seed(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--treebank", str(treebank), "--out", str(tmp_path), *OPTIONS, "--seeds", "1,2"]
    assert speed.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == ("experiments.speed: speed is measured with one seed: give --seeds one number")
