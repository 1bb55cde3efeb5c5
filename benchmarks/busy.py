"""CPU time of small work where other processes compute, beside what it should take.

Documents one by one are compared with the same text in one piece; they and a small training also
with a process that is held to a single thread. Both must give the same words or epochs before a
ratio is printed. With neighbours, as many other processes as there are cores compute all the time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.report import add_json, print_table, write_json
from treecrf.cores import usable_cores

ROOT = Path(__file__).parent.parent
TEXT = "The old man who lived near the {} told us about his long journey to the sea."
PLACES = ["river", "lake", "hill", "town", "wood", "coast"]
_SPIN = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"


def main() -> None:
    arguments = _arguments()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.count)))
        return
    found = {}
    for beside in (0, usable_cores()):
        with neighbours(beside):
            found[beside] = ratios(arguments.documents, arguments.sentences)
    rows = [
        [name, *(f"{found[beside][name]:.2f}" for beside in found)]
        for name in next(iter(found.values()))
    ]
    print_table(["CPU time, ratio", *(f"{beside} neighbours" for beside in found)], rows)
    if arguments.json:
        write_json(arguments.json, {str(beside): found[beside] for beside in found})


def ratios(documents: int, sentences: int) -> dict[str, float]:
    """CPU time of each kind of work / the CPU time that it should take."""
    return {
        "documents one by one / joined": ratio("documents", documents, against="joined"),
        "documents one by one / on one thread": ratio("documents", documents),
        "tiny training / on one thread": ratio("training", sentences),
    }


def ratio(work: str, count: int, *, against: str | None = None) -> float:
    """CPU time of some work over that of the same on one thread, or of other work."""
    ours = _run(work, count)
    theirs = _run(work, count, threads=1) if against is None else _run(against, count)
    if ours["done"] != theirs["done"]:
        sys.exit(f"not the same work was done, so nothing is reported: {ours} and {theirs}")
    return ours["seconds"] / theirs["seconds"]


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Run `count` processes that compute until the end of the `with` block."""
    processes = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _run(work: str, count: int, *, threads: int | None = None) -> dict[str, float]:
    """Run `measure` in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    command = [sys.executable, "-m", "benchmarks.busy", "--measure", work, "--count", str(count)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    if result.returncode:
        sys.exit(f"{work} failed: {result.stderr}")
    found: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return found


def measure(work: str, count: int) -> dict[str, float]:
    """CPU seconds of some work here, kernels compiled before, and how much was done."""
    if work == "training":
        with tempfile.TemporaryDirectory() as name:
            return _measure_training(Path(name), count)
    import treecrf

    parser = treecrf.load(device="cpu")
    texts = [TEXT.format(PLACES[number % len(PLACES)]) for number in range(count)]
    if work == "joined":
        texts = [" ".join(texts)]
    parser.parse(" ".join(texts[:3]))
    started = time.process_time()
    words = sum(len(sentence) for text in texts for sentence in parser.parse(text))
    return {"seconds": time.process_time() - started, "done": words}


def _measure_training(folder: Path, sentences: int) -> dict[str, float]:
    from treecrf.demo import generate_treebank
    from treecrf.parser import load_config, set_up
    from treecrf.parser.training.loop import train
    from treecrf.treebank import write_conllu

    for seed, name in enumerate(("train", "dev")):
        write_conllu(generate_treebank(sentences, seed=seed), folder / f"{name}.conllu")
    seconds = []
    for epochs in (1, 2):  # kernels are compiled in the first training
        config = load_config("tiny").changed({"epochs": epochs})
        files = {"train": [folder / "train.conllu"], "dev": folder / "dev.conllu"}
        training = set_up(folder / str(epochs), config, device="cpu", **files)
        started = time.process_time()
        last = train(training, folder / str(epochs))
        seconds.append(time.process_time() - started)
    return {"seconds": seconds[-1], "done": last.epoch}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--sentences", type=int, default=100, help="to train on")
    add_json(parser)
    parser.add_argument("--measure", choices=("joined", "documents", "training"), help="only this")
    parser.add_argument(
        "--count", type=int, default=60, help="documents or sentences for --measure"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
