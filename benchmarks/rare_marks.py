"""Bound that `min_marked` puts on restored arcs, by treebank: no training is needed.

A parser can only predict marks that training kept. The lifted gold trees of a part lose all other
marks and are restored: a parser that predicts every lifted tree gets these heads, and no others.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.report import add_json, machine, print_table, treebank_files, write_json
from treecrf.treebank import Sentence, read_conllu
from treecrf.treebank.pseudoprojective import is_lifted, lift, restore, without_marks

LEAST = (1, 2, 3)
PARTS = ("train", "dev")


@dataclass
class Bound:
    """Marked relations that training keeps, and arcs of a part: all, lifted, restored, right."""

    treebank: str
    part: str
    min_marked: int
    relations: int
    arcs: int = 0
    lifted: int = 0
    restored: int = 0
    right: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.rare_marks", description=__doc__)
    parser.add_argument("treebanks", type=Path, help="the folder of treebanks")
    add_json(parser)
    arguments = parser.parse_args()
    bounds: list[Bound] = []
    for path in treebank_files(arguments.treebanks, "*/train.conllu"):
        train = list(read_conllu(path))
        parts = {"train": train, "dev": list(read_conllu(path.with_name("dev.conllu")))}
        bounds += measure(path.parent.name, train, parts)
    rows = []
    for name in dict.fromkeys(bound.treebank for bound in bounds):
        by_least = {
            least: {b.part: b for b in bounds if (b.treebank, b.min_marked) == (name, least)}
            for least in LEAST
        }
        rows += [_cells(name, least, found) for least, found in by_least.items()]
    columns = [f"{part}: {what}" for part in PARTS for what in ("lifted", "back %", "UAS bound")]
    print_table(["treebank", "min_marked", "marked relations", *columns], rows)
    print("\nback: lifted arcs that are restored; UAS bound: arcs that are right afterwards, in %")
    if arguments.json:
        write_json(
            arguments.json, {"machine": machine(), "rows": [asdict(bound) for bound in bounds]}
        )


def measure(
    treebank: str, train: Sequence[Sentence], parts: dict[str, Sequence[Sentence]]
) -> list[Bound]:
    """Bounds of the parts for each value of `min_marked`; marks are counted as in training."""
    counts = Counter(
        name for sentence in train for name in lift(sentence.heads, sentence.deprels)[1]
    )
    bounds = []
    for least in LEAST:
        kept = {name for name, number in counts.items() if number >= least and is_lifted([name])}
        for part, sentences in parts.items():
            bound = Bound(treebank, part, least, len(kept))
            for sentence in sentences:
                _add(bound, sentence, kept)
            bounds.append(bound)
    return bounds


def _add(bound: Bound, sentence: Sentence, kept: set[str]) -> None:
    gold = sentence.heads
    lifted, marked = lift(gold, sentence.deprels)
    known = [
        name if name in kept or not is_lifted([name]) else without_marks(name) for name in marked
    ]
    restored, _ = restore(lifted, known)
    for before, between, after in zip(gold, lifted, restored, strict=True):
        bound.arcs += 1
        bound.lifted += before != between
        bound.restored += before != between and before == after
        bound.right += before == after


def _cells(name: str, least: int, by_part: dict[str, Bound]) -> list[str]:
    cells = [name, str(least), str(by_part["train"].relations)]
    for part in PARTS:
        bound = by_part[part]
        back = f"{100 * bound.restored / bound.lifted:.1f}" if bound.lifted else "-"
        cells += [f"{bound.lifted:,}", back, f"{100 * bound.right / bound.arcs:.2f}"]
    return cells


if __name__ == "__main__":
    main()
