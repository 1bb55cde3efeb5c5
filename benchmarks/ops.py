"""Speed of log Z, marginals and best trees, beside the torch reference and other libraries.

Every implementation is checked before it is timed: its log Z and marginals must be those of the
float64 reference, for as many sentences as that has room for, and its best trees must be trees and
score as those of the reference, for a few sentences. What fails is not timed.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

import torch
from torch import Tensor

from benchmarks import peers
from benchmarks.families import FAMILIES, GROWTH, SHAPES, fits, random_parts, reference_room
from benchmarks.memory import process_peak_mib
from benchmarks.plain import plain_marginals
from benchmarks.report import add_json, print_facts, print_table, write_json
from benchmarks.timing import machine, median_ms, peak_mib
from treecrf.ops import use_backend
from treecrf.ops.backend import backend_for
from treecrf.struct.distribution import TreeDistribution

# Past this, a peer needs minutes or more memory than there is.
PEERS_UP_TO_WORDS = 100
GROWTH_BATCH = 8
TOLERANCE = 2e-3


@dataclass
class Row:
    """Median milliseconds of each implementation, what it is the time of, and our peak memory."""

    family: str
    question: str
    sentences: int
    words: int
    milliseconds: dict[str, float]
    peak_mib: float | None


def main() -> None:
    arguments = _arguments()
    device = torch.device(arguments.device)
    facts = machine(device)
    print_facts(facts)
    kind = "CPU times of all threads" if arguments.cpu_time else "times"
    print(f"ours: the {backend_for(device)} backend; {kind} are medians in ms, float32\n")
    clock = time.process_time if arguments.cpu_time else time.perf_counter

    rows = [
        row
        for family in arguments.families
        for sentences, words in arguments.shapes or SHAPES[device.type]
        if arguments.shapes or fits(family, words, device)
        for row in measure(
            family,
            device,
            sentences=sentences,
            words=words,
            seconds=arguments.seconds,
            memory=arguments.memory,
            clock=clock,
        )
    ]
    print_rows(rows)
    growth = [
        row
        for family in arguments.families
        for words in arguments.growth or GROWTH[device.type]
        if arguments.growth or fits(family, words, device)
        for row in measure(
            family,
            device,
            sentences=GROWTH_BATCH,
            words=words,
            seconds=arguments.seconds,
            alone=True,
            clock=clock,
        )
    ]
    _print_growth(growth)
    if arguments.json:
        content = {"machine": facts, "rows": rows, "growth": growth}
        write_json(arguments.json, {k: _plain(v) for k, v in content.items()})


def measure(
    family: str,
    device: torch.device,
    *,
    sentences: int,
    words: int,
    seconds: float,
    alone: bool = False,
    memory: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Row]:
    """Check and time one family on random scores of one shape.

    `alone`: without the others; `memory`: with the peak memory of log Z and marginals on a CPU.
    """
    print(f"{family}: {sentences} sentences of {words} words ...", file=sys.stderr, flush=True)
    parts = random_parts(family, sentences=sentences, words=words, device=device)
    lengths = torch.full((sentences,), words, device=device)

    def ours() -> TreeDistribution:
        return FAMILIES[family](*parts, lengths)

    def our_marginals() -> tuple[Tensor, Tensor]:
        crf = ours()
        marginals = crf.marginals
        return crf.log_partition, marginals

    def reference_marginals() -> tuple[Tensor, Tensor]:
        with use_backend("torch"):
            return our_marginals()

    def reference_argmax() -> Tensor:
        with use_backend("torch"):
            return ours().argmax

    marginals = {"ours": our_marginals}
    argmax = {"ours": lambda: ours().argmax}
    if not alone and sentences <= reference_room(family, words + 1):
        marginals["reference"] = reference_marginals
        if family != "nonprojective":  # there it is a plain Python loop, and no rival
            argmax["reference"] = reference_argmax
    if not alone and family == "first_order" and device.type == "cpu":
        marginals["plain loops"] = partial(plain_marginals, parts[0], lengths)
    if not alone and words <= PEERS_UP_TO_WORDS:
        for peer in (
            peers.supar(family, parts, lengths=lengths),
            peers.torch_struct(family, parts),
        ):
            if peer is not None:
                marginals[peer.name], argmax[peer.name] = peer.marginals, peer.argmax

    expected = _expected(family, parts, lengths)
    best = _best(family, parts, lengths)
    crf = ours()
    rows = []
    for question, calls in (("log Z + marginals", marginals), ("argmax", argmax)):
        peak = peak_mib(calls["ours"], device)
        if memory and peak is None and question != "argmax":
            peak = process_peak_mib(family, sentences=sentences, words=words)
        milliseconds = {}
        for name, call in calls.items():
            try:
                wrong = (
                    _wrong_marginals(call(), expected)
                    if question != "argmax"
                    else _wrong_trees(crf, call(), best)
                )
            except Exception as problem:
                wrong = f"failed with {type(problem).__name__}: {problem}"
            if wrong and name == "ours":
                raise SystemExit(f"{family}, {sentences} x {words}: our {question} {wrong}")
            if wrong:
                print(f"  {name} {question} {wrong}: not timed", file=sys.stderr)
                continue
            milliseconds[name] = median_ms(call, device, seconds=seconds, clock=clock)
        rows.append(Row(family, question, sentences, words, milliseconds, peak))
    return rows


def _expected(family: str, parts: tuple[Tensor, ...], lengths: Tensor) -> tuple[Tensor, Tensor]:
    """log Z and marginals of the float64 reference, for as many sentences as it has room for."""
    room = max(1, reference_room(family, parts[0].shape[1]) // 2)
    few = tuple(part[:room].double() for part in parts)
    with use_backend("torch"):
        crf = FAMILIES[family](*few, lengths[:room])
        marginals = crf.marginals
        return crf.log_partition, marginals


def _wrong_marginals(found: tuple[Tensor, Tensor], expected: tuple[Tensor, Tensor]) -> str | None:
    for name, ours, reference in zip(("log Z", "marginals"), found, expected, strict=True):
        difference = (ours[: len(reference)] - reference).abs().max().item()
        if not difference <= TOLERANCE:
            return f"differ from the reference: {name} by {difference:.1e}"
    return None


def _best(family: str, parts: tuple[Tensor, ...], lengths: Tensor) -> Tensor:
    """The best scores by the float64 reference; of a few sentences where it is slow."""
    few = 8 if lengths[0] <= PEERS_UP_TO_WORDS else 1 if family == "nonprojective" else 2
    few = max(1, min(few, reference_room(family, parts[0].shape[1]) // 2))
    with use_backend("torch"):
        return FAMILIES[family](*(part[:few].double() for part in parts), lengths[:few]).max


def _wrong_trees(crf: TreeDistribution, heads: Tensor, best: Tensor) -> str | None:
    if bool((crf.log_prob(heads) == float("-inf")).any()):
        return "is no tree of the family"
    difference = (crf.score(heads)[: len(best)] - best).abs().max().item()
    return None if difference <= TOLERANCE else f"misses the best score by {difference:.1e}"


def print_rows(rows: list[Row]) -> None:
    """Print our times, then those of the others with the ratio of their time to ours."""
    others = list(
        dict.fromkeys(name for row in rows for name in row.milliseconds if name != "ours")
    )
    columns = ["family", "question", "shape", "ours"]
    with_peaks = any(row.peak_mib is not None for row in rows)
    columns += ["peak MiB"] * with_peaks
    for name in others:
        columns += [name, "ratio"]
    lines = []
    for row in rows:
        ours = row.milliseconds["ours"]
        shape = f"{row.sentences} x {row.words}"
        line = [row.family, row.question, shape, f"{ours:.3f}"]
        if with_peaks:
            line.append("" if row.peak_mib is None else f"{row.peak_mib:.0f}")
        for name in others:
            theirs = row.milliseconds.get(name)
            line += ["", ""] if theirs is None else [f"{theirs:.1f}", _ratio(theirs / ours)]
        lines.append(line)
    print_table(columns, lines)


def _ratio(ratio: float) -> str:
    """Format a ratio; small ones have a decimal, as whole numbers would hide who is ahead."""
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def _print_growth(rows: list[Row]) -> None:
    print(f"\nHow the time grows with the words, {GROWTH_BATCH} sentences:\n")
    lengths = list(dict.fromkeys(row.words for row in rows))
    table = []
    for key in dict.fromkeys((row.family, row.question) for row in rows):
        times = {
            row.words: row.milliseconds["ours"] for row in rows if (row.family, row.question) == key
        }
        table.append([*key, *(f"{times[n]:.2f}" if n in times else "" for n in lengths)])
    print_table(["family", "question", *(f"{words} words" for words in lengths)], table)


def _plain(value: object) -> object:
    return [asdict(row) for row in value] if isinstance(value, list) else value


def batch_shape(text: str) -> tuple[int, int]:
    """Parse a batch shape such as 32x25: sentences x words."""
    sentences, _, words = text.partition("x")
    return int(sentences), int(words)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    default = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", choices=["cpu", "cuda"], default=default)
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument(
        "--shapes", nargs="+", type=batch_shape, metavar="SENTENCESxWORDS", help="of the batches"
    )
    parser.add_argument("--growth", nargs="+", type=int, metavar="WORDS", help="of the last table")
    parser.add_argument("--seconds", type=float, default=1.0, help="timing budget of each cell")
    busy = "CPU time instead of wall time, for a busy machine; set OMP_NUM_THREADS=1 with it"
    parser.add_argument("--cpu-time", action="store_true", help=busy)
    parser.add_argument("--memory", action="store_true", help="peak memory on a CPU as well")
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
