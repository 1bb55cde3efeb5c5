"""Where the time of log Z + marginals goes: in kernels, or in launching them."""

import argparse
import time

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.ops import FAMILIES, SHAPES
from benchmarks.report import print_table
from benchmarks.timing import machine

REPEATS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", choices=["cpu", "cuda"], default=default)
    device = torch.device(parser.parse_args().device)
    print(", ".join(f"{name} {value}" for name, value in machine(device).items()), "\n")
    rows = [
        profiled(family, sentences, words, device)
        for family in FAMILIES
        for sentences, words in SHAPES[device.type]
    ]
    columns = ["family", "shape", "wall ms", "device ms", "device calls", "the longest, ms"]
    print_table(columns, rows)


def profiled(family: str, sentences: int, words: int, device: torch.device) -> list[str]:
    """One row: wall time of a call, time on the device, how many calls that was, the longest."""
    tokens = words + 1
    shapes = [(sentences, tokens, tokens)]
    if family == "second_order":
        shapes.append((sentences, tokens, tokens, tokens))
    parts = [torch.randn(shape, device=device) for shape in shapes]
    lengths = torch.full((sentences,), words, device=device)

    def calls(repeats: int) -> float:
        start = time.perf_counter()
        for _ in range(repeats):
            _ = FAMILIES[family](*parts, lengths).marginals
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return 1000 * (time.perf_counter() - start) / repeats

    calls(3)
    wall = calls(REPEATS)
    activity = ProfilerActivity.CUDA if device.type == "cuda" else ProfilerActivity.CPU
    with profile(activities=[activity]) as recorded:
        calls(REPEATS)
    spent = {
        event.key: (
            event.self_device_time_total if device.type == "cuda" else event.self_cpu_time_total,
            event.count,
        )
        for event in recorded.key_averages()
    }
    total = sum(time for time, _ in spent.values()) / 1000 / REPEATS
    count = sum(count for _, count in spent.values()) / REPEATS
    longest = sorted(spent.items(), key=lambda item: -item[1][0])[:2]
    named = ", ".join(
        f"{key.split('(')[0][:24]} {time / 1000 / REPEATS:.3f}" for key, (time, _) in longest
    )
    shape = f"{sentences} x {words}"
    return [family, shape, f"{wall:.3f}", f"{total:.3f}", f"{count:.0f}", named]


if __name__ == "__main__":
    main()
