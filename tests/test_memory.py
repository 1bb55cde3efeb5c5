"""The memory that this process may still take."""

from pathlib import Path

import pytest

from treecrf.memory import available_memory, machine_memory

MIB = 1 << 20


@pytest.fixture
def group(tmp_path: Path) -> Path:
    """A machine with 900 MiB left, and an empty control group."""
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal: 99999999 kB\nMemAvailable: {900 << 10} kB\n")
    return tmp_path


def available(group: Path) -> int:
    return available_memory(group / "meminfo", [(group, "limit", "usage")])


def test_a_container_may_have_less_than_the_machine(group: Path) -> None:
    assert available(group) == 900 * MIB
    (group / "limit").write_text(f"{500 * MIB}\n")
    (group / "usage").write_text(f"{400 * MIB}\n")
    (group / "memory.stat").write_text(f"anon 5\ninactive_file {250 * MIB}\nactive_file 7\n")
    assert available(group) == 350 * MIB  # what the cache of files takes is given back
    (group / "usage").write_text(f"{990 * MIB}\n")
    assert available(group) == 0
    (group / "limit").write_text("max\n")
    assert available(group) == 900 * MIB


def test_a_system_that_does_not_say_what_is_left(group: Path) -> None:
    (group / "meminfo").unlink()
    assert available(group) == machine_memory() > 0
