"""Training: the same whether interrupted or not, what is kept, and when it ends."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.parser.models import LOSSES, SMALL
from treecrf.parser import ParserError, load
from treecrf.parser.batching.batch import shuffled_batches
from treecrf.parser.config import Config
from treecrf.parser.folder import load_checkpoint, load_weights, save_checkpoint
from treecrf.parser.training.loop import Epoch, Step, Training, train
from treecrf.parser.training.setup import set_up
from treecrf.treebank import Sentence, write_conllu

CONFIG = replace(
    SMALL,
    loss="crf",
    nonprojective="pseudo",
    embedding_dropout=0.3,
    encoder_dropout=0.3,
    recurrent_dropout=0.2,
    mlp_dropout=0.3,
    learning_rate=0.02,
    batch_tokens=8,
    average=0.9,
    epochs=4,
)
TREES = [
    (["a", "dog", "saw", "b"], [2, 3, 0, 3], ["x", "y", "root", "z"]),
    (["b", "saw", "a", "dog"], [2, 0, 4, 2], ["y", "root", "x", "z"]),
    (["dog", "saw"], [2, 0], ["y", "root"]),
    (["a", "b", "c", "dog"], [3, 4, 0, 3], ["x", "y", "root", "z"]),  # 3 -> 1 and 4 -> 2 cross
    (["a", "dog", "c"], [-1, 3, 0], ["_", "y", "root"]),
]


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "train.conllu"
    sentences = [Sentence(words, heads, deprels=labels) for words, heads, labels in TREES]
    write_conllu(sentences, path)
    return path


def start(
    treebank: Path, folder: Path, config: Config = CONFIG, *, resume: bool = False
) -> Training:
    return set_up(folder, config, train=[treebank], dev=treebank, resume=resume, device="cpu")


def finish(treebank: Path, folder: Path, config: Config = CONFIG, *, resume: bool = False) -> Epoch:
    return train(start(treebank, folder, config, resume=resume), folder, resume=resume)


def log_of(folder: Path) -> list[dict[str, Any]]:
    """The log without what time it took."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    for line in lines:
        assert line.pop("seconds") > 0
        assert line.pop("sentences_per_second") > 0
    return lines


def assert_same_run(ours: Path, theirs: Path) -> None:
    """Every weight to the bit, and every figure of the log."""
    assert log_of(ours) == log_of(theirs)
    saved, other = load_checkpoint(ours), load_checkpoint(theirs)
    assert saved is not None
    assert other is not None
    pairs = ((saved[0], other[0]), (load_weights(ours), load_weights(theirs)))
    for mine, yours in pairs:
        assert mine.keys() == yours.keys()
        for name in mine:
            torch.testing.assert_close(mine[name], yours[name], rtol=0, atol=0)
    for name in ("config.toml", "vocab.json"):
        assert (ours / name).read_bytes() == (theirs / name).read_bytes()


@pytest.mark.parametrize(("loss", "average"), [*((loss, 0.9) for loss in LOSSES), ("crf2o", 0.0)])
def test_resumed_training_gives_what_straight_training_gives(
    loss: str, average: float, treebank: Path, tmp_path: Path
) -> None:
    config = CONFIG.changed({"loss": loss, "average": average})
    last = finish(treebank, tmp_path / "straight", config)
    assert last.epoch == 4
    finish(treebank, tmp_path / "resumed", replace(config, epochs=2))
    assert len(log_of(tmp_path / "resumed")) == 2
    again = finish(treebank, tmp_path / "resumed", config, resume=True)
    assert_same_run(tmp_path / "straight", tmp_path / "resumed")
    assert (again.las, again.best_epoch) == (last.las, last.best_epoch)


class Killed(BaseException):
    """What ends a process, so that nothing is tidied up."""


@pytest.mark.parametrize("schedule", ["exponential", "linear"])
def test_killed_training_goes_on_from_the_last_epoch_on_disk(
    schedule: str, treebank: Path, tmp_path: Path
) -> None:
    config = CONFIG.changed({"schedule": schedule, "warmup": 1.0})
    finish(treebank, tmp_path / "straight", config)

    def kill(step: Step) -> None:
        if step.epoch == 3:
            raise Killed

    for share in (float("inf"), 1e-9):  # each epoch is written, or the first alone
        folder = tmp_path / f"killed {share}"
        training = start(treebank, folder, config)
        training.on_step = kill
        with pytest.raises(Killed):
            train(training, folder, writing_share=share)
        assert len(log_of(folder)) == (2 if share > 1 else 1)
        finish(treebank, folder, config, resume=True)
        assert_same_run(tmp_path / "straight", folder)


def test_resuming_what_never_began_is_beginning(treebank: Path, tmp_path: Path) -> None:
    finish(treebank, tmp_path / "straight")
    finish(treebank, tmp_path / "new", resume=True)
    assert_same_run(tmp_path / "straight", tmp_path / "new")
    finish(treebank, tmp_path / "new", resume=True)  # there is nothing left to do
    assert_same_run(tmp_path / "straight", tmp_path / "new")


def test_another_seed_is_another_model(treebank: Path, tmp_path: Path) -> None:
    config = replace(CONFIG, epochs=1)
    for seed in (1, 2, 10**12 - 1):  # torch takes the largest, too
        finish(treebank, tmp_path / str(seed), replace(config, seed=seed))
    assert log_of(tmp_path / "1") != log_of(tmp_path / "2")


def test_every_epoch_has_an_order_of_its_own(
    treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: list[list[list[int]]] = []

    def recorded(
        lengths: np.ndarray, *, tokens: int, seed: int, apart: int | None
    ) -> list[np.ndarray]:
        batches = shuffled_batches(lengths, tokens=tokens, seed=seed, apart=apart)
        orders.append([batch.tolist() for batch in batches])
        return batches

    monkeypatch.setattr("treecrf.parser.training.loop.shuffled_batches", recorded)
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        finish(treebank, folder, replace(CONFIG, seed=seed))
    first, second = orders[1:5], orders[6:]  # each run counts its batches first
    assert first != second
    assert sum(order != first[0] for order in first) >= 2


def test_the_checkpoint_of_other_data_is_refused(treebank: Path, tmp_path: Path) -> None:
    finish(treebank, tmp_path / "model", replace(CONFIG, epochs=1))
    text = treebank.read_text()
    treebank.write_text(text.replace("\tx\t", "\tz\t", 1))
    with pytest.raises(ParserError, match="model: the checkpoint is of other training data"):
        finish(treebank, tmp_path / "model", resume=True)
    treebank.write_text(text)
    assert finish(treebank, tmp_path / "model", resume=True).epoch == 4


@pytest.mark.parametrize("damage", ["state", "epochs", "tensors", "shapes"])
def test_a_checkpoint_that_does_not_fit_is_named(
    damage: str, treebank: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    finish(treebank, folder, replace(CONFIG, epochs=1))
    saved = load_checkpoint(folder)
    assert saved is not None
    tensors, state = saved
    match damage:
        case "state":
            del state["steps"]
        case "epochs":
            state["epochs"] = [{"epoch": 1}]
        case "tensors":
            tensors = {name: tensors[name] for name in list(tensors)[1:]}
        case "shapes":
            tensors = {name: tensor.flatten()[:1] for name, tensor in tensors.items()}
    save_checkpoint(folder, tensors, state)
    with pytest.raises(
        ParserError, match=r"checkpoint.safetensors: a damaged checkpoint .*--overwrite"
    ):
        finish(treebank, folder, resume=True)


def test_the_best_model_is_kept(treebank: Path, tmp_path: Path) -> None:
    """What is in the folder has the dev LAS that the log has for the best epoch."""
    config = replace(CONFIG, epochs=12, patience=3)
    last = finish(treebank, tmp_path / "model", config)
    log = log_of(tmp_path / "model")
    best = max(range(len(log)), key=lambda place: (log[place]["las"], -place))
    assert last.best_epoch == best + 1
    assert last.best_las == log[best]["las"]
    assert last.epoch == min(12, best + 1 + 3)
    parser = load(tmp_path / "model", device="cpu")
    gold = [Sentence(words, heads, deprels=labels) for words, heads, labels in TREES]
    right = total = 0
    for sentence, parsed in zip(gold, parser.parse_tokens(gold), strict=True):
        rows = zip(sentence.heads, sentence.deprels, parsed.heads, parsed.deprels, strict=True)
        for head, label, found, given in rows:
            if head >= 0:
                total += 1
                right += (head, label) == (found, given)
    assert 100 * right / total == pytest.approx(last.best_las)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_few_sentences_are_learnt_by_heart(loss: str, treebank: Path, tmp_path: Path) -> None:
    config = replace(SMALL, nonprojective="pseudo", lstm_size=12, arc_size=12, average=0.5)
    config = config.changed({"loss": loss, "epochs": 40, "learning_rate": 0.03})
    last = finish(treebank, tmp_path / "model", config)
    assert last.best_las == 100
    losses = [line["loss"] for line in log_of(tmp_path / "model")]
    assert losses[-1] < 0.2 * losses[0]


def test_what_is_told_on_the_way(treebank: Path, tmp_path: Path) -> None:
    training = start(treebank, tmp_path / "model", replace(CONFIG, epochs=2))
    steps: list[Step] = []
    epochs: list[Epoch] = []
    training.on_step, training.on_epoch = steps.append, epochs.append
    last = train(training, tmp_path / "model")
    assert epochs[-1] == last
    assert [epoch.epoch for epoch in epochs] == [1, 2]
    assert [step.sentences for step in steps] == [5, 5]  # the last of each epoch
    assert [step.loss for step in steps] == [epoch.loss for epoch in epochs]
    assert epochs[1].steps == 2 * epochs[0].steps
    assert epochs[0].seconds < epochs[1].seconds


def test_training_ends_when_the_time_is_up(treebank: Path, tmp_path: Path) -> None:
    training = start(treebank, tmp_path / "model", replace(CONFIG, epochs=1000))
    training.max_minutes = 1e-9
    assert train(training, tmp_path / "model").epoch == 1
    assert load(tmp_path / "model", device="cpu").parse_tokens([["a"]])[0].heads == [0]
    training = start(treebank, tmp_path / "none", CONFIG, resume=True)
    training.max_minutes = 0.0
    with pytest.raises(ParserError, match="no epoch was trained"):
        train(training, tmp_path / "none", resume=True)


class Clock:
    """Time that passes when told to, and a little whenever it is asked for."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += 1e-3
        return self.now


@pytest.mark.parametrize("share", [float("inf"), 1e-9])  # each epoch is written, or the first
def test_training_that_the_time_cut_goes_on_as_if_it_had_not(
    share: float, treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(treebank, tmp_path / "straight")
    clock, folder = Clock(), tmp_path / "cut"
    monkeypatch.setattr("treecrf.parser.training.loop.time", clock)
    training = start(treebank, folder)
    training.max_minutes = 1

    def be_late(epoch: Epoch) -> None:
        clock.now += 1000 * (epoch.epoch == 2)

    training.on_epoch = be_late
    last = train(training, folder, writing_share=share)
    assert last.epoch == 2  # without the third, of which a batch was done
    assert log_of(folder) == log_of(tmp_path / "straight")[:2]
    parser = load(folder, device="cpu")
    assert parser.parse_tokens([["a"]])[0].heads == [0]
    finish(treebank, folder, resume=True)
    assert_same_run(tmp_path / "straight", folder)


def test_the_first_epoch_is_whole_however_late(treebank: Path, tmp_path: Path) -> None:
    training = start(treebank, tmp_path / "late")
    training.max_minutes = 1e-9
    train(training, tmp_path / "late")
    finish(treebank, tmp_path / "straight", replace(CONFIG, epochs=1))
    assert log_of(tmp_path / "late") == log_of(tmp_path / "straight")
    finish(treebank, tmp_path / "late", resume=True)
    finish(treebank, tmp_path / "straight", resume=True)
    assert_same_run(tmp_path / "straight", tmp_path / "late")


def test_a_loss_that_is_no_number_is_an_error(treebank: Path, tmp_path: Path) -> None:
    config = replace(CONFIG, learning_rate=1e30, clip=0.0)
    with pytest.raises(ParserError, match=r"the loss of epoch \d is (nan|inf): try a smaller"):
        finish(treebank, tmp_path / "model", config)
