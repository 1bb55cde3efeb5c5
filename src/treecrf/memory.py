"""Memory of the machine, and the part of it that this process may still take."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["available_memory", "available_on", "gibibytes", "machine_memory"]

# Memory to assume where the system does not report it.
_USUAL_BYTES = 16 << 30
_MACHINE = Path("/proc/meminfo")
# Folder, limit and usage of a container's memory: control groups of versions 2 and 1.
_GROUPS = (
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current"),
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def machine_memory() -> int:
    """Memory of this machine in bytes, used or not."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _USUAL_BYTES


def available_memory(
    machine: Path = _MACHINE, groups: Sequence[tuple[Path, str, str]] = _GROUPS
) -> int:
    """Bytes that this process may still take, of the machine and of its container."""
    found = [_available_on_machine(machine)]
    for folder, limit, usage in groups:
        try:
            left = int((folder / limit).read_text()) - int((folder / usage).read_text())
            found.append(left + _reclaimable(folder / "memory.stat"))
        except (OSError, ValueError):  # no such group, or its limit is "max"
            continue
    return max(0, min(found))


def available_on(device: "torch.device") -> int:
    """Memory that may be used on a device, in bytes; on a GPU with what torch holds unused."""
    if device.type != "cuda":
        return available_memory()
    from torch import cuda

    free = cuda.mem_get_info(device)[0]
    return free + cuda.memory_reserved(device) - cuda.memory_allocated(device)


def gibibytes(count: int) -> str:
    """The number of bytes in messages."""
    return f"{count / 2**30:,.1f} GiB"


def _available_on_machine(file: Path) -> int:
    try:
        for line in file.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        pass
    return machine_memory()


def _reclaimable(statistics: Path) -> int:
    """The file cache that counts as used but is given up when memory is short."""
    counts = dict(line.split() for line in statistics.read_text().splitlines())
    return int(counts.get("total_inactive_file", counts.get("inactive_file", 0)))
