"""JSON and TOML that no reader should take: one error, without the time or memory they ask for."""

import os
import tracemalloc
from pathlib import Path

import pytest

from treecrf.descriptions import read_json, read_toml
from treecrf.parser.packages.card import Card, read_card
from treecrf.storage import StorageError

_ROOM = 100 << 20  # bytes; what is asked for is gigabytes


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes of a name")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    os.mkfifo(path)
    with pytest.raises(StorageError, match=r"card\.json: .* it is a folder, a pipe or a device$"):
        read_json(path)
    assert read_card(tmp_path) == Card()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="Unix has it")
def test_a_device_without_end_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.symlink_to("/dev/zero")
    for read in (read_json, read_toml):
        with pytest.raises(StorageError, match=r"config\.toml: "):
            read(path)


@pytest.mark.parametrize("text", ["{} = 1\n", "[{}]\n", "[[{}]]\n", "a = {{ {} = 1 }}\n"])
def test_keys_of_many_parts_take_no_memory(text: str, tmp_path: Path) -> None:
    """The parser of Python's own library takes it with the square of the parts."""
    path = tmp_path / "config.toml"
    path.write_text(text.format(".".join(["a"] * 20_000)))
    tracemalloc.start()
    try:
        with pytest.raises(StorageError, match="more than 100 dots"):
            read_toml(path)
        assert tracemalloc.get_traced_memory()[1] < _ROOM
    finally:
        tracemalloc.stop()


def test_files_that_are_far_too_large(tmp_path: Path) -> None:
    path = tmp_path / "config"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # holes take no room on the disk
    with pytest.raises(StorageError, match="it has more than 256 MiB"):
        read_json(path)
    with pytest.raises(StorageError, match="it has more than 1,048,576 characters"):
        read_toml(path)
