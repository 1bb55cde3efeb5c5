"""The number of cores that this process may use."""

import os

__all__ = ["usable_cores"]


def usable_cores() -> int:
    """The cores that this process may use, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
