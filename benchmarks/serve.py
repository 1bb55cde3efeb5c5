"""Throughput of the service beside the parser alone, and its behaviour under overload.

A second process keeps 64 connections busy with short and long requests mixed; throughput is set
beside that of the parser alone, by turns. Half of that load, sent evenly, shows how long answers
take without queues. Under ten times the load all that is not answered must be refused with 503, the
memory must stay flat, and afterwards a request must be answered again. Without `--model`, one of
the default size is trained for an epoch first: speed does not depend on how good it is. With
`--text`, which wants a model with a segmenter, requests are raw text; words are counted as the
treebank has them.
"""

import argparse
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.corpus import train_demo
from benchmarks.report import add_json, machine, print_table, write_json
from benchmarks.service import Service
from treecrf.demo import generate_treebank
from treecrf.treebank import Sentence, read_conllu

# Of the throughput of the parser alone, at least.
_LEAST_SHARE = 0.7
# What the memory may gain in the second half of the overload: the allocator's play.
_ALLOWED_GROWTH = 1.1
_LONG = 12  # sentences of a long request; a short one has one
_SHARE_OF_LONG = 0.2
_REQUESTS = 500
_ROUNDS = 3
_STARTING = 1.0  # seconds until the second process is sure to send


def main() -> None:
    options = _arguments()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)  # of the parser here and in the service
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = options.model or train_demo(folder, options.config)
        requests = _requests(_sentences(options.file))
        bodies = folder / "bodies"
        bodies.write_text(
            "".join(
                f"{sum(map(len, request))}\t{json.dumps(_body(request, text=options.text))}\n"
                for request in requests
            )
        )
        figures = _measure(options, model, requests, bodies)
    failures = _report(figures)
    if options.json:
        write_json(options.json, figures | {"machine": machine(), "threads": options.threads})
    if failures:
        sys.exit("; ".join(failures))


def _measure(
    options: argparse.Namespace, model: Path, requests: list[list[Sentence]], bodies: Path
) -> dict[str, Any]:
    import treecrf

    parser = treecrf.load(model, device=options.device)
    offline, normal = _Speed(), _Speed()
    records = []
    with Service(model, options.device) as service:
        _check_same(parser, service, requests[:20], text=options.text)
        parse = f"{service.url}/api/parse"
        part = options.seconds / _ROUNDS
        for _ in range(_ROUNDS):  # by turns, because machines have other things to do as well
            offline.add(*_offline(parser, requests, part / 2, text=options.text))
            before = service.processor_seconds()
            record = _load(parse, bodies, seconds=part, connections=options.connections)
            spent = service.processor_seconds() - before
            normal.add(record["words"], record["elapsed"], spent)
            records.append(record)
        half = _load(parse, bodies, seconds=part, rate=normal.by_clock / 2)
        service.watch()
        rate = 10 * normal.by_clock
        with ThreadPoolExecutor(1) as pool:
            loading = pool.submit(_load, parse, bodies, seconds=options.seconds / 2, rate=rate)
            time.sleep(options.seconds / 2 + _STARTING)
            # While all that was taken in is still there.
            recovery = service.time_of_one(_body(requests[0][:1], text=options.text))
            overload = loading.result()
        memory = service.stop_watching()
    return {
        "offline": vars(offline),
        "normal": _merged(records) | vars(normal),
        "half": half,
        "overload": overload | {"rate": rate},
        "memory": memory,
        "recovery": recovery,
    }


class _Speed:
    """Words, with their wall time and CPU time."""

    def __init__(self) -> None:
        self.words, self.clock, self.processor = 0, 0.0, 0.0

    def add(self, words: int, clock: float, processor: float) -> None:
        self.words += words
        self.clock += clock
        self.processor += processor

    @property
    def by_clock(self) -> float:
        return self.words / self.clock


def _merged(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge the records of all rounds."""
    merged: dict[str, Any] = {"statuses": Counter(), "problems": Counter(), "seconds": {}}
    for record in records:
        merged["statuses"].update(record["statuses"])
        merged["problems"].update(record["problems"])
        for status, times in record["seconds"].items():
            merged["seconds"][status] = sorted([*merged["seconds"].get(status, []), *times])
    return merged


def _report(figures: dict[str, Any]) -> list[str]:
    """Print the figures; return what is not as it should be."""
    normal, half, overload = figures["normal"], figures["half"], figures["overload"]
    alone = figures["offline"]
    speeds = {
        by: (alone["words"] / alone[by], normal["words"] / normal[by])
        for by in ("clock", "processor")
    }
    share = speeds["clock"][1] / speeds["clock"][0]
    rows = [
        ["the parser alone, words/s", f"{speeds['clock'][0]:,.0f}"],
        ["the service, words/s", f"{speeds['clock'][1]:,.0f}"],
        ["of the parser alone", f"{share:.0%}"],
        ["by time of the processor", f"{speeds['processor'][1] / speeds['processor'][0]:.0%}"],
        ["requests", f"{sum(normal['statuses'].values()):,}"],
        ["errors", f"{_errors(normal, allowed=()):,}"],
        ["p50, seconds", f"{_percentile(normal, '200', 0.5):.3f}"],
        ["p99, seconds", f"{_percentile(normal, '200', 0.99):.3f}"],
        ["half the load: p50, seconds", f"{_percentile(half, '200', 0.5):.3f}"],
        ["half the load: p99, seconds", f"{_percentile(half, '200', 0.99):.3f}"],
        ["overload: words/s sent", f"{overload['rate']:,.0f}"],
        ["overload: answered", f"{overload['statuses'].get('200', 0):,}"],
        ["overload: refused with 503", f"{overload['statuses'].get('503', 0):,}"],
        ["overload: other errors", f"{_errors(overload, allowed=('503',)):,}"],
        ["overload: p99 of a refusal, seconds", f"{_percentile(overload, '503', 0.99):.3f}"],
        ["overload: memory, MiB, first half", f"{figures['memory'][0]:,.0f}"],
        ["overload: memory, MiB, second half", f"{figures['memory'][1]:,.0f}"],
        ["right after it: one request, seconds", f"{figures['recovery']:.3f}"],
    ]
    print_table(["", ""], rows)
    failures = []
    undisturbed = _errors(normal, allowed=()) + _errors(half, allowed=())
    if undisturbed or _errors(overload, allowed=("503",)):
        failures.append("there were errors")
    if share < _LEAST_SHARE:
        failures.append(f"the service parses less than {_LEAST_SHARE:.0%} of the parser alone")
    if figures["memory"][1] > _ALLOWED_GROWTH * figures["memory"][0]:
        failures.append("memory grew under overload")
    return failures


def _errors(record: dict[str, Any], *, allowed: tuple[str, ...]) -> int:
    wrong = sum(n for status, n in record["statuses"].items() if status not in ("200", *allowed))
    return wrong + sum(record["problems"].values())


def _percentile(record: dict[str, Any], status: str, share: float) -> float:
    times = record["seconds"].get(status, [])
    return times[min(int(share * len(times)), len(times) - 1)] if times else float("nan")


def _parse(parser: Any, requests: list[list[Sentence]], *, text: bool) -> list[Sentence]:
    """Sentences with trees: of the words of the requests, or of their text."""
    if text:
        return [sentence for document in parser.pipe(map(_text, requests)) for sentence in document]
    return list(parser.parse_stream(sentence.forms for request in requests for sentence in request))


def _offline(
    parser: Any, requests: list[list[Sentence]], seconds: float, *, text: bool
) -> tuple[int, float, float]:
    """Words that the parser alone parses in about `seconds`, and the exact time."""
    first, started = requests[:20], 0.0
    for _ in range(2):  # in the first round kernels are compiled
        started = time.perf_counter()
        _parse(parser, first, text=text)
    share = seconds / (time.perf_counter() - started)
    many = itertools.cycle(requests)
    taken = [next(many) for _ in range(math.ceil(len(first) * share))]
    started, processor = time.perf_counter(), time.process_time()
    _parse(parser, taken, text=text)
    spent = time.perf_counter() - started, time.process_time() - processor
    return sum(len(sentence) for request in taken for sentence in request), *spent


def _check_same(
    parser: Any, service: Service, requests: list[list[Sentence]], *, text: bool
) -> None:
    for request in requests:
        answer = service.parse(_body(request, text=text))["sentences"]
        for ours, tree in zip(answer, _parse(parser, [request], text=text), strict=True):
            if [token["head"] for token in ours["tokens"]] != tree.heads:
                sys.exit(f"the service gives another tree for {tree!r}, so nothing is timed")


def _load(url: str, bodies: Path, *, seconds: float, **options: float) -> dict[str, Any]:
    """Run the load in a second process; return its report."""
    named = [f"--{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "benchmarks.load", url, str(bodies), f"--seconds={seconds}"]
    output = subprocess.run([*command, *named], check=True, stdout=subprocess.PIPE).stdout
    report: dict[str, Any] = json.loads(output)
    return report


def _sentences(file: Path | None) -> list[Sentence]:
    return list(read_conllu(file)) if file else list(generate_treebank(1_000, seed=3))


def _requests(sentences: list[Sentence]) -> list[list[Sentence]]:
    """Make requests: most of one sentence, some of many."""
    draw = random.Random(1)
    short = [sentence for sentence in sentences if len(sentence) <= 100]
    return [
        draw.choices(short, k=_LONG if draw.random() < _SHARE_OF_LONG else 1)
        for _ in range(_REQUESTS)
    ]


def _text(request: list[Sentence]) -> str:
    return " ".join(sentence.text for sentence in request)


def _body(request: list[Sentence], *, text: bool) -> dict[str, Any]:
    if text:
        return {"text": _text(request)}
    return {"tokens": [sentence.forms for sentence in request]}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.serve", description=__doc__)
    parser.add_argument("--model", type=Path, help="a model folder")
    parser.add_argument("--config", default="default", help="of the model that is trained")
    parser.add_argument("--file", type=Path, help="a treebank; else sentences are generated")
    parser.add_argument("--text", action="store_true", help="send raw text, not words")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1, help="of torch, in both")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--connections", type=int, default=64)
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
