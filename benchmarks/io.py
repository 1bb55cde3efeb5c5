"""How fast a treebank is read, beside the package conllu, and in how much memory.

Both must find the same words, heads and relations before anything is timed. The readers take turns,
go through the file sentence by sentence and take from each what the row says. What counts is the
processor time of the best round: the rest is what else the machine did.
"""

import argparse
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

import conllu

from benchmarks.report import machine, print_table, treebank_files, write_json
from treecrf.treebank import read_conllu

Tree = tuple[list[str], list[int], list[str]]


def our_trees(path: Path) -> Iterator[Tree]:
    for sentence in read_conllu(path):
        yield sentence.forms, sentence.heads, sentence.deprels


def their_trees(path: Path) -> Iterator[Tree]:
    with path.open(encoding="utf-8") as file:
        for sentence in conllu.parse_incr(file):
            words = [token for token in sentence if isinstance(token["id"], int)]
            yield (
                [word["form"] for word in words],
                [word["head"] for word in words],
                [word["deprel"] for word in words],
            )


def our_tokens(path: Path) -> Iterator[object]:
    for sentence in read_conllu(path):
        yield sentence.tokens


def their_tokens(path: Path) -> Iterator[object]:
    with path.open(encoding="utf-8") as file:
        yield from conllu.parse_incr(file)


READERS: dict[
    str, tuple[Callable[[Path], Iterator[object]], Callable[[Path], Iterator[object]]]
] = {
    "forms, heads and relations": (our_trees, their_trees),
    "tokens with every column": (our_tokens, their_tokens),
}


def main() -> None:
    arguments = _arguments()
    (path,) = treebank_files(arguments.treebanks, arguments.file)
    facts = machine()
    print(", ".join(f"{name} {value}" for name, value in facts.items()))
    print(f"{path}, {path.stat().st_size / 1e6:.1f} MB; best of {arguments.rounds} rounds\n")

    words = 0
    for number, (ours, theirs) in enumerate(zip_longest(our_trees(path), their_trees(path)), 1):
        if ours != theirs:
            sys.exit(f"sentence {number} differs, so nothing is timed:\n{ours}\n{theirs}")
        words += len(ours[0])

    rows = []
    for name, readers in READERS.items():
        ours, theirs = in_turns(path, readers, rounds=arguments.rounds)
        rows.append(
            {
                "what": name,
                "treecrf": min(ours),
                "conllu": min(theirs),
                "ratio": min(theirs) / min(ours),
            }
        )
    print_table(
        ["what is taken", "treecrf, CPU s", "conllu, CPU s", "treecrf, words/s", "times as fast"],
        [
            [
                row["what"],
                f"{row['treecrf']:.3f}",
                f"{row['conllu']:.3f}",
                f"{words / row['treecrf']:,.0f}",
                f"{row['ratio']:.1f}",
            ]
            for row in rows
        ],
    )
    print("\npeak memory of reading, in MiB:")
    memory = memory_by_size(path)
    print_table(["file", "treecrf"], [[name, f"{peak:.1f}"] for name, peak in memory.items()])
    if arguments.json:
        content = {"machine": facts, "words": words, "rows": rows, "peak_mib": memory}
        write_json(arguments.json, content)


def in_turns(
    path: Path, readers: tuple[Callable[[Path], Iterator[object]], ...], *, rounds: int
) -> list[list[float]]:
    """Processor seconds of each reader in each round; in turns, both see the same machine."""
    times: list[list[float]] = [[] for _ in readers]
    for _ in range(rounds):
        for reader, seconds in zip(readers, times, strict=True):
            start = time.process_time()
            for _ in reader(path):
                pass
            seconds.append(time.process_time() - start)
    return times


def memory_by_size(path: Path) -> dict[str, float]:
    """What reading allocates at its peak, for the file and for four times the file."""
    peaks = {}
    with tempfile.TemporaryDirectory() as folder:
        longer = Path(folder) / "longer.conllu"
        longer.write_bytes(path.read_bytes() * 4)
        for name, file in (("once", path), ("four times as long", longer)):
            tracemalloc.start()
            for _ in our_trees(file):
                pass
            peaks[name] = tracemalloc.get_traced_memory()[1] / 2**20
            tracemalloc.stop()
    return peaks


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.io", description=__doc__)
    parser.add_argument("treebanks", type=Path, help="the folder of treebanks")
    parser.add_argument("--file", default="en_ewt-2.3/train.conllu", help="which file of it")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    return parser.parse_args()


if __name__ == "__main__":
    main()
