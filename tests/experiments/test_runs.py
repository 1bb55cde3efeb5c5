"""Runs and what is kept of them: keys, records, interrupted trainings, errors."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from experiments import main_table, universal
from experiments.by_treebank import one_release_each
from experiments.comparison import spread_note
from experiments.errors import ExperimentError
from experiments.jobs import finish
from experiments.options import start
from experiments.runs import Mask, Run
from experiments.store import Store
from experiments.systems import LOC
from experiments.treebanks import open_treebank
from experiments.worker import carry_out
from tests.experiments.toys import OPTIONS, make_treebank
from treecrf.demo import generate_treebank
from treecrf.parser import Config, load_config
from treecrf.parser.folder import CHECKPOINT, LOG
from treecrf.treebank import write_conllu

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
TINY = load_config("tiny")


def run_of(treebank: Path, *, epochs: int = 2) -> Run:
    base = TINY.changed({"epochs": epochs, "patience": epochs})
    return Run(open_treebank(treebank), LOC.config(base, 1))


def start_worker(run: Run, store: Store) -> subprocess.Popen[str]:
    """The process that `--jobs` starts, up to its next checkpoint after an epoch."""
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments.worker"], stdin=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdin is not None
    task = {"run": run.to_dict(), "store": str(store.folder), "device": "cpu"}
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()
    path, log = (store.model_folder(run) / name for name in (CHECKPOINT, LOG))
    before = path.stat().st_mtime_ns if path.exists() else 0
    while not log.exists() or not path.exists() or path.stat().st_mtime_ns == before:
        assert process.poll() is None
        time.sleep(0.01)
    return process


def test_dependencies_that_were_drawn_otherwise_are_another_run() -> None:
    """A record from before says not how: it rounded in each sentence. Sentences are as before."""
    before = {"unit": "dependencies", "keep": 0.1, "seed": 1}
    assert Mask("dependencies", 0.1, 1).training != before
    assert Mask("sentences", 0.1, 1).training == before | {"unit": "sentences"}


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In this process and in those that it starts: results depend on it in the last bits."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_what_was_interrupted_goes_on(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, store = run_of(treebank, epochs=12), Store(tmp_path / "killed")
    with start_worker(run, store) as process:
        assert process.stdin is not None
        process.stdin.close()  # as when the experiment that started it is killed
        assert process.wait(timeout=300) == 1
    with start_worker(run, store) as process:
        process.kill()
    assert store.load(run) is None
    results = finish([run], store, device="cpu", jobs=1)
    shown = capsys.readouterr().out
    assert "going on with Loc on made, seed 1 after epoch " in shown
    assert not (store.model_folder(run) / CHECKPOINT).exists()

    whole = Store(tmp_path / "whole")
    carry_out(run, whole, device="cpu")
    expected = whole.load(run)
    assert expected is not None
    assert len(expected.las) == 12
    assert replace(results[run], seconds=expected.seconds) == expected


@pytest.mark.usefixtures("one_thread")
def test_runs_side_by_side_are_the_same(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run_of(treebank), replace(run_of(treebank), mask=Mask("sentences", 0.5, 1))]
    together = finish(runs, Store(tmp_path / "together"), device="cpu", jobs=2, quiet=0)
    shown = capsys.readouterr().out
    assert re.findall(r"^\[(\d)/2\]", shown, re.MULTILINE) == ["1", "2"]
    told = r"^  Loc on made, seed 1.*: epoch \d of at most \d$"
    assert re.search(told, shown, re.MULTILINE)
    alone = finish(runs, Store(tmp_path / "alone"), device="cpu", jobs=1, quiet=0)
    assert re.search(told, capsys.readouterr().out, re.MULTILINE)
    for run in runs:
        assert together[run] == replace(alone[run], seconds=together[run].seconds)


def test_a_key_depends_on_all_that_a_result_depends_on(treebank: Path, tmp_path: Path) -> None:
    run = run_of(treebank)
    other = make_treebank(tmp_path / "made", seed=3)
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in treebank.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    assert run_of(copy).key == run.key
    runs = [
        run,
        run_of(other),
        replace(run, config=replace(run.config, seed=2)),
        replace(run, config=replace(run.config, learning_rate=0.5)),
        replace(run, mask=Mask("sentences", 0.5, 1)),
        replace(run, mask=Mask("dependencies", 0.5, 1)),
        replace(run, embeddings=run.treebank.dev),
    ]
    assert len({run.key for run in runs}) == len(runs)
    for run in runs:
        assert Run.from_dict(json.loads(json.dumps(run.to_dict()))) == replace(
            run, treebank=replace(run.treebank)
        )
        assert [other for other in runs if other.is_of(run.training)] == [run]


def test_a_key_depends_on_what_is_in_the_folder_of_a_transformer(
    treebank: Path, tmp_path: Path
) -> None:
    (folder := tmp_path / "bert").mkdir()
    given = ["--set", "encoder=transformer", "--set", f"transformer={folder}"]
    runs = [planned(treebank)]
    for name, content in (("config.json", "{}"), ("model.safetensors", "a"), ("vocab.txt", "a")):
        (folder / name).write_text(content)
        runs.append(planned(treebank, *given))
    (folder / "model.safetensors").write_text("b")
    runs.append(planned(treebank, *given))
    assert len({run.key for run in runs}) == len(runs)
    for run in runs:
        assert [other for other in runs if other.is_of(run.training)] == [run]
        assert Run.from_dict(json.loads(json.dumps(run.to_dict()))).key == run.key
    (folder / ".cache").write_text("")
    assert planned(treebank, *given).key == runs[-1].key
    named = planned(treebank, "--set", "encoder=transformer", "--set", "transformer=of/hub")
    assert named.transformer is None
    assert "transformer" not in runs[0].training  # other runs have the names that they had


def planned(treebank: Path, *arguments: str) -> Run:
    """The first training of a command."""
    runs: list[Run] = []
    start(
        "gold_tags",
        None,
        lambda options: runs.append(options.plan(LOC, 1)),
        arguments=["--treebank", str(treebank), *arguments],
    )
    return runs[0]


@pytest.mark.parametrize("name", ["train.conllu", "dev.conllu", "test.conllu"])
def test_data_that_has_changed_since_is_not_used(treebank: Path, tmp_path: Path, name: str) -> None:
    folder, store = shutil.copytree(treebank, tmp_path / "made"), Store(tmp_path / "out")
    run = run_of(folder)
    write_conllu(generate_treebank(20, seed=8), folder / name)
    with pytest.raises(ExperimentError, match=f"{name}: changed since the command began; give"):
        carry_out(run, store, device="cpu")
    assert store.load(run) is None


def test_a_setting_that_is_new_leaves_old_runs_valid(treebank: Path) -> None:
    run = run_of(treebank)
    training = run.training
    del training["config"]["mix_layers"]  # as a run has it that was finished before there was one
    assert run.is_of(training)
    training["config"]["tag_size"] = 50  # a default that has changed since
    assert not run.is_of(training)
    assert not run.is_of({})
    assert Config().to_dict().keys() >= training["config"].keys()


def test_a_default_that_has_changed_shows_in_the_whole_key(
    treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(treebank)
    key, whole_key = run.key, run.whole_key
    assert whole_key.startswith(key)
    changed = Config(tag_size=run.config.tag_size + 1)
    monkeypatch.setattr("experiments.runs.Config", lambda: changed)  # as a later version has it
    later = replace(run, config=replace(run.config, tag_size=changed.tag_size))
    assert later.key == key
    assert later.whole_key != whole_key


def test_a_test_part_that_comes_later_needs_no_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_treebank(tmp_path / "made", test=False)
    store = Store(tmp_path / "out")
    run = run_of(folder)
    finish([run], store, device="cpu", jobs=1)
    weights = store.model_folder(run) / "model.safetensors"
    before = weights.stat().st_mtime_ns
    write_conllu(generate_treebank(5, seed=9), folder / "test.conllu")
    tested = run_of(folder)
    assert store.load(tested) is None
    result = finish([tested], store, device="cpu", jobs=1)[tested]
    assert len(result.parses["test", "viterbi"]) == 5
    assert weights.stat().st_mtime_ns == before
    assert store.load(run) is not None
    weights.unlink()
    capsys.readouterr()
    finish([tested], store, device="cpu", jobs=1)
    assert "1 training, 1 finished before" in capsys.readouterr().out
    finish([tested], store, device="cpu", jobs=1, models=[tested])  # now that is not enough
    assert weights.exists()


def test_a_run_that_fails_is_named(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (broken := tmp_path / "broken").mkdir()
    for path in treebank.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    (broken / "train.conllu").write_text("1\tno\n")
    for number in ("1", "2"):
        options = ["--out", str(tmp_path / number), *OPTIONS, "--jobs", number]
        assert main_table.main(["--treebank", str(broken), *options]) == 2
        line = capsys.readouterr().err.splitlines()[-1]
        assert line.startswith("experiments.main_table: Loc")
        assert f"{broken / 'train.conllu'}:1: " in line


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--seeds", "1,x"], "--seeds is '1,x'; write whole numbers, such as 1,2,3"),
        (["--seeds", "1,1"], "--seeds is '1,1': one is there twice; give each once"),
        (["--epochs", "0"], "--epochs is 1 or more, not 0"),
        (["--jobs", "0"], "--jobs is 1 or more, not 0"),
        (["--set", "loss=crf"], "loss is what experiments vary; it cannot be set for all"),
        (["--set", "epoch=1"], "there is no setting 'epoch'; did you mean epochs?"),
        (["--device", "tpu"], "no device is called 'tpu'; try cpu, cuda or cuda:1"),
        (["--embeddings", "nowhere"], "nowhere: No such file or directory"),
        (["--treebank", "nowhere"], "this experiment is about one treebank: give --treebank once"),
    ],
)
def test_options_that_cannot_be(
    treebank: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    problem: str,
) -> None:
    given = ["--treebank", str(treebank), "--out", str(tmp_path), *options]
    assert main_table.main(given) == 2
    assert capsys.readouterr().err == f"experiments.main_table: {problem}\n"


def test_epochs_are_chosen_by_what_tables_count(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[Run] = []
    given = ["--treebank", str(treebank), "--out", str(tmp_path), "--config", "tiny"]

    def plan(*options: str) -> int:
        return start(
            "main_table",
            None,
            lambda asked: runs.append(asked.plan(LOC, 1)),
            arguments=[*given, *options],
        )

    assert plan() == plan("--punct", "unicode") == 0
    counted, left_out = runs
    assert (counted.config.punct, counted.punct) == ("keep", "keep")
    assert (left_out.config.punct, left_out.punct) == ("unicode", "unicode")
    assert counted.key != left_out.key
    assert plan("--set", "punct=unicode") == 2
    assert "give --punct unicode, which goes for the tables too" in capsys.readouterr().err


def test_punctuation_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table that says it is left out must not be one with all of it, for want of other tags."""
    row = "1\tJa\tja\tINTJ\tITJ\t_\t0\troot\t_\t_\n2\t.\t.\tPUNCT\t$.\t_\t1\tpunct\t_\t_\n\n"
    for name in ("train.conllu", "dev.conllu"):
        (tmp_path / name).write_text(row)
    given = ["--treebank", str(tmp_path), "--out", str(tmp_path), "--punct", "tag"]
    assert main_table.main(given) == 2
    assert "by --punct tag no word is punctuation; unicode goes by" in capsys.readouterr().err
    note = spread_note(SimpleNamespace(seeds=(1,), punct="tag"))  # type: ignore[arg-type]
    assert note.endswith(" Punctuation is left out.")


def test_an_average_counts_one_release_of_a_treebank(treebank: Path) -> None:
    def counted(*names: str) -> list[str]:
        every = [replace(open_treebank(treebank), name=name) for name in names]
        return [one.name for one in one_release_each(every)]

    assert counted("cs-2.3", "en-2.16", "en-2.3", "fr-2.3") == ["cs-2.3", "en-2.3", "fr-2.3"]
    assert counted("en-2.16", "en-2.3") == ["en-2.16"]
    assert counted("en_ewt", "en_ewt-old", "en_gum") == ["en_ewt", "en_ewt-old", "en_gum"]


def test_folders_that_are_no_treebank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, empty = tmp_path / "train.conllu", tmp_path / "empty"
    file.touch()
    empty.mkdir()
    for command, given, problem in (
        (main_table, tmp_path, "it has no dev.conllu; an experiment needs train.conllu and"),
        (main_table, tmp_path / "x", "no such folder; a treebank is a folder of CoNLL-U files"),
        (main_table, file, "a file; give the folder that has train and dev files"),
        (universal, empty, "neither it nor a folder in it has train.conllu and dev.conllu"),
    ):
        assert command.main(["--treebank", str(given)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"{command.__name__}: {given}: {problem}")
