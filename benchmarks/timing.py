"""What benchmarks with torch need beyond `report`: medians, peak memory, the device."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks import report


def median_ms(call: Callable[[], object], device: torch.device, *, seconds: float = 1.0) -> float:
    """Median time of a call in milliseconds: at least 3 calls, and more while `seconds` last."""
    call()
    times: list[float] = []
    deadline = time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < deadline and len(times) < 200):
        finish(device)
        start = time.perf_counter()
        call()
        finish(device)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def peak_mib(call: Callable[[], object], device: torch.device) -> float:
    """What a call adds to memory at its peak, in MiB: of the GPU, or of the process on a CPU."""
    finish(device)
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        call()
        finish(device)
        return (torch.cuda.max_memory_allocated(device) - before) / 2**20
    if not Path("/proc/self/clear_refs").exists():
        return float("nan")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _status_mib("VmHWM")
    call()
    return _status_mib("VmHWM") - before


def machine(device: torch.device) -> dict[str, str]:
    """Where and with what a figure was measured, torch and the GPU included."""
    facts = report.machine() | {"torch": str(torch.__version__)}
    if device.type == "cuda":
        facts["gpu"] = torch.cuda.get_device_name(device)
    return facts


def finish(device: torch.device) -> None:
    """Wait for what the device has been given to do."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _status_mib(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return float("nan")
