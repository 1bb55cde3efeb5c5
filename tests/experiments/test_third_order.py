"""The experiment on the third order, at toy size, and its groups of words."""

import json
from pathlib import Path

import pytest

from experiments import third_order
from experiments.breakdown import GROUPS, break_down
from tests.experiments.toys import result_of, run
from treecrf.parser import load
from treecrf.treebank import evaluate, read_conllu


def sentence_file(folder: Path, heads: list[int]) -> Path:
    """«He saw dogs and cats in town» with these heads."""
    forms = ["He", "saw", "dogs", "and", "cats", "in", "town"]
    relations = ["nsubj", "root", "obj", "cc", "conj", "case", "obl:loc"]
    rows = zip(forms, heads, relations, strict=True)
    path = folder / "sentence.conllu"
    lines = [
        f"{i}\t{form}\t_\tNOUN\t_\t_\t{head}\t{relation}\t_\t_\n"
        for i, (form, head, relation) in enumerate(rows, 1)
    ]
    path.write_text("".join(lines) + "\n")
    return path


def test_words_are_grouped_by_the_gold_tree(tmp_path: Path) -> None:
    gold = list(read_conllu(sentence_file(tmp_path, [2, 0, 2, 5, 3, 7, 2])))
    parsed = list(read_conllu(sentence_file(tmp_path, [2, 0, 2, 5, 2, 7, 5])))
    found = break_down(gold, parsed, punct="keep")
    assert found.words == {
        "length 1": 4, "length 2": 1, "length 3-6": 1,
        "depth 1": 1, "depth 2": 3, "depth 3-4": 3,
        "coordination": 1, "prepositions": 1,
    }  # fmt: skip
    assert found.accuracy("depth 2") == pytest.approx(200 / 3)
    assert found.accuracy("depth 3-4") == pytest.approx(200 / 3)
    assert found.accuracy("length 1") == 100
    assert found.accuracy("length 2") == found.accuracy("coordination") == 0
    assert found.accuracy("length 3-6") == found.accuracy("prepositions") == 0
    assert found.accuracy("depth 5+") is None


def test_words_without_a_gold_head_are_in_no_group(tmp_path: Path) -> None:
    text = sentence_file(tmp_path, [2, 0, 2, 5, 3, 7, 2]).read_text()
    path = tmp_path / "partial.conllu"
    path.write_text(text.replace("\t3\tconj", "\t_\tconj"))
    gold = list(read_conllu(path))
    found = break_down(gold, gold, punct="keep")
    assert found.words["coordination"] == 0
    assert found.words["length 1"] == 4
    # Nobody knows how deep the words below it are.
    assert found.words["depth 3-4"] == 1


@pytest.mark.slow
def test_third_order_has_the_figures_of_the_models(treebank: Path, out: Path) -> None:
    run(third_order.main, treebank, out, "--seeds", "1,2", "--seconds", "0.1")
    content = result_of(out / "made", "third_order")
    names = ["Loc", "Crf", "Crf2o", "Crf3o w/o siblings", "Crf3o"]
    rows = {(row["split"], row["system"], row["metric"]): row for row in content["rows"]}
    assert list(rows) == [
        (split, name, metric)
        for split in ("dev", "test")
        for name in names
        for metric in ("UAS", "LAS", "LCM")
    ]
    settings = {}
    for item in content["trained"]:
        config = json.loads((out / item["record"]).read_text())["training"]["config"]
        settings[item["run"]] = (config["loss"], config["crf3o_siblings"])
    assert settings["Crf3o w/o siblings on made, seed 2"] == ("crf3o", False)
    assert settings["Crf3o on made, seed 1"] == ("crf3o", True)
    assert len(settings) == 10
    # The second seed of one model, parsed again.
    gold = list(read_conllu(treebank / "test.conllu"))
    records = {item["run"]: Path(item["record"]) for item in content["trained"]}
    parser = load(out / "models" / records["Crf3o on made, seed 2"].stem, device="cpu")
    parsed = parser.parse_tokens(gold)
    assert rows["test", "Crf3o", "UAS"]["values"][1] == pytest.approx(
        100 * evaluate(gold, parsed)["UAS"].f1, abs=1e-3
    )
    found = break_down(gold, parsed, punct="keep")
    assert sum(found.words[group] for group in GROUPS if group.startswith("depth")) == sum(
        map(len, gold)
    )
    groups = {(row["system"], row["group"]): row for row in content["groups"]}
    for group in ("length 1", "depth 2", "prepositions"):
        expected = pytest.approx(found.accuracy(group), abs=1e-3)
        assert groups["Crf3o", group]["values"][1] == expected
    assert [row["system"] for row in content["speed"]] == names
    assert all(row["training"] > 0 and row["parsing"] > 0 for row in content["speed"])
    page = (out / "made" / "third_order.md").read_text()
    assert "Crf3o against Crf2o, LAS: p = " in page
    assert "| coordination " in page or ("Crf3o", "coordination") not in groups
