"""Split of training data: sentences to learn from, and sentences to fit the temperature on.

    python -m experiments.english.hold_out TRAIN.conllu LEARNT.conllu HELD_OUT.conllu

Every twenty-fifth sentence is held out, or every so many runs of more than one.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.english.command import run_command
from treecrf.treebank import Sentence, read_conllu, write_conllu

__all__ = ["hold_out", "main"]


def hold_out(
    sentences: Sequence[Sentence], *, every: int = 25, run: int = 1
) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences to learn from, and those that are held out."""
    parts: tuple[list[Sentence], list[Sentence]] = ([], [])
    for number, sentence in enumerate(sentences):
        parts[number // run % every == every - 1].append(sentence)
    return parts


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", type=Path, metavar="TRAIN.conllu")
    parser.add_argument("learnt", type=Path, metavar="LEARNT.conllu")
    parser.add_argument("held_out", type=Path, metavar="HELD_OUT.conllu")
    parser.add_argument("--every", type=int, default=25, metavar="N", help="hold out 1 of N runs")
    parser.add_argument("--run", type=int, default=1, metavar="N", help="sentences in a run")


def _work(given: argparse.Namespace) -> None:
    parts = hold_out(list(read_conllu(given.train)), every=given.every, run=given.run)
    for part, path in zip(parts, (given.learnt, given.held_out), strict=True):
        write_conllu(part, path)
        print(f"{path}: {len(part):,} sentences, {sum(map(len, part)):,} words")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("hold_out", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
