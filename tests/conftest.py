"""Settings of every test run, and the treebank and models that tests of several folders use."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

import treecrf
from tests.cli.running import treecrf as run
from tests.parser.encoders import make_bert, make_roberta
from tests.segment.texts import train_tiny
from treecrf.nn.int8 import products_kernel
from treecrf.nn.int8.linear import has_byte_products
from treecrf.parser import Parser
from treecrf.segment import Segmenter

# Triton reads this when it is imported: without a GPU its kernels run in its interpreter.
if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

# Workers share the cores among them; torch threads on top would only fight over them.
if "PYTEST_XDIST_WORKER" in os.environ:
    torch.set_num_threads(1)

# No deadline: the first call of a kernel compiles it.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


Make = Callable[[Path], object]
Shared = Callable[[str, Make], Path]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests marked `gpu` where there is none."""
    if item.get_closest_marker("gpu") is not None and not torch.cuda.is_available():
        pytest.skip("there is no GPU")


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """A function that makes a file or folder of this name once for all workers."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent

    def shared_path(name: str, make: Make) -> Path:
        path = root / name
        with open(root / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                unfinished = root / f"unfinished-{name}"
                make(unfinished)
                unfinished.rename(path)
        return path

    return shared_path


@pytest.fixture(scope="session")
def treebank(shared: Shared) -> Path:
    """A folder with a small `train.conllu` and `dev.conllu`, some of whose arcs cross."""

    def make(folder: Path) -> None:
        folder.mkdir()
        for name, count, seed in (("train", 300, 1), ("dev", 60, 2)):
            options = ("--sentences", count, "--seed", seed, "--crossing", 0.2)
            run("data", "generate", folder / f"{name}.conllu", *options)

    return shared("small-treebank", make)


@pytest.fixture(scope="session")
def model(shared: Shared, treebank: Path) -> Path:
    """A model that has learnt something, and that cannot cut raw text."""
    data = ("--train", treebank / "train.conllu", "--dev", treebank / "dev.conllu")
    options = ("--config", "tiny", "--set", "epochs=4")
    return shared("small-model", lambda folder: run("train", *data, *options, "--out", folder))


@pytest.fixture(scope="session")
def full_model(shared: Shared, model: Path) -> Path:
    """The same model with a segmenter, which has learnt generated sentences."""

    def make(folder: Path) -> None:
        shutil.copytree(model, folder)
        train_tiny().save(folder)

    return shared("small-model-with-segmenter", make)


@pytest.fixture(scope="session")
def segmenter(full_model: Path) -> Segmenter:
    return Segmenter.load(full_model)


@pytest.fixture(scope="session")
def parser(full_model: Path) -> Parser:
    return treecrf.load(full_model, device="cpu")


@pytest.fixture(scope="session")
def wordy(model: Path) -> Parser:
    """A parser without a segmenter."""
    return treecrf.load(model, device="cpu")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small BERT that has random weights."""
    return make_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small RoBERTa that has random weights."""
    return make_roberta(tmp_path_factory.mktemp("roberta"))


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Have torch compute with two threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def without_vnni(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on a CPU that does not multiply bytes."""
    monkeypatch.setattr(products_kernel, "has_instruction", lambda: False)
    has_byte_products.cache_clear()
    yield
    has_byte_products.cache_clear()
