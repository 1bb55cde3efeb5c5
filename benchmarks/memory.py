"""Peak memory of one call on a CPU, in a process of its own (Linux alone tells it)."""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch

from benchmarks.families import FAMILIES, random_parts

_STATUS = Path("/proc/self/status")


def process_peak_mib(family: str, *, sentences: int, words: int) -> float | None:
    """Peak memory in MiB that log Z and marginals add to scores that are there; None if unknown."""
    if not _STATUS.exists():
        return None
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_peak_mib, family, sentences, words).result()


def _peak_mib(family: str, sentences: int, words: int) -> float:
    def call(sentences: int, words: int) -> None:
        parts = random_parts(family, sentences=sentences, words=words, device=torch.device("cpu"))
        before = _status_kib("VmRSS")
        _reset_peak()
        crf = FAMILIES[family](*parts, torch.full((sentences,), words))
        _ = crf.marginals, crf.log_partition
        peaks.append((_status_kib("VmHWM") - before) / 1024)

    peaks: list[float] = []
    call(1, 2)  # loads and compiles the kernels
    call(sentences, words)
    return peaks[-1]


def _reset_peak() -> None:
    with open("/proc/self/clear_refs", "wb", buffering=0) as file:
        os.write(file.fileno(), b"5")


def _status_kib(name: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1])
