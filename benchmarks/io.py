"""Speed and memory of reading and writing a treebank, beside the package conllu.

Both must find the same words, heads and relations before anything is timed. The readers go through
the file sentence by sentence and take from each what the row says. The writers give each sentence
that was read a new tree and make its text; ours must be that of heads and relations assigned to a
copy, which is the slow way. Readers and writers take turns with the peer's, and what counts is the
processor time of the best round: the rest is what else the machine did.
"""

import argparse
import io
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import conllu

from benchmarks.report import (
    add_json,
    machine,
    print_facts,
    print_table,
    treebank_files,
    write_json,
)
from treecrf.treebank import Sentence, read_conllu

Tree = tuple[list[str], list[int], list[str]]
NewTree = tuple[list[int], list[str]]


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


def their_tokens(path: Path) -> Iterator[conllu.TokenList]:
    with path.open(encoding="utf-8") as file:
        yield from conllu.parse_incr(file)


def our_texts(sentences: Iterable[Sentence], trees: Iterable[NewTree]) -> Iterator[str]:
    for sentence, (heads, deprels) in zip(sentences, trees, strict=True):
        yield sentence.with_tree(heads, deprels).to_conllu()


def their_texts(sentences: Iterable[conllu.TokenList], trees: Iterable[NewTree]) -> Iterator[str]:
    for sentence, (heads, deprels) in zip(sentences, trees, strict=True):
        words = [token for token in sentence if isinstance(token["id"], int)]
        for word, head, deprel in zip(words, heads, deprels, strict=True):
            word["head"] = head
            word["deprel"] = deprel
        yield sentence.serialize()


def main() -> None:
    arguments = _arguments()
    (path,) = treebank_files(arguments.treebanks, arguments.file)
    facts = machine()
    print_facts(facts)
    print(f"{path}, {path.stat().st_size / 1e6:.1f} MB; best of {arguments.rounds} rounds\n")

    words = 0
    trees = []
    for number, (ours, theirs) in enumerate(zip_longest(our_trees(path), their_trees(path)), 1):
        if ours != theirs:
            sys.exit(f"sentence {number} differs, so nothing is timed:\n{ours}\n{theirs}")
        words += len(ours[0])
        trees.append((list(range(len(ours[1]))), ours[2][::-1]))  # a chain
    our_sentences, their_sentences = list(read_conllu(path)), list(their_tokens(path))
    check_texts(our_sentences, their_sentences, trees)

    tasks: dict[str, tuple[Callable[[], Iterable[object]], ...]] = {
        "forms, heads and relations": (lambda: our_trees(path), lambda: their_trees(path)),
        "tokens with every column": (lambda: our_tokens(path), lambda: their_tokens(path)),
        "new tree and written": (
            lambda: our_texts(our_sentences, trees),
            lambda: their_texts(their_sentences, trees),
        ),
    }
    rows = []
    for name, task in tasks.items():
        ours, theirs = in_turns(*task, rounds=arguments.rounds)
        rows.append(
            {
                "what": name,
                "treecrf": min(ours),
                "conllu": min(theirs),
                "ratio": min(theirs) / min(ours),
            }
        )
    print_table(
        ["what is done", "treecrf, CPU s", "conllu, CPU s", "treecrf, words/s", "times as fast"],
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


def check_texts(ours: list[Sentence], theirs: list[conllu.TokenList], trees: list[NewTree]) -> None:
    """Exit with an error unless all texts are equal, and the peer's text has the same trees."""
    texts = zip(ours, our_texts(ours, trees), their_texts(theirs, trees), trees, strict=True)
    for number, (sentence, our_text, their_text, (heads, deprels)) in enumerate(texts, 1):
        slow = sentence.copy()
        slow.heads, slow.deprels = heads, deprels
        (again,) = read_conllu(io.StringIO(their_text))
        if our_text != slow.to_conllu() or (again.heads, again.deprels) != (heads, deprels):
            sys.exit(f"sentence {number} is written differently, so nothing is timed:\n{our_text}")


def in_turns(*tasks: Callable[[], Iterable[object]], rounds: int) -> list[list[float]]:
    """CPU seconds of each task in each round; tasks take turns, so all see the same load."""
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(rounds):
        for task, seconds in zip(tasks, times, strict=True):
            start = time.process_time()
            for _ in task():
                pass
            seconds.append(time.process_time() - start)
    return times


def memory_by_size(path: Path) -> dict[str, float]:
    """Peak memory of reading the file, and of reading four times the file."""
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
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
