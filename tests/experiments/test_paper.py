"""All tables by one command, tables of settings, and the paper's own figures beside ours."""

import json
from pathlib import Path

import pytest

from experiments import paper, variants
from experiments.published import las_of
from tests.experiments.toys import OPTIONS, make_treebank, result_of, run

pytestmark = pytest.mark.slow


def test_one_command_makes_the_tables_and_goes_on_where_it_was(
    treebank: Path, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    english = make_treebank(tmp_path / "en_ewt-2.3", seed=2)
    given = ["--treebank", str(treebank), "--treebank", str(english), "--main", "en_ewt-2.3"]
    given += ["--out", str(out), *OPTIONS, "--seeds", "1", "--jobs", "2"]
    given += ["--only", "convergence,universal,subtrees"]
    assert paper.main([*given, "--minutes", "0"]) == 0  # no time for any
    shown = capsys.readouterr().out
    assert "convergence: 0 of 3 trainings are finished; no table yet" in shown
    assert not (out / "en_ewt-2.3").exists()
    assert paper.main(given) == 0
    shown = capsys.readouterr().out
    assert "8 trainings, " in shown  # the three of convergence are some of them
    assert "sentences a second in all" in shown
    assert "python -m experiments.universal --treebank" in shown
    content = result_of(out, "universal")
    assert content["seeds"] == [1]
    assert {"best_epoch", "epochs"} <= content["trained"][0].keys()
    page = (out / "universal.md").read_text()
    assert "en_ewt-2.3, the paper" in page
    assert las_of("en_ewt-2.3")["Crf2o"] in page
    assert "made, the paper" not in page
    assert "Best epochs: Loc-MST on " in page
    assert "91.33" in (out / "en_ewt-2.3" / "subtrees.md").read_text()  # SIB F of the paper on PTB
    assert paper.main(given) == 0
    assert "8 trainings, 8 finished before" in capsys.readouterr().out


def test_names_of_tables_and_treebanks(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--treebank", str(treebank), "--out", str(tmp_path)]
    assert paper.main([*given, "--only", "main_table,x"]) == 2
    assert "no x; there are main_table, subtrees, " in capsys.readouterr().err
    assert paper.main([*given, "--main", "x"]) == 2
    assert "--main x: give one of made" in capsys.readouterr().err


def test_variants(treebank: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--vary", "sibling_form=biaffine", "--vary", "min_marked=1", "--name", "other")
    run(variants.main, treebank, out, *options)
    content = json.loads((out / "made" / "other.json").read_text())
    rows = {row["system"]: row for row in content["rows"] if row["treebank"] == "made"}
    names = ["Crf2o", "Crf2o, sibling_form = biaffine", "Crf2o, min_marked = 1"]
    assert list(rows) == names
    assert rows["Crf2o"]["p"] is None
    assert "Crf2o on made, seed 1, min_marked = 1" in [item["run"] for item in content["trained"]]
    given = ["--treebank", str(treebank), "--out", str(out), *OPTIONS]
    assert variants.main([*given, "--vary", "size"]) == 2
    assert "give KEY=VALUE, or a preset (default, tiny, paper)" in capsys.readouterr().err
    base = variants.vary(variants.PRESETS["paper"].changed({"epochs": 7}), "default")
    assert (base.batch_tokens, base.epochs) == (1500, 7)
