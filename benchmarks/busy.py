"""CPU time of small work where other processes compute, beside what it should take.

Documents one by one are compared with the same text in one piece; they, the service, spaCy's pipe,
workers and a small training also with a process that is held to a single thread. Both must give the
same words or epochs before a ratio is printed; of several passes over the documents the least time
counts. With neighbours, as many other processes as there are cores compute all the time.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.report import add_json, print_table, write_json
from treecrf.cores import usable_cores

ROOT = Path(__file__).parent.parent
TEXT = "The old man who lived near the {} told us about his long journey to the sea."
PLACES = ["river", "lake", "hill", "town", "wood", "coast"]
_WORK = ("joined", "documents", "service", "spacy", "workers", "training")
# CPU time of some work / that of other work, or of the same on one thread.
_RATIOS: dict[str, tuple[str, str | None]] = {
    "documents one by one / joined": ("documents", "joined"),
    "documents one by one / on one thread": ("documents", None),
    "service, a document a request / on one thread": ("service", None),
    "spaCy's pipe / on one thread": ("spacy", None),
    "file with two workers / on one thread": ("workers", None),
    "tiny training / on one thread": ("training", None),
}
_PASSES = 8
_SPIN = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"


def main() -> None:
    arguments = _arguments()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.count)))
        return
    found: dict[int, dict[str, float]] = {0: {}, usable_cores(): {}}
    for name, (work, against) in _RATIOS.items():
        count = arguments.sentences if work == "training" else arguments.documents
        for beside, by_name in found.items():
            with neighbours(beside):
                by_name[name] = ratio(work, count, against=against)
    rows = [[name, *(f"{by_name[name]:.2f}" for by_name in found.values())] for name in _RATIOS]
    print_table(["CPU time, ratio", *(f"{beside} neighbours" for beside in found)], rows)
    if arguments.json:
        write_json(arguments.json, {str(beside): by_name for beside, by_name in found.items()})


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
    texts = [TEXT.format(PLACES[number % len(PLACES)]) for number in range(count)]
    with _prepared(work, texts) as run:
        run()
        passes = [_timed(run) for _ in range(_PASSES)]
    return {"seconds": min(seconds for seconds, _ in passes), "done": passes[0][1]}


def _timed(run: Callable[[], int]) -> tuple[float, int]:
    """CPU seconds of a call, those of its child processes included, and its result."""

    def spent() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    started = spent()
    found = run()
    return spent() - started, found


@contextmanager
def _prepared(work: str, texts: list[str]) -> Iterator[Callable[[], int]]:
    """A function that parses the texts once and returns how many words they have."""
    import treecrf

    if work == "spacy":
        import spacy

        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("treecrf", config={"device": "cpu"})
        yield lambda: sum(map(len, nlp.pipe(texts)))
        return
    parser = treecrf.load(device="cpu")
    if work == "service":
        from starlette.testclient import TestClient

        from treecrf.serve.app import create_app

        with TestClient(create_app({"en": parser})) as client:

            def ask(text: str) -> int:
                answer = client.post("/api/parse", json={"text": text}).json()
                return sum(len(sentence["tokens"]) for sentence in answer["sentences"])

            yield lambda: sum(map(ask, texts))
    elif work == "workers":
        from treecrf.parser.files.sources import FileOptions
        from treecrf.parser.files.workers import parse_with_workers

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "text.txt"
            file.write_text("\n\n".join(texts), "utf-8")

            def parse_file() -> int:
                found = b"".join(parse_with_workers(parser, file, FileOptions(), workers=2))
                return sum(line[:1].isdigit() for line in found.splitlines())

            yield parse_file
    else:
        given = [" ".join(texts)] if work == "joined" else texts
        yield lambda: sum(len(sentence) for text in given for sentence in parser.parse(text))


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
    parser.add_argument("--measure", choices=_WORK, help="only this")
    parser.add_argument(
        "--count", type=int, default=60, help="documents or sentences for --measure"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
