"""Locks on folders: one process at a time, which others can name, and nothing left of them."""

import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from treecrf.locks import HOLDER, LOCK_FILES, FileLock, LockedError, locked_folder

HOLD = """
import sys
from pathlib import Path
from treecrf.locks import locked_folder
with locked_folder(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_by_another(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the lock on a folder until its standard input is closed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.communicate()  # closes its input
        assert process.returncode in (0, -9)


def take(folder: Path) -> None:
    with locked_folder(folder):
        pass


def test_a_second_process_is_told_who_the_first_is(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "model"
    with held_by_another(folder) as process:
        assert sorted(path.name for path in folder.iterdir()) == sorted(LOCK_FILES)
        for _ in range(2):  # who is refused leaves the name of the first where it is
            with pytest.raises(LockedError) as caught:
                take(folder)
            told = f"already (process {process.pid} on {socket.gethostname()}, since 2"
            assert told in str(caught.value)
    assert not folder.parent.exists()  # what the lock has made, and nobody has used
    take(folder)


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    with held_by_another(tmp_path) as process:
        process.kill()
        process.wait()
        assert list(tmp_path.iterdir())
        take(tmp_path)
        assert not list(tmp_path.iterdir())


def test_a_thread_may_lock_again_and_no_other_thread_may(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as other, locked_folder(tmp_path / "model"):
        (tmp_path / "link").symlink_to("model")
        take(tmp_path / "link")
        with pytest.raises(LockedError, match=f"process {os.getpid()} on "):
            other.submit(take, tmp_path / "model").result()
        take(tmp_path / "model")
    take(tmp_path / "link")


def test_a_folder_that_is_replaced_is_not_the_one_that_was_locked(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    with locked_folder(folder):
        folder.rename(tmp_path / "moved")
        with pytest.raises(LockedError, match="it was removed or replaced"):
            take(folder)
        with (
            held_by_another(folder),
            pytest.raises(LockedError, match="it was removed or replaced"),
        ):
            take(folder)
        holder = held_by_another(folder)
        process = holder.__enter__()
    # The lock of the other one is its own to remove.
    assert sorted(path.name for path in folder.iterdir()) == sorted(LOCK_FILES)
    with pytest.raises(LockedError, match=f"process {process.pid} on "):
        take(folder)
    holder.__exit__(None, None, None)


def test_what_is_in_a_folder_stays(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    with locked_folder(folder):
        (folder / "file").write_text("mine")
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_a_lock_that_is_removed_while_another_takes_it_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second process has the file open before the first removes it, and locks it after."""
    path = tmp_path / "lock"
    first = FileLock(path)
    flock = fcntl.flock

    def late(file: int, operation: int) -> None:
        monkeypatch.undo()
        first.release()
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    second = FileLock(path)
    with pytest.raises(LockedError):
        FileLock(path)
    second.release()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_holder_is_another_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = FileLock(path)
    try:
        path.with_name(path.name + HOLDER).write_text("[" * 100_000)
        with pytest.raises(LockedError, match=r"^another process$"):
            FileLock(path)
    finally:
        lock.release()
