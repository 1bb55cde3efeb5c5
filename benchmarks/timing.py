"""What every benchmark needs: medians, peak memory, the machine and commit, a table, JSON."""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch


def median_ms(call: Callable[[], object], device: torch.device, *, seconds: float = 1.0) -> float:
    """Median time of a call in milliseconds: at least 3 calls, and more while `seconds` last."""
    call()
    times: list[float] = []
    deadline = time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < deadline and len(times) < 200):
        _finish(device)
        start = time.perf_counter()
        call()
        _finish(device)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def peak_mib(call: Callable[[], object], device: torch.device) -> float:
    """What a call adds to memory at its peak, in MiB: of the GPU, or of the process on a CPU."""
    _finish(device)
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        call()
        _finish(device)
        return (torch.cuda.max_memory_allocated(device) - before) / 2**20
    if not Path("/proc/self/clear_refs").exists():
        return float("nan")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _status_mib("VmHWM")
    call()
    return _status_mib("VmHWM") - before


def machine(device: torch.device) -> dict[str, str]:
    """Where and with what a figure was measured."""
    facts = {
        "commit": _commit(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
    }
    if device.type == "cuda":
        facts["gpu"] = torch.cuda.get_device_name(device)
    return facts


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table, padded so that it reads well in a terminal."""
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    for row in (columns, ["-" * width for width in widths], *rows):
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("| " + " | ".join(cells) + " |")


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Writes the whole file or nothing."""
    temporary = path.with_suffix(path.suffix + ".part")
    temporary.write_text(json.dumps(content, indent=1) + "\n")
    temporary.replace(path)
    print(f"written: {path}", file=sys.stderr)


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _status_mib(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return float("nan")


def _commit() -> str:
    # A copy of the tree without its history is told the commit by hand.
    if named := os.environ.get("TREECRF_COMMIT"):
        return named
    try:
        return subprocess.run(
            ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _processor() -> str:
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()
