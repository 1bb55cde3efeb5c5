"""Memory of `treecrf parse` on a long stream, which should stay flat.

A model parses sentences that come through a pipe; the memory of its process is looked at all along.
Without `--model`, a tiny one is trained first.
"""

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

from benchmarks.corpus import train_demo
from benchmarks.report import add_json, machine, print_table, write_json
from treecrf.demo import generate_treebank

# What the process may gain after the first quarter of the stream: the allocator's play.
ALLOWED_GROWTH = 1.05
_BLOCK = 1_000  # sentences that are written to the pipe at once


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.stream", description=__doc__)
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--model", type=Path, help="a model folder")
    parser.add_argument("--device", default="cpu")
    add_json(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or train_demo(Path(folder), "tiny")
        samples, seconds = watch(model, options.sentences, options.device)
    early = max(memory for sentences, memory in samples if 4 * sentences <= options.sentences)
    late = max(memory for _, memory in samples)
    shown = samples[:: max(1, len(samples) // 12)]
    print_table(
        ["sentences read", "memory, MiB"],
        [[f"{sentences:,}", f"{memory:,.0f}"] for sentences, memory in shown],
    )
    speed = options.sentences / seconds
    print(f"{options.sentences:,} sentences in {seconds:,.0f} s ({speed:,.0f} a second)")
    print(f"most memory: {early:,.0f} MiB in the first quarter, {late:,.0f} MiB in all")
    if options.json:
        figures = {"samples": samples, "seconds": seconds, "machine": machine()}
        write_json(options.json, figures)
    if late > ALLOWED_GROWTH * early:
        sys.exit("memory grew with the stream")


def watch(model: Path, count: int, device: str) -> tuple[list[tuple[int, float]], float]:
    """Sample the memory of the process by sentences read; return it with the time taken."""
    lines = [f"{' '.join(sentence.forms)}\n" for sentence in generate_treebank(_BLOCK, seed=3)]
    command = [sys.executable, "-m", "treecrf", "parse", "-", "--model", str(model)]
    options = ["--input", "tokens", "--device", device, "--output", "/dev/null"]
    process = subprocess.Popen([*command, *options], stdin=subprocess.PIPE)
    assert process.stdin is not None
    fed = [0]
    feeder = threading.Thread(target=feed, args=(process.stdin, lines, count, fed))
    started = time.perf_counter()
    feeder.start()
    samples: list[tuple[int, float]] = []
    while process.poll() is None:
        memory = resident_mib(process.pid)
        if fed[0] and memory:
            samples.append((fed[0], memory))
        time.sleep(0.25)
    feeder.join()
    if process.returncode:
        sys.exit(f"treecrf parse ended with exit code {process.returncode}")
    return samples, time.perf_counter() - started


def feed(pipe: IO[bytes], lines: list[str], count: int, fed: list[int]) -> None:
    """Write sentences to the pipe, and count them."""
    with pipe:
        while fed[0] < count:
            block = lines[: count - fed[0]]
            pipe.write("".join(block).encode())
            fed[0] += len(block)


def resident_mib(pid: int) -> float:
    """Resident memory of a process; 0 if it has ended."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


if __name__ == "__main__":
    main()
