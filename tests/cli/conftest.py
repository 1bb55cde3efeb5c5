"""Treebanks and a model that tests of several commands use; workers share them."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import treecrf

Make = Callable[[Path], object]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Make], Path]:
    """Makes a file or folder of this name, unless another worker has made it."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent

    def made(name: str, make: Make) -> Path:
        path = root / name
        with open(root / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                unfinished = root / f"unfinished-{name}"
                make(unfinished)
                unfinished.rename(path)
        return path

    return made


@pytest.fixture(scope="session")
def treebank(shared: Callable[[str, Make], Path]) -> Path:
    """A folder with a small `train.conllu` and `dev.conllu`, some of whose arcs cross."""

    def make(folder: Path) -> None:
        folder.mkdir()
        for name, count, seed in (("train", 300, 1), ("dev", 60, 2)):
            options = ("--sentences", count, "--seed", seed, "--crossing", 0.2)
            treecrf("data", "generate", folder / f"{name}.conllu", *options)

    return shared("small-treebank", make)


@pytest.fixture(scope="session")
def model(shared: Callable[[str, Make], Path], treebank: Path) -> Path:
    """A model that has learnt something."""
    data = ("--train", treebank / "train.conllu", "--dev", treebank / "dev.conllu")
    options = ("--config", "tiny", "--set", "epochs=4")
    return shared("small-model", lambda folder: treecrf("train", *data, *options, "--out", folder))
