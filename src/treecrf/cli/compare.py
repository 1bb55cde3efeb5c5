"""`treecrf compare`: two systems, and whether chance explains how they differ."""

from typing import Annotated

import typer

from treecrf import treebank
from treecrf.cli.console import counted, print_json, print_table, say
from treecrf.cli.options import Columns, Gold, Json, Punct, Subtypes, number
from treecrf.cli.score import check_one_stdin, percent

__all__ = ["compare"]


def compare(
    gold: Gold,
    a: Annotated[str, typer.Argument(metavar="A", help="The trees of one parser.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The trees of the other.")],
    rounds: Annotated[int, number("How many times to shuffle.")] = 10_000,
    seed: Annotated[int, number("Random seed.", least=0)] = 0,
    punct: Punct = "keep",
    subtypes: Subtypes = "keep",
    columns: Columns = "gold",
    json: Json = False,
) -> None:
    """Compare two systems by Dan Bikel's randomised comparator.

    p is how often chance alone would make two equally good systems differ at least as much: their
    parses are swapped at random, sentence by sentence.

    \b
    Example:
      treecrf compare examples/gold.conllu examples/system-a.conllu \\
          examples/system-b.conllu
    """
    check_one_stdin(gold, a, b)
    answers = [treebank.read_conllu(file, columns=columns) for file in (a, b)]
    comparison = treebank.compare(
        gold, *answers, rounds=rounds, seed=seed, punct=punct, subtypes=subtypes
    )
    if json:
        print_json(comparison.to_dict())
        return
    rows = [
        [name, percent(item.a), percent(item.b), f"{100 * item.difference:+.2f}", f"{item.p:.4f}"]
        for name, item in comparison.differences.items()
    ]
    rows += [[name, "-", "-", "-", "-"] for name in comparison.missing]
    print_table(["metric", "A", "B", "B - A", "p"], rows)
    sentences = counted(comparison.sentences, "sentence")
    say(f"{sentences}, {counted(rounds, 'round')}, seed {seed}; SIB is its F1")
    for name, reason in comparison.missing.items():
        say(f"{name} is empty: {reason}")
