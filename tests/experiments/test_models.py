"""Models beside the records of their runs: which of them count, and who trains them."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.jobs import finish
from experiments.runs import Run
from experiments.store import Store
from experiments.worker import carry_out
from tests.experiments.test_runs import run_of, start_worker
from treecrf.parser.folder import CHECKPOINT, LOG
from treecrf.parser.training.loop import Epoch

pytestmark = pytest.mark.slow


class StopError(Exception):
    """As when a training is interrupted."""


def stop(_: Epoch) -> None:
    raise StopError


def epochs_in(store: Store, run: Run) -> int:
    return len((store.model_folder(run) / LOG).read_text().splitlines())


def test_a_training_that_has_not_ended_is_no_model(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, store = run_of(treebank), Store(tmp_path)
    finish([run], store, device="cpu", jobs=1)
    assert store.has_model(run)
    shutil.rmtree(tmp_path / "models")  # as in another checkout: the record alone
    with pytest.raises(StopError):
        carry_out(run, store, device="cpu", on_epoch=stop)
    assert epochs_in(store, run) == 1
    assert not store.has_model(run)
    capsys.readouterr()
    finish([run], store, device="cpu", jobs=1, models=[run])
    assert "1 training, 0 finished before" in capsys.readouterr().out
    assert store.has_model(run)
    assert epochs_in(store, run) == 2

    log = store.model_folder(run) / LOG
    lines = log.read_text().splitlines(keepends=True)
    log.write_text(lines[0])  # the checkpoint may have been deleted to make room
    assert not store.has_model(run)
    log.write_text("".join(lines))
    assert store.has_model(run)
    (store.model_folder(run) / CHECKPOINT).touch()
    assert not store.has_model(run)


def test_a_model_with_other_settings_is_another(treebank: Path, tmp_path: Path) -> None:
    run, store = run_of(treebank), Store(tmp_path)
    finish([run], store, device="cpu", jobs=1)
    config = store.model_folder(run) / "config.toml"
    text = config.read_text()
    config.write_text(re.sub(r"^tag_size = \d+", "tag_size = 7", text, flags=re.MULTILINE))
    assert config.read_text() != text
    assert not store.has_model(run)  # as where a default has changed, which is no part of the name


def test_figures_of_two_models_are_not_mixed(treebank: Path, tmp_path: Path) -> None:
    run, store = run_of(treebank), Store(tmp_path)
    with_punctuation = replace(run, punct="tag")
    finish([run, with_punctuation], store, device="cpu", jobs=1)
    assert store.load(run) is not None  # one model, scored in two ways
    assert store.load(with_punctuation) is not None
    store.raw_path(run, "of-a-text").write_text("{}")
    shutil.rmtree(tmp_path / "models")
    finish([run], store, device="cpu", jobs=1, models=[run])
    assert store.load(run) is not None
    assert store.load(with_punctuation) is None
    assert not store.raw_path(run, "of-a-text").exists()


def test_two_commands_do_not_train_in_one_folder(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, store = run_of(treebank, epochs=12), Store(tmp_path)
    with start_worker(run, store) as process:
        carry_out(run, store, device="cpu", on_epoch=stop)  # it has nothing left to train
        assert process.wait(timeout=300) == 0
    shown = capsys.readouterr().out
    assert shown == "waiting for another command that trains Loc on made, seed 1\n"
    assert epochs_in(store, run) == 12
    assert len(json.loads(store.record_path(run).read_text())["epochs"]["las"]) == 12


def test_one_training_under_two_names_is_done_once(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, store = run_of(treebank), Store(tmp_path)
    same = replace(run, treebank=replace(run.treebank, name="same"))
    results = finish([run, same], store, device="cpu", jobs=2, quiet=0)
    assert results[run] == results[same]
    before, _, after = capsys.readouterr().out.partition("[1/2] Loc on made")
    assert "  Loc on made, seed 1: epoch" in before
    assert "Loc on same" not in before  # never both at once
    assert "[2/2] Loc on same" in after
