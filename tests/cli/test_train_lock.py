"""Two trainings in one folder: the second is refused, and the first is not disturbed."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import treecrf as package
from tests.cli.running import COMMAND, ENVIRONMENT, problem, treecrf
from tests.cli.test_ranks import finish, start
from treecrf.parser.folder_writer import writing_to

pytestmark = pytest.mark.slow

PATIENCE = 300  # seconds: on a busy machine everything takes long
LONG = ("--config", "tiny", "--set", "epochs=100000", "--set", "patience=100000")
SHORT = ("--config", "tiny", "--set", "epochs=1")


def start_training(data: tuple[object, ...], out: Path) -> subprocess.Popen[str]:
    """A training that goes on until it is killed, and has made a model."""
    arguments = [*COMMAND, "train", *map(str, data), *LONG, "--out", str(out)]
    run = subprocess.Popen(
        arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    wait(run, lambda: (out / "log.jsonl").exists())
    return run


def wait(run: subprocess.Popen[str], until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not until():
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_second_is_refused_until_the_first_has_ended(
    data: tuple[object, ...], tmp_path: Path
) -> None:
    out = tmp_path / "model"
    first = start_training(data, out)
    try:
        for options in ((), ("--overwrite",), ("--resume",)):
            line = problem("train", *data, *SHORT, *options, "--out", out)
            assert re.fullmatch(
                rf"{out}: a model is being written here already \(process {first.pid} on "
                rf"{socket.gethostname()}, since \S+ \S+\); wait until that has ended, or choose "
                "another folder",
                line,
            )
        assert first.poll() is None
    finally:
        first.kill()
        first.communicate()
    treecrf("train", *data, *SHORT, "--overwrite", "--out", out)
    assert package.load(out).config.epochs == 1
    assert not list(out.glob(".*"))


def test_a_training_whose_folder_was_replaced_writes_no_more(
    data: tuple[object, ...], tmp_path: Path
) -> None:
    out = tmp_path / "model"
    first = start_training(data, out)
    try:
        out.rename(tmp_path / "moved")
        treecrf("train", *data, *SHORT, "--out", out)
        made = (out / "model.safetensors").read_bytes()
        _, complaints = first.communicate(timeout=PATIENCE)
    finally:
        first.kill()
        first.communicate()
    assert first.returncode == 2
    replaced = (
        f"{out}: it was removed or replaced while a model was written to it; nothing more is "
        "written\n"
    )
    # It may have been in the middle of a file.
    in_between = rf"{out}/\S+: .*\n"
    assert complaints == replaced or re.fullmatch(in_between, complaints)
    assert (out / "model.safetensors").read_bytes() == made


def test_processes_that_train_together_are_refused_once(
    data: tuple[object, ...], tmp_path: Path
) -> None:
    with writing_to(tmp_path / "model"):
        run = start([str(part) for part in data], tmp_path / "model")
        _, complaints = finish(run)
    assert run.returncode == 1
    assert complaints.count(f"being written here already (process {os.getpid()} on ") == 1
    assert not (tmp_path / "model").exists()
