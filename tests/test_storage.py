"""Files are written whole or not at all, by real processes that are killed, full and forbidden."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from treecrf.parser.folder_writer import replacing
from treecrf.storage import beside, open_replacing, remove_temporary, replace_file
from treecrf.treebank import Sentence, read_conllu, write_conllu
from treecrf.treebank.files.streams import open_target

# Opens a file as the library does, says so, and waits to be ended.
WRITER = (
    "import sys\n"
    "from treecrf.storage import open_replacing\n"
    "with open_replacing(sys.argv[1]) as file:\n"
    "    file.write(b'half')\n"
    "    file.flush()\n"
    "    print('writing', flush=True)\n"
    "    sys.stdin.read()\n"
)


@contextmanager
def writing(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is in the middle of writing a file."""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("before", [0o600, 0o640, 0o444, 0o666])
def test_a_temporary_file_has_the_mode_of_the_file_that_it_replaces(
    before: int, tmp_path: Path
) -> None:
    path = tmp_path / "private"
    path.write_text("old")
    path.chmod(before)
    with open_replacing(path) as file:
        (temporary,) = set(tmp_path.iterdir()) - {path}
        assert mode(temporary) == before
        file.write(b"new")
    assert mode(path) == before
    assert path.read_bytes() == b"new"


# Prints the modes of what is beside a file whenever the system is asked for something.
WATCHED = (
    "import os, pathlib, stat, sys\n"
    "from treecrf.storage import replace_file\n"
    "path = pathlib.Path(sys.argv[1])\n"
    "seen = set()\n"
    "def watch(event, _):\n"
    "    if event.startswith(('os.chmod', 'os.chown', 'os.rename', 'fcntl.')):\n"
    "        for name in set(os.listdir(path.parent)) - {path.name}:\n"
    "            seen.add(oct(stat.S_IMODE(os.stat(path.parent / name).st_mode)))\n"
    "os.umask(0)\n"
    "sys.addaudithook(watch)\n"
    "replace_file(path, b'new')\n"
    "print(seen)\n"
)


def test_no_moment_shows_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "private"
    path.write_text("old")
    path.chmod(0o600)
    command = [sys.executable, "-c", WATCHED, str(path)]
    seen = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert seen == "{'0o600'}\n"


def test_a_new_file_obeys_the_umask(tmp_path: Path) -> None:
    for mask in (0o022, 0o077, 0o007):
        old_umask = os.umask(mask)
        try:
            replace_file(tmp_path / f"{mask}", b"")
        finally:
            os.umask(old_umask)
        assert mode(tmp_path / f"{mask}") == 0o666 & ~mask


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_root_leaves_a_file_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    path.write_text("old")
    os.chown(path, 12345, 23456)
    replace_file(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_folder_that_is_replaced_keeps_what_is_private(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("old")
    (tmp_path / "config.toml").chmod(0o600)
    with replacing(tmp_path) as new:
        assert mode(new) == 0o700
        (new / "config.toml").write_text("new")
    assert mode(tmp_path / "config.toml") == 0o600
    assert (tmp_path / "config.toml").read_text() == "new"


def test_what_a_killed_process_left_goes_with_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with writing(path) as killed, writing(path) as running:
        assert len(os.listdir(tmp_path)) == 3
        killed.kill()
        killed.wait()
        assert len(os.listdir(tmp_path)) == 3  # nobody has had the time to clean up
        replace_file(path, b"new")
        assert len(os.listdir(tmp_path)) == 2  # what is being written stays
        assert running.communicate("", timeout=300) == ("", None)
        assert running.returncode == 0
    assert path.read_bytes() == b"half"
    assert os.listdir(tmp_path) == ["out"]


def test_only_our_own_leftovers_go(tmp_path: Path) -> None:
    path = tmp_path / "out"
    kept = {".out.tmp", ".out.0123abcd.bak", "out.0123abcd.tmp", ".out.notahexn.tmp", "target"}
    kept |= {".other.0123abcd.tmp", ".out.conllu.0123abcd.tmp"}
    for name in kept:
        (tmp_path / name).touch()
    (tmp_path / ".out.00000001.tmp").symlink_to("target")
    (tmp_path / ".out.00000002.tmp").mkdir()
    (tmp_path / ".out.00000003.tmp").touch()
    replace_file(path, b"")
    kept |= {".out.00000001.tmp", ".out.00000002.tmp", "out"}
    assert set(os.listdir(tmp_path)) == kept


def test_a_file_that_was_taken_for_a_leftover_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    path, lock, removed = tmp_path / "out", fcntl.flock, []

    def another_is_faster(descriptor: int, operation: int) -> None:
        if not removed:
            removed.append(True)
            remove_temporary(path)
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", another_is_faster)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("name", ["a" * 250, "ä" * 125, "a" * 255, "字" * 85, "b" * 247 + ".gz"])
def test_long_names(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.touch()
    half = beside(path, ".tmp")
    half.touch()
    assert len(os.fsencode(half.name)) <= 255
    sentences = [Sentence(["a"], [0])]
    write_conllu(sentences, path)
    assert [sentence.forms for sentence in read_conllu(path)] == [["a"]]
    assert os.listdir(tmp_path) == [name]


def test_a_name_that_is_too_long_is_named_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 256)
    with pytest.raises(OSError, match="too long") as caught, open_target(path):
        pytest.fail("there is nothing to write to")
    assert (caught.value.errno, caught.value.filename) == (errno.ENAMETOOLONG, str(path))


def run(*command: object, before: str = "") -> subprocess.CompletedProcess[str]:
    """A command of treecrf after these lines of Python."""
    code = f"{before}\nfrom treecrf.__main__ import main\nmain()"
    arguments = [sys.executable, "-c", code, *map(str, command)]
    return subprocess.run(arguments, capture_output=True, text=True)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_full_disk_names_the_file_that_was_given(suffix: str, tmp_path: Path) -> None:
    out = tmp_path / f"out.conllu{suffix}"
    out.write_text("old")
    limit = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (4096, 4096))"
    result = run("data", "generate", "--overwrite", "--sentences", 3000, out, before=limit)
    assert (result.returncode, result.stderr) == (2, f"{out}: File too large\n")
    assert out.read_text() == "old"
    assert os.listdir(tmp_path) == [out.name]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
def test_a_device_that_is_full_is_named(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/full")
    for out in ("/dev/full", link):
        result = run("data", "generate", "--sentences", 3000, out)
        assert (result.returncode, result.stderr) == (2, f"{out}: No space left on device\n")
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "treecrf", "data", "generate", "-"]
        piped = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (piped.returncode, piped.stderr) == (2, "standard output: No space left on device\n")


def test_a_place_that_takes_no_files_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places = {
        tmp_path / "none" / "out": f"there is no folder {tmp_path / 'none'}; make it first",
        tmp_path / "file" / "out": "Not a directory",
    }
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(0o555)
        places[tmp_path / "closed" / "out"] = "Permission denied"
    for out, problem in places.items():
        result = run("data", "generate", "--sentences", 1, out)
        assert (result.returncode, result.stderr) == (2, f"{out}: {problem}\n")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has none")
def test_nohup_keeps_a_command_going(tmp_path: Path) -> None:
    out = tmp_path / "out.conllu"
    command = [sys.executable, "-m", "treecrf", "data", "convert", "-", "-o", str(out)]
    with subprocess.Popen(
        ["nohup", *command], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        while not os.listdir(tmp_path):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        process.communicate("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert process.returncode == 0
    assert [sentence.forms for sentence in read_conllu(out)] == [["a"]]
