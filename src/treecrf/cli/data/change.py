"""Commands that change treebanks: convert, project, deproject and mask."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treecrf import treebank
from treecrf.cli.console import say, track
from treecrf.cli.options import Columns, Output, TreebankFile, check_ending, number, write_trees
from treecrf.cli.parsing.files import check_not_input

if TYPE_CHECKING:
    from treecrf.treebank import Sentence

__all__ = ["convert", "deproject", "mask", "project"]

_NAMED: dict[str, Literal["conllu", "conllx", "conll09", "text"]] = {
    ".conllx": "conllx",
    ".conll09": "conll09",
    ".txt": "text",
}
Encoding = Annotated[
    Literal["head", "path", "head+path"],
    typer.Option(help="What relations say about lifted arcs (Nivre and Nilsson, 2005)."),
]


def convert(
    file: TreebankFile,
    to: Annotated[
        Literal["conllu", "conllx", "conll09", "text"] | None,
        typer.Option(
            help="The format to write.",
            show_default="by the name of --output: .conllx, .conll09, .txt; else conllu",
        ),
    ] = None,
    columns: Columns = "gold",
    output: Output = "-",
) -> None:
    """Convert between CoNLL-U, CoNLL-X and CoNLL-09, or to text.

    The format of FILE is found out; it may be gzip. The older two formats have words only:
    comments, multiword tokens and empty nodes stay behind. Text has a blank line between paragraphs
    and documents.

    \b
    Example:
      treecrf data convert examples/gold.conllu -o gold.conllx
    """
    sentences = treebank.read_conllu(file, columns=columns)
    if to is None:
        advice = "name it .conllu, .conllx, .conll09 or .txt, with or without .gz, or give --to"
        check_ending(output, advice)
    wanted = to or _NAMED.get(os.path.splitext(output.removesuffix(".gz"))[1], "conllu")
    check_not_input(file, output, replaceable=wanted == "conllu")
    if wanted != "text":
        write_trees(sentences, output, format=wanted)
        return
    from treecrf.segment.training.raw_text import treebank_text
    from treecrf.treebank.files.streams import open_target

    with open_target(output) as write:
        last = ""
        for piece in treebank_text(track(sentences, "sentences")):
            write(last)
            last = piece
        write(last.rstrip(" ") + "\n" * (not last.endswith("\n")))


def project(file: TreebankFile, encoding: Encoding = "head+path", output: Output = "-") -> None:
    """Lift arcs until no two cross, and mark them for deproject.

    A partial tree keeps its arcs. Where no projective tree has them, the sentence is named, written
    as it is, and the exit code is 1.

    \b
    Example:
      treecrf data project examples/gold.conllu -o lifted.conllu
    """
    check_not_input(file, output, replaceable=True)
    from treecrf.treebank.pseudoprojective import project

    left_alone: list[treebank.TreebankError] = []

    def projected() -> "Iterator[Sentence]":
        for sentence in _not_lifted(treebank.read_conllu(file), "deproject it first"):
            try:
                yield project(sentence, encoding=encoding)
            except treebank.TreebankError as error:
                left_alone.append(error)
                yield sentence

    write_trees(projected(), output, format="conllu")
    for error in left_alone:
        say(error, err=True)
    if left_alone:
        raise typer.Exit(1)


def deproject(file: TreebankFile, encoding: Encoding = "head+path", output: Output = "-") -> None:
    """Put lifted arcs back: after project, or after parsing.

    The marks of relations are removed.

    \b
    Example:
      treecrf data deproject lifted.conllu -o restored.conllu
    """
    check_not_input(file, output, replaceable=True)
    from treecrf.treebank.pseudoprojective import deproject

    sentences = (deproject(sentence, encoding=encoding) for sentence in treebank.read_conllu(file))
    write_trees(sentences, output, format="conllu")


def mask(
    file: TreebankFile,
    keep: Annotated[float, number("The share to keep.", metavar="S", least=0, most=1)],
    unit: Annotated[
        Literal["dependencies", "sentences"],
        typer.Option(help="Keep this share of the dependencies, or of the sentences."),
    ] = "dependencies",
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", help="What a seed keeps at one share, it keeps at every larger one."
        ),
    ] = 1,
    encoding: Annotated[
        Literal["head", "path", "head+path", "none"] | None,
        typer.Option(
            help="How trees are lifted before they are masked; none: they are not.",
            show_default="head+path",
        ),
    ] = None,
    output: Output = "-",
) -> None:
    """Make partial training data: remove heads, or sentences.

    Relations go with their heads. A line says how much was kept, on standard error where the data
    goes to standard output.

    \b
    Example:
      treecrf data mask examples/gold.conllu --keep 0.3 -o partial.conllu
    """
    check_not_input(file, output)
    from treecrf.treebank.mask import keep_sentences, mask_dependencies

    if unit == "sentences" and encoding not in (None, "none"):
        raise typer.BadParameter("--unit sentences keeps sentences as they are: no --encoding")
    sentences = list(treebank.read_conllu(file))
    if unit == "sentences":
        kept = keep_sentences(sentences, keep, seed=seed)
    elif encoding == "none":
        kept = mask_dependencies(sentences, keep, seed=seed, encoding=None)
    else:
        whole = _not_lifted(sentences, "use --encoding none")
        kept = mask_dependencies(whole, keep, seed=seed, encoding=encoding or "head+path")
    write_trees(kept, output, format="conllu")
    heads, of_heads = _count_heads(kept), _count_heads(sentences)
    say(
        f"kept {sum(heads):,} of {sum(of_heads):,} dependencies "
        f"({sum(heads) / max(1, sum(of_heads)):.2%}), in {sum(map(bool, heads)):,} of "
        f"{len(sentences):,} sentences",
        err=output == "-",
    )


def _count_heads(sentences: "Iterable[Sentence]") -> list[int]:
    """The annotated heads of each sentence."""
    return [sum(head >= 0 for head in sentence.heads) for sentence in sentences]


def _not_lifted(sentences: "Iterable[Sentence]", advice: str) -> "Iterator[Sentence]":
    """The sentences, none of which may have marks: a file is lifted once."""
    from treecrf.treebank.pseudoprojective import is_lifted

    for position, sentence in enumerate(sentences, 1):
        if is_lifted(sentence.deprels):
            raise sentence.error(f"sentence {position}: already lifted; {advice}")
        yield sentence
