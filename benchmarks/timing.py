"""Measurements with torch: medians, peak memory, the device."""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Collection
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from typing import NoReturn, TypeVar

import torch

from benchmarks import report

Work = TypeVar("Work")

MOST_WORKERS = 16


def median_ms(
    call: Callable[[], object],
    device: torch.device,
    *,
    seconds: float = 1.0,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Median time of a call in milliseconds: at least 3 calls, and more while `seconds` last."""
    call()
    times: list[float] = []
    deadline = time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < deadline and len(times) < 200):
        finish(device)
        start = clock()
        call()
        finish(device)
        times.append(1000 * (clock() - start))
    return statistics.median(times)


def peak_mib(call: Callable[[], object], device: torch.device) -> float | None:
    """Peak GPU memory of a call, in MiB.

    None on a CPU: the allocator keeps what earlier calls gave back, so a peak would tell of those.
    """
    if device.type != "cuda":
        return None
    call()  # what is set up once is not of the call
    finish(device)
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    call()
    finish(device)
    return (torch.cuda.max_memory_allocated(device) - before) / 2**20


def triton_device() -> torch.device:
    """The GPU, or the CPU for Triton's interpreter."""
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    return torch.device("cuda" if torch.cuda.is_available() and not interpreted else "cpu")


def refuse_device(what: str) -> NoReturn:
    """Exit with status 2: these kernels cannot run here."""
    print(
        f"{what} Triton and a CUDA device; TRITON_INTERPRET=1 makes a trial run in Triton's "
        "interpreter where there is none",
        file=sys.stderr,
    )
    raise SystemExit(2)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the number of processes for `compile_all`."""
    cores = min(os.cpu_count() or 1, MOST_WORKERS)
    parser.add_argument("--workers", type=int, default=cores, help="processes that compile")


def compile_all(call: Callable[[Work], None], works: Collection[Work], *, workers: int) -> None:
    """Compile into Triton's cache, in several processes: one alone would take minutes."""
    print(f"compiling for {len(works)} tiles in {workers} processes ...", file=sys.stderr)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        list(pool.map(call, works))


def machine(device: torch.device) -> dict[str, str]:
    """Machine and software of a measurement: torch, kernel compilers, threads, GPU."""
    facts = report.machine() | {"torch": str(torch.__version__)}
    for package in ("numba", "triton"):
        with suppress(PackageNotFoundError):
            facts[package] = version(package)
    facts["threads"] = str(torch.get_num_threads())
    if device.type == "cuda":
        facts["gpu"] = torch.cuda.get_device_name(device)
    return facts


def finish(device: torch.device) -> None:
    """Wait until the device is idle."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
