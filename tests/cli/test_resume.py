"""Training that is killed or interrupted ends, resumed, as if it had not been.

One run is killed three times; `make check-kills` kills twenty of them at random moments.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import treecrf
from tests.cli.running import COMMAND, ENVIRONMENT
from tests.cli.running import treecrf as run_here
from tests.conftest import Shared
from treecrf.cli.app import app
from treecrf.parser import ParserError
from treecrf.parser.folder import load_checkpoint

pytestmark = pytest.mark.slow

RUNS = int(os.environ.get("KILLED_RUNS", "1"))
EPOCHS = 12
FILES = [
    "checkpoint.safetensors",
    "config.toml",
    "log.jsonl",
    "model.safetensors",
    "vectors.safetensors",
    "vocab.json",
]
_PATIENCE = 300  # seconds: on a busy machine everything takes long


@pytest.fixture(scope="session")
def command(shared: Shared, treebank: Path) -> list[str]:
    """What trains a parser for a second or two; the folder is still to come."""
    vectors = shared(
        "vectors.txt", lambda path: path.write_text("the 1 2\ndog -1 0.5\nsaw 0.25 -2\n")
    )
    settings = ["--config", "tiny", "--set", f"epochs={EPOCHS}", "--set", f"patience={EPOCHS}"]
    data = ["--train", str(treebank / "dev.conllu"), "--dev", str(treebank / "dev.conllu")]
    return [*COMMAND, "train", *data, *settings, "--embeddings", str(vectors), "--out"]


@pytest.fixture(scope="session")
def straight(shared: Shared, command: list[str]) -> Path:
    """What training comes to that nobody interrupts."""

    def make(folder: Path) -> None:
        run = start(command, folder)
        _, complaints = run.communicate()
        assert (run.returncode, complaints) == (0, "")

    return shared("straight", make)


def start(command: list[str], folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command, str(folder), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )


def wait_until(reached: Callable[[], object], run: subprocess.Popen[str]) -> None:
    """Look all the time until something is so, or the run has ended."""
    deadline = time.monotonic() + _PATIENCE
    while run.poll() is None and not reached():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def run_and_kill(command: list[str], folder: Path, moment: str, draw: random.Random) -> None:
    """Kill a run while it loads, while it computes or while it writes a file."""
    config = folder / "config.toml"
    inode = config.stat().st_ino if config.exists() else 0
    left = set(folder.glob(".*.tmp"))  # by the run that was killed before
    written: set[Path] = set()
    which = draw.randint(1, 6)

    def begun() -> bool:  # it writes the settings first, resumed as well
        return config.exists() and config.stat().st_ino != inode

    def is_writing() -> bool:
        written.update(set(folder.glob(".*.tmp")) - left)
        return len(written) >= which

    run = start(command, folder, "--resume")
    try:
        if moment == "loading":
            time.sleep(draw.uniform(0, 3))
        elif moment == "writing":
            wait_until(is_writing, run)
        else:
            wait_until(begun, run)
            time.sleep(draw.uniform(0, 0.2 if moment == "first epoch" else 3))
    finally:
        run.kill()
        run.communicate()


def check_folder(folder: Path) -> None:
    """There is no model yet, or one that works; where there are settings, training can go on."""
    if (folder / "model.safetensors").exists():
        assert len(treecrf.load(folder, device="cpu").parse_tokens([["a", "dog"]])[0].heads) == 2
    else:
        with pytest.raises(ParserError):
            treecrf.load(folder, device="cpu")
    if (folder / "config.toml").exists():
        assert load_checkpoint(folder) is not None


def log_of(folder: Path) -> list[dict[str, Any]]:
    """The log without what time it took."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [
        {name: line[name] for name in line if name not in ("seconds", "sentences_per_second")}
        for line in lines
    ]


def assert_same(folder: Path, straight: Path) -> None:
    """The same files with the same bytes, but for times; nothing else is left."""
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert len(log_of(folder)) == EPOCHS
    assert log_of(folder) == log_of(straight)
    for name in FILES:
        if name not in ("checkpoint.safetensors", "log.jsonl"):
            assert (folder / name).read_bytes() == (straight / name).read_bytes(), name


@pytest.mark.parametrize("number", range(RUNS))
def test_a_killed_run_goes_on(
    number: int, command: list[str], straight: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    draw = random.Random(number)
    moments = ["first epoch", "writing", "later"]
    if RUNS > 1:
        moments = draw.choices(["loading", *moments], [1, 2, 4, 4], k=draw.randint(1, 4))
    for moment in moments:
        run_and_kill(command, folder, moment, draw)
        check_folder(folder)
    run = start(command, folder, "--resume")
    _, complaints = run.communicate()
    assert (run.returncode, complaints) == (0, "")
    assert_same(folder, straight)


def test_what_started_from_another_model_does_not_need_it_again(
    model: Path, treebank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the first epoch was not finished."""
    dev = str(treebank / "dev.conllu")
    arguments = ["train", "--train", dev, "--dev", dev]
    arguments += ["--set", "epochs=1", "--set", "learning_rate=1e-4"]

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(torch.Tensor, "backward", interrupt)
        options = ["--init", str(model), "--out", str(tmp_path / "resumed")]
        result = CliRunner().invoke(app, [*arguments, *options])
        assert result.exit_code == 130
    run_here(*arguments, "--resume", "--out", tmp_path / "resumed")
    run_here(*arguments, "--init", model, "--out", tmp_path / "straight")
    assert log_of(tmp_path / "resumed") == log_of(tmp_path / "straight")
    models = [tmp_path / name / "model.safetensors" for name in ("resumed", "straight")]
    assert models[0].read_bytes() == models[1].read_bytes()


def test_an_interrupted_run_goes_on(command: list[str], straight: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    run = start(command, folder)
    wait_until((folder / "log.jsonl").exists, run)
    run.send_signal(signal.SIGINT)
    _, complaints = run.communicate()
    assert (run.returncode, complaints) == (130, "interrupted; --resume goes on with it\n")
    check_folder(folder)
    assert not list(folder.glob(".*"))
    run = start(command, folder, "--resume")
    _, complaints = run.communicate()
    assert (run.returncode, complaints) == (0, "")
    assert_same(folder, straight)
