"""Share of lifted arcs of gold trees that are restored, by encoding and treebank.

Every lifted tree is checked to be projective, and every restored one to be a tree with the gold
relations.
"""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.report import add_json, machine, print_table, treebank_files, write_json
from treecrf.treebank import Sentence, read_conllu
from treecrf.treebank.pseudoprojective import ENCODINGS, Encoding, lift, restore
from treecrf.treebank.trees import is_projective, is_tree

WHAT = ("back %", "all %")


@dataclass
class Row:
    """Counts of arcs: all, those lifted, and how many of the lifted and of all come out right."""

    treebank: str
    encoding: Encoding
    arcs: int = 0
    lifted: int = 0
    restored: int = 0
    right: int = 0


def main() -> None:
    arguments = _arguments()
    rows = []
    for path in treebank_files(arguments.treebanks, f"*/{arguments.part}.conllu"):
        sentences = list(read_conllu(path))
        for encoding in ENCODINGS:
            rows.append(measure(path.parent.name, sentences, encoding))
    print_table(
        ["treebank", "lifted arcs", *(f"{name}: {what}" for name in ENCODINGS for what in WHAT)],
        [_cells([row for row in rows if row.treebank == name]) for name in _names(rows)],
    )
    print("\nback: lifted arcs that were restored; all: arcs that are right afterwards")
    if arguments.json:
        content = {"machine": machine(), "part": arguments.part, "rows": [asdict(r) for r in rows]}
        write_json(arguments.json, content)


def _names(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row.treebank for row in rows))


def _cells(rows: list[Row]) -> list[str]:
    cells = [rows[0].treebank, f"{rows[0].lifted:,}"]
    for row in rows:
        cells.append(f"{100 * row.restored / row.lifted:.2f}" if row.lifted else "-")
        cells.append(f"{100 * row.right / row.arcs:.3f}" if row.arcs else "-")
    return cells


def measure(treebank: str, sentences: Iterable[Sentence], encoding: Encoding) -> Row:
    row = Row(treebank, encoding)
    for sentence in sentences:
        gold, deprels = sentence.heads, sentence.deprels
        lifted, marked = lift(gold, deprels, encoding=encoding)
        restored, plain = restore(lifted, marked, encoding=encoding)
        if not is_projective([0, *lifted]):
            sys.exit(f"{sentence.where}: the lifted tree is not projective")
        if plain != deprels or not is_tree([0, *restored], multiroot=True):
            sys.exit(f"{sentence.where}: what came back is not a tree with the gold relations")
        for before, between, after in zip(gold, lifted, restored, strict=True):
            row.arcs += 1
            row.lifted += before != between
            row.restored += before != between and before == after
            row.right += before == after
    return row


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.pseudoprojective", description=__doc__)
    parser.add_argument("treebanks", type=Path, help="the folder of treebanks")
    parser.add_argument("--part", default="train", help="train or dev")
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
