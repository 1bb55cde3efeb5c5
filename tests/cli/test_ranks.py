"""Several processes train together: as one would, and one that dies takes the others with it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import ENVIRONMENT, treecrf
from tests.cli.test_resume import log_of
from tests.conftest import Shared
from treecrf.demo import generate_treebank
from treecrf.treebank import write_conllu

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

# A place to meet that is free: several tests may run at once.
TORCHRUN = [
    *(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"),
    *("--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"),
]
# The second comes late, so that the first would find where the second was before the restart.
KILLED_ONCE = """
import os, signal, time
from treecrf.parser.training.ranks import joined
if os.environ["RANK"] == "1":
    time.sleep(0.5)
with joined("cpu") as (ranks, _):
    met = ranks.add([1])
    if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        if ranks.leads:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(600)
    print(f"met {met}")
"""
PATIENCE = 300  # seconds: on a busy machine everything takes long


@pytest.fixture(scope="session")
def data(shared: Shared) -> list[str]:
    """The options that name a generated treebank."""

    def make(folder: Path) -> None:
        folder.mkdir()
        for name, count, seed in (("train", 1200, 1), ("dev", 150, 2), ("few", 400, 3)):
            write_conllu(generate_treebank(count, seed=seed), folder / f"{name}.conllu")

    folder = shared("treebank-of-ranks", make)
    return ["--train", str(folder / "train.conllu"), "--dev", str(folder / "dev.conllu")]


@pytest.fixture(scope="session")
def few(data: list[str]) -> list[str]:
    """Fewer sentences to learn from."""
    return [data[0], data[1].replace("train.conllu", "few.conllu"), *data[2:]]


def start(data: list[str], folder: Path, *options: str) -> subprocess.Popen[str]:
    train = ["-m", "treecrf", "train", *data, "--config", "tiny", "--device", "cpu"]
    return start_torchrun(*train, "--out", str(folder), *options)


def start_torchrun(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*TORCHRUN, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )


def finish(run: subprocess.Popen[str]) -> tuple[str, str]:
    """What a run prints until it ends; one that hangs fails the test."""
    try:
        return run.communicate(timeout=PATIENCE)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)


def process_of(run: subprocess.Popen[str], rank: int) -> int:
    """The number of the process that has this rank."""
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    for child in map(int, children):
        if f"\0RANK={rank}\0".encode() in Path(f"/proc/{child}/environ").read_bytes():
            return child
    raise AssertionError(f"no process of {children} has the rank {rank}")


def has_finished_an_epoch(folder: Path) -> bool:
    """Whether the log is there, and the checkpoint, which comes last, is not the one before it."""
    log, checkpoint = folder / "log.jsonl", folder / "checkpoint.safetensors"
    return log.exists() and checkpoint.stat().st_mtime_ns >= log.stat().st_mtime_ns


def test_two_processes_learn_what_one_learns(data: list[str], tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    options = ("--set", "epochs=4", "--set", "embedding_dropout=0")
    run = start(data, two, *options)
    output, complaints = finish(run)
    assert (run.returncode, complaints) == (0, "")
    assert output.count("epoch    1 ") == 1  # one process prints
    treecrf("train", *data, "--config", "tiny", "--device", "cpu", "--out", one, *options)
    alone, together = log_of(one), log_of(two)
    assert [line["steps"] for line in alone] == [line["steps"] for line in together]
    # Sums in another order have other last digits, which grow from step to step.
    assert together[0]["loss"] == pytest.approx(alone[0]["loss"], rel=5e-3)
    assert together[-1]["best_las"] == pytest.approx(alone[-1]["best_las"], abs=1)
    assert together[-1]["best_las"] > 93
    dev = data[-1]
    evaluation = json.loads(treecrf("evaluate", dev, "--model", two, "--json").stdout)
    assert 100 * evaluation["LAS"]["f1"] == pytest.approx(together[-1]["best_las"], abs=0.01)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc")
@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_dies_ends_the_run_which_goes_on(
    rank: int, few: list[str], tmp_path: Path, straight: Path
) -> None:
    folder = tmp_path / "model"
    run = start(few, folder, "--set", "epochs=3")
    try:
        deadline = time.monotonic() + PATIENCE
        while not has_finished_an_epoch(folder):
            assert run.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process_of(run, rank), signal.SIGKILL)
    finally:
        _, complaints = finish(run)
    assert run.returncode == 1
    assert "Signal 9 (SIGKILL)" in complaints
    run = start(few, folder, "--set", "epochs=3", "--resume")
    _, complaints = finish(run)
    assert (run.returncode, complaints) == (0, "")
    assert log_of(folder) == log_of(straight)
    for name in ("model.safetensors", "vocab.json", "config.toml"):
        assert (folder / name).read_bytes() == (straight / name).read_bytes()
    assert not list(folder.glob(".*"))


def test_processes_that_are_started_again_meet_again(tmp_path: Path) -> None:
    script = tmp_path / "killed_once.py"
    script.write_text(KILLED_ONCE)
    run = start_torchrun("--max-restarts", "1", str(script))
    output, _ = finish(run)
    assert run.returncode == 0
    assert output.count("met [2]") == 2


@pytest.fixture(scope="session")
def straight(shared: Shared, few: list[str]) -> Path:
    """What two processes come to that nobody kills."""

    def make(folder: Path) -> None:
        run = start(few, folder, "--set", "epochs=3")
        _, complaints = finish(run)
        assert (run.returncode, complaints) == (0, "")

    return shared("straight-of-ranks", make)


@pytest.mark.parametrize(
    ("options", "problem"),
    [((), "there is a model already; --resume"), (("--resume",), "is of other training data;")],
)
def test_what_is_wrong_is_said_once(
    options: tuple[str, ...], problem: str, few: list[str], model: Path
) -> None:
    run = start(few, model, "--set", "epochs=4", *options)
    _, complaints = finish(run)
    assert run.returncode == 1
    assert complaints.count(problem) == 1
    assert "another one has ended" not in complaints
