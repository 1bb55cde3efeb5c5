"""What `treecrf train` refuses, and what it says then."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.running import ONE_EPOCH, TWO_ROOTS, misuse, problem
from treecrf.cli.app import app

HEADLESS = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


def test_another_architecture_cannot_start_from_a_model(
    data: tuple[object, ...], model: Path, out: Path
) -> None:
    line = problem("train", *data, "--init", model, "--set", "lstm_size=32", "--out", out)
    assert line == (
        f"{model}: its weights are for lstm_size = 64, and the settings say 32; leave it out to "
        "take that of the model"
    )
    line = problem("train", *data, "--init", model, "--config", "default", "--out", out)
    assert line.startswith(f"{model}: its weights are for word_size = 64, and the settings say 100")
    missing = out.with_name("missing")
    line = problem("train", *data, "--init", missing, "--out", out)
    assert line.startswith(f"{missing}: no such folder; a model is a folder")
    assert not out.exists()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("lerning_rate=1", "there is no setting 'lerning_rate'; did you mean learning_rate?"),
        ("xyzzy=1", "there is no setting 'xyzzy'"),
        ("epochs", "'epochs' is not a setting: write key=value, such as epochs=10"),
        ("epochs=many", "epochs is 'many'; it is a whole number"),
        ("mlp_dropout=1", "mlp_dropout is 1.0; it is from 0 to below 1"),
        ("loss=crf4o", "loss is 'crf4o'; it is one of: local, crf, crf2o, crf3o, nonprojective"),
    ],
)
def test_wrong_settings(setting: str, expected: str, data: tuple[object, ...], out: Path) -> None:
    assert problem("train", *data, "--set", setting, "--out", out) == expected
    assert not out.exists()


def test_a_setting_that_changes_nothing_is_told_of(data: tuple[object, ...], out: Path) -> None:
    settings = ("--set", "layer_decay=0.5", "--set", "seed=2", "--loss", "local")
    command = ["train", *map(str, data), *ONE_EPOCH, *settings, "--out", str(out)]
    run = CliRunner().invoke(app, command)
    note = "note: layer_decay changes nothing: it is for encoder = transformer\n"
    assert (run.exit_code, run.stderr) == (0, note)


def test_wrong_files(data: tuple[object, ...], out: Path) -> None:
    missing = out.with_name("missing.conllu")
    for option in ("--train", "--dev"):
        arguments = [*data]
        arguments[arguments.index(option) + 1] = missing
        line = problem("train", *arguments, "--out", out)
        assert line == f"{missing}: No such file or directory"
    line = problem("train", *data, "--config", "tinny", "--out", out)
    assert line == "tinny: no such file, and no preset of that name (default, tiny, paper)"
    line = problem("train", *data, *ONE_EPOCH, "--embeddings", missing, "--out", out)
    assert line == f"{missing}: No such file or directory"
    assert not out.exists()
    out.write_text("not a folder")
    line = problem("train", *data, *ONE_EPOCH, "--out", out)
    assert line == f"{out}: not a folder; a model is a folder of several files"
    assert out.read_text() == "not a folder"


@pytest.mark.parametrize(
    ("text", "train", "dev"),
    [
        (
            TWO_ROOTS,
            "{file}:{line}: words 1 and 2 are both roots; if that is meant, train with --set "
            "multiroot=true",
            None,
        ),
        (
            TWO_ROOTS.replace("\t0\t", "\t3\t"),
            "{file}:{line}: head 3 is outside the sentence, which has 2 words",
            "{file}:{line}: head 3 is outside the sentence, which has 2 words",
        ),
        (
            HEADLESS,
            "{file}: there is no sentence to train on: none has a head that can be learnt",
            "{file}: no word has a head, so there is no best epoch to choose by it",
        ),
        (
            "",
            "{file}: there is no sentence to train on: none has a head that can be learnt",
            "{file}: no word has a head, so there is no best epoch to choose by it",
        ),
    ],
    ids=["two roots", "malformed", "no heads", "empty"],
)
def test_data_that_cannot_be_learnt(
    text: str, train: str, dev: str | None, treebank: Path, out: Path
) -> None:
    good, bad = treebank / "dev.conllu", out.with_name("bad.conllu")
    before = "" if "no " in train else good.read_text(encoding="utf-8")
    bad.write_text(before + text, encoding="utf-8")
    where = {"file": bad, "line": before.count("\n") + 1}
    line = problem("train", "--train", bad, "--dev", good, *ONE_EPOCH, "--out", out)
    assert line == train.format(**where)
    if dev is not None:
        line = problem("train", "--train", good, "--dev", bad, *ONE_EPOCH, "--out", out)
        assert line == dev.format(**where)
    assert not out.exists()


def test_devices_that_are_not_there(data: tuple[object, ...], out: Path) -> None:
    line = problem("train", *data, "--device", "cuda:99", "--out", out)
    assert line == "this torch finds no CUDA device 'cuda:99'; use the device cpu"
    line = problem("train", *data, "--device", "gpu", "--out", out)
    assert line == "no device is called 'gpu'; try cpu, cuda or cuda:1"


def test_options_that_do_not_go_together(data: tuple[object, ...], out: Path) -> None:
    for minutes in (0, -1, "nan"):
        line = misuse("train", *data, "--out", out, "--max-minutes", minutes)
        assert line == "--max-minutes must be more than 0 minutes"
    line = misuse("train", *data, "--out", out, "--resume", "--overwrite")
    assert line == "--resume goes on with what --overwrite would remove"
    line = misuse("train", *data, "--out", out, "--init", out, "--embeddings", out)
    assert line == "--init brings its own word vectors; it takes no --embeddings"
    line = misuse("train", *data, "--out", out, "--loss", "crf", "--set", "loss=local")
    assert line == "--loss and --set loss=... say it twice: give one"
