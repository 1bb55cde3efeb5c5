"""Profile of log Z + marginals: time in kernels and time in launches.

Nothing is checked here; `benchmarks.ops` does that, with the same calls.
"""

import argparse
import time
from dataclasses import asdict, dataclass

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.families import FAMILIES, SHAPES, fits, random_parts
from benchmarks.ops import batch_shape
from benchmarks.report import add_json, print_facts, print_table, write_json
from benchmarks.timing import machine

REPEATS = 20
LONGEST = 2


@dataclass
class Row:
    """Milliseconds of a call: in all, on the device in `calls` calls, and of the longest ones."""

    family: str
    sentences: int
    words: int
    wall: float
    device: float
    calls: float
    longest: dict[str, float]


def main() -> None:
    arguments = _arguments()
    device = torch.device(arguments.device)
    facts = machine(device)
    print_facts(facts)
    print()
    rows = [
        profiled(family, device, sentences=sentences, words=words)
        for family in FAMILIES
        for sentences, words in arguments.shapes or SHAPES[device.type]
        if arguments.shapes or fits(family, words, device)
    ]
    _print_rows(rows)
    if arguments.json:
        write_json(arguments.json, {"machine": facts, "rows": [asdict(row) for row in rows]})


def profiled(family: str, device: torch.device, *, sentences: int, words: int) -> Row:
    """Time one family on random scores of one shape, without a profiler and then with it."""
    parts = random_parts(family, sentences=sentences, words=words, device=device)
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
    longest = sorted(spent.items(), key=lambda item: -item[1][0])[:LONGEST]
    return Row(
        family,
        sentences,
        words,
        wall=wall,
        device=sum(time for time, _ in spent.values()) / 1000 / REPEATS,
        calls=sum(count for _, count in spent.values()) / REPEATS,
        longest={key.split("(")[0][:24]: time / 1000 / REPEATS for key, (time, _) in longest},
    )


def _print_rows(rows: list[Row]) -> None:
    columns = ["family", "shape", "wall ms", "device ms", "device calls", "the longest, ms"]
    lines = []
    for row in rows:
        longest = ", ".join(f"{name} {time:.3f}" for name, time in row.longest.items())
        figures = [f"{row.wall:.3f}", f"{row.device:.3f}", f"{row.calls:.0f}", longest]
        lines.append([row.family, f"{row.sentences} x {row.words}", *figures])
    print_table(columns, lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    default = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", choices=["cpu", "cuda"], default=default)
    parser.add_argument(
        "--shapes", nargs="+", type=batch_shape, metavar="SENTENCESxWORDS", help="of the batches"
    )
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
