"""`treecrf evaluate` from end to end: the figures that `treecrf score` has of the parsed file."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.cli.running import misuse, problem, treecrf
from treecrf.cli.app import app


def figures_of(*arguments: object) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(treecrf(*arguments, "--json").stdout)
    return figures


@pytest.mark.parametrize("decoder", [None, "mbr", "viterbi", "mst"])
def test_the_scores_are_those_of_the_parsed_file(
    decoder: str | None, model: Path, treebank: Path, tmp_path: Path
) -> None:
    dev, parsed = treebank / "dev.conllu", tmp_path / "parsed.conllu"
    options = () if decoder is None else ("--decoder", decoder)
    treecrf("parse", dev, "--model", model, *options, "-o", parsed)
    evaluation = figures_of("evaluate", dev, "--model", model, *options)
    assert evaluation.pop("words_per_second") > evaluation.pop("sentences_per_second") > 0
    columns = {name: evaluation.pop(name)["f1"] for name in ("UPOS", "XPOS", "UFeats", "Lemmas")}
    assert evaluation == figures_of("score", dev, parsed)
    expected = figures_of("score", "--conll18", dev, parsed)
    assert columns == {name: pytest.approx(expected[name]["f1"]) for name in columns}
    assert min(columns.values()) > 0.5
    assert 0.5 < evaluation["LAS"]["f1"] < evaluation["UAS"]["f1"] < 1


@pytest.mark.parametrize(
    "options",
    [
        ("--punct", "unicode"),
        ("--punct", "tag", "--subtypes", "cut"),
        ("--by", "relation"),
        ("--by", "length"),
        ("--by", "distance", "--punct", "unicode"),
    ],
)
def test_options_are_those_of_score(
    options: tuple[str, ...], model: Path, treebank: Path, tmp_path: Path
) -> None:
    dev, parsed = treebank / "dev.conllu", tmp_path / "parsed.conllu"
    treecrf("parse", dev, "--model", model, "-o", parsed)
    expected = figures_of("score", dev, parsed, *options)
    evaluation = figures_of("evaluate", dev, "--model", model, *options)
    assert {name: evaluation[name] for name in expected} == expected
    assert any(name.startswith("by_") for name in expected) == ("--by" in options)
    plain = figures_of("score", dev, parsed)
    assert (evaluation["LAS"] != plain["LAS"]) == ("--punct" in options)


def test_a_table_and_the_speed(model: Path, treebank: Path, tmp_path: Path) -> None:
    dev, parsed = treebank / "dev.conllu", tmp_path / "parsed.conllu"
    treecrf("parse", dev, "--model", model, "-o", parsed)
    options = ("--punct", "unicode", "--by", "length")
    table = treecrf("evaluate", dev, "--model", model, "--device", "cpu", *options).stdout
    expected = treecrf("score", dev, parsed, *options).stdout
    lines = table.splitlines()
    named = [line.split()[0] for line in lines if line.strip()]
    assert named[8:12] == ["UPOS", "XPOS", "UFeats", "Lemmas"]
    assert [line for line in expected.splitlines() if line not in lines] == []
    last = lines[-1].split()
    assert " ".join(last[1:2] + last[3:]) == "sentences words) a second on cpu"


def test_raw_text_is_scored_as_conll18_does(
    full_model: Path, treebank: Path, tmp_path: Path
) -> None:
    dev, text, parsed = treebank / "dev.conllu", tmp_path / "dev.txt", tmp_path / "parsed.conllu"
    treecrf("data", "convert", dev, "-o", text)
    treecrf("parse", text, "-m", full_model, "-o", parsed)
    evaluation = figures_of("evaluate", dev, "--raw", "-m", full_model)
    assert evaluation.pop("words_per_second") > evaluation.pop("sentences_per_second") > 0
    assert evaluation == figures_of("score", "--conll18", dev, parsed)
    assert 0.5 < evaluation["BLEX"]["f1"] < evaluation["Words"]["f1"] <= 1
    table = treecrf("evaluate", dev, "--raw", "-m", full_model).stdout
    assert [line.split()[0] for line in table.splitlines()[3:16]] == list(evaluation)
    told = misuse("evaluate", dev, "--raw", "-m", full_model, "--by", "length")
    assert told == "--raw has the rules of CoNLL 2018: no --punct, --subtypes or --by"


def test_an_old_model_says_what_it_does_not_predict(
    model: Path, treebank: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    train = ("--train", treebank / "dev.conllu", "--dev", treebank / "dev.conllu")
    options = ("--config", "tiny", "--set", "epochs=1", "--set", "predict=none")
    treecrf("train", *train, *options, "--out", folder)
    table = treecrf("evaluate", treebank / "dev.conllu", "-m", folder).stdout
    assert "this model predicts no UPOS, XPOS, FEATS or LEMMA\n" in table
    assert "predicts no" not in treecrf("evaluate", treebank / "dev.conllu", "-m", model).stdout
    config = folder / "config.toml"
    lines = config.read_text().splitlines(keepends=True)
    config.write_text("".join(line for line in lines if not line.startswith("predict =")))
    command = ["parse", "--text", "a dog", "--input", "tokens", "-m", str(folder)]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0
    assert run.stderr == (
        "note: this model was trained by an older treecrf: it predicts no UPOS, XPOS, FEATS or "
        "LEMMA; training it again adds them\n"
    )


def test_gold_trees_may_be_partial(model: Path, treebank: Path, tmp_path: Path) -> None:
    partial = tmp_path / "partial.conllu"
    arguments = ("data", "mask", treebank / "dev.conllu", "--keep", 0.5, "-o", partial)
    CliRunner().invoke(app, list(map(str, arguments)))  # which says what it kept
    evaluation = figures_of("evaluate", partial, "--model", model)
    assert 0.5 < evaluation["LAS"]["f1"] < 1
    assert "whole trees" in evaluation["SIB"]["reason"]


def test_a_treebank_from_standard_input(model: Path, treebank: Path) -> None:
    text = (treebank / "dev.conllu").read_text(encoding="utf-8")
    given = json.loads(treecrf("evaluate", "-", "--model", model, "--json", stdin=text).stdout)
    assert given["UAS"] == figures_of("evaluate", treebank / "dev.conllu", "-m", model)["UAS"]


def test_errors_are_one_line(model: Path, treebank: Path, tmp_path: Path) -> None:
    dev, empty = treebank / "dev.conllu", tmp_path / "empty.conllu"
    empty.touch()
    assert problem("evaluate", empty, "-m", model) == f"{empty}: there are no sentences to score"
    headless = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    line = problem("evaluate", "-", "-m", model, stdin=headless)
    assert line == "-: no word has a head, so there is nothing to score"
    line = problem("evaluate", "-", "-m", model, stdin=headless.replace("_\t_\t_\t_\n", "_\n"))
    assert line.startswith("<stdin>:1: 10 columns expected")
    missing = tmp_path / "missing"
    assert problem("evaluate", missing, "-m", model) == f"{missing}: No such file or directory"
    assert problem("evaluate", dev, "-m", missing).startswith(f"{missing}: no such folder")
    line = problem("evaluate", dev, "-m", model, "--device", "cuda:99")
    assert line == "this torch finds no CUDA device 'cuda:99'; use the device cpu"


DAMAGES = {
    "model.safetensors": "damaged, or not a safetensors file",
    "config.toml": "not a TOML file that can be read",
    "vocab.json": "not a vocabulary that can be read",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_model_is_named(name: str, model: Path, treebank: Path, tmp_path: Path) -> None:
    for path in model.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    damaged = tmp_path / name
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 2] + b'\n"[')
    line = problem("evaluate", treebank / "dev.conllu", "--model", tmp_path)
    assert line.startswith(f"{damaged}: {DAMAGES[name]}")
    damaged.unlink()
    line = problem("evaluate", treebank / "dev.conllu", "--model", tmp_path)
    unfinished = f"{tmp_path}: training has not finished its first epoch; go on with --resume"
    missing = f"{tmp_path}: not a model folder: it has no {name}"
    assert line == (unfinished if name == "model.safetensors" else missing)


def test_weights_of_another_model_are_told_from_its_own(
    model: Path, treebank: Path, tmp_path: Path
) -> None:
    for path in model.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = tmp_path / "config.toml"
    config.write_text(config.read_text().replace("lstm_size = 64", "lstm_size = 65"))
    line = problem("evaluate", treebank / "dev.conllu", "--model", tmp_path)
    assert line.startswith(f"{tmp_path}: damaged: the weights do not fit the settings and")
