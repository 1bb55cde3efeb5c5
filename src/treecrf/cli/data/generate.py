"""The command that makes treebanks up: generate."""

import os
from typing import Annotated

import typer

from treecrf import treebank
from treecrf.cli.options import number, write_trees

__all__ = ["generate"]


def generate(
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="The file to write; - is standard output, .gz compresses."
        ),
    ],
    sentences: Annotated[int, number("How many sentences to make.", least=0)] = 1000,
    seed: Annotated[
        int,
        typer.Option(metavar="N", help="The same seed makes the same sentences, however many."),
    ] = 1,
    crossing: Annotated[
        float,
        number("The share of sentences with crossing arcs.", metavar="S", least=0, most=1),
    ] = 0.0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT whatever is in it.")
    ] = False,
) -> None:
    """Make up English-like trees, to try parsers on.

    An OUT that this command made before is replaced; any other needs --overwrite.

    \b
    Example:
      treecrf data generate made-up.conllu --sentences 200 --crossing 0.1
    """
    from treecrf.demo import generate_treebank, is_generated

    made = generate_treebank(sentences, seed=seed, crossing=crossing)
    if not overwrite and os.path.isfile(out) and not is_generated(out):
        problem = "has something that was not generated; name another file, or give --overwrite"
        raise treebank.TreebankError(problem, source=out)
    write_trees(made, out, format="conllu")
