"""Kernels on disk that are damaged, or cannot be read or written, are compiled again."""

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MODULE = """
from treecrf.ops.numba.compiling import kernel

@kernel
def double(number):
    return 2 * number

@kernel
def triple(number):
    return 3 * number
"""
PROGRAM = "import helper; print(helper.double(21.0), helper.triple(14.0))"


def run(folder: Path, cache: Path, program: str = PROGRAM) -> tuple[str, list[str]]:
    """What the two kernels of a module give, and the lines on standard error."""
    path = os.pathsep.join([str(folder), *sys.path])
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": path},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout, result.stderr.splitlines()


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a module, and with its kernels."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "helper.py").write_text(MODULE)
    assert run(folder, folder / "cache") == ("42.0 42.0\n", [])
    assert len(list(folder.glob("cache/*/*.nbc"))) == 2
    return folder


def change(pattern: str, new: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(cache: Path) -> None:
        for path in cache.glob(pattern):
            path.write_bytes(new(path.read_bytes()))

    return damage


def wrong_types(data: bytes) -> bytes:
    """An index whose version is right and whose rest is not what it should be."""
    import numba

    return pickle.dumps(numba.__version__) + pickle.dumps(7)


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return (
        data[:middle]
        + bytes(255 - byte for byte in data[middle : middle + 64])
        + data[middle + 64 :]
    )


def folders_in_the_place_of_files(cache: Path) -> None:
    for path in cache.glob("*/*.nb?"):
        path.unlink()
        path.mkdir()


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        change("*/*.nbi", lambda data: b""),
        change("*/*.nbi", lambda data: b"not a pickle"),
        change("*/*.nbi", wrong_types),
        change("*/*.nbc", lambda data: data[: len(data) // 2]),
        change("*/*.nbc", flipped),
        folders_in_the_place_of_files,
    ],
    ids=["empty index", "other index", "wrong types", "half a file", "other bytes", "folders"],
)
def test_what_is_damaged_is_compiled_again(
    cached: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(cached / "cache", cache)
    damage(cache)
    answer, lines = run(cached, cache)
    assert answer == "42.0 42.0\n"
    assert len(lines) == 1
    assert str(cache) in lines[0]
    if damage is not folders_in_the_place_of_files:
        assert run(cached, cache) == (answer, [])


def test_code_for_other_types_is_compiled_again(cached: Path, tmp_path: Path) -> None:
    """As after two processes that compiled at once, and took the same name for their files."""
    cache, program = (
        tmp_path / "cache",
        "import helper; print(helper.double(21.0), helper.double(4))",
    )
    assert run(cached, cache, program) == ("42.0 8\n", [])
    first, second = sorted(cache.glob("*/*.nbc"))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    answer, lines = run(cached, cache, program)
    assert answer == "42.0 8\n"
    assert len(lines) == 1
    assert str(cache) in lines[0]
    assert run(cached, cache, program) == (answer, [])


def test_a_cache_that_is_a_file_is_left_alone(cached: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"")
    answer, lines = run(cached, tmp_path / "cache")
    assert answer == "42.0 42.0\n"
    assert len(lines) <= 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the size of files is Linux's")
def test_a_full_disk_is_said_once(cached: Path, tmp_path: Path) -> None:
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); " + PROGRAM
    code = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); " + code
    for cache, said in ((cached / "cache", 0), (tmp_path / "cache", 1)):
        result = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(cached)},
        )
        assert result.stdout == "42.0 42.0\n", result.stderr
        assert len(result.stderr.splitlines()) == said, result.stderr


TREES = """
import itertools
import sys

import torch
from numba.core.bytecode import FunctionIdentity

from treecrf.ops.backend import use_backend
from treecrf.struct import GrandSiblingTreeCRF, SiblingTreeCRF

# As if each function were the first that its process compiles.
FunctionIdentity._unique_ids = itertools.repeat(1)
generator = torch.Generator().manual_seed(1)
arcs = 4 * torch.randn(1, 6, 6, generator=generator)
siblings, grandparents = torch.randn(2, 1, 6, 6, 6, generator=generator)
lengths = torch.tensor([5])
for crf in (
    SiblingTreeCRF(arcs, siblings, lengths),
    GrandSiblingTreeCRF(arcs, siblings, grandparents, lengths),
):
    if "best" in sys.argv:
        with use_backend("torch"):
            reference = type(crf)(arcs, *reversed(crf._higher.values()), lengths).argmax
        assert crf.argmax.equal(reference)
    if "random" in sys.argv:
        assert len(crf.sample(50, generator=generator).unique(dim=0)) > 1
"""


@pytest.mark.slow
def test_kernels_of_two_processes_keep_their_own_functions(tmp_path: Path) -> None:
    """Best and random trees are one recurrence, compiled twice."""
    for what in (["best"], ["random"], ["best", "random"], ["random", "best"]):
        program = f"import sys; sys.argv += {what}\n{TREES}"
        assert run(tmp_path, tmp_path / "cache", program) == ("", [])
