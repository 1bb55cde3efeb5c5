"""`treecrf parse`: trees for the sentences of a file."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treecrf.cli.formats import OutputFormat, default_format, write_trees
from treecrf.cli.options import Decoder, Device, Model

if TYPE_CHECKING:
    from treecrf.parser import Parser
    from treecrf.treebank import Sentence

__all__ = ["parse"]


def parse(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CoNLL-U, or words with spaces between, a sentence a line; - reads "
            "standard input.",
        ),
    ],
    model: Model,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write; - is standard output, .gz packs.",
        ),
    ] = "-",
    format: Annotated[
        OutputFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="json: an object a line; tree: drawings; svg: one picture of all the trees, which "
            "stays in memory until it is whole.",
            show_default="tree on a terminal, else conllu",
        ),
    ] = None,
    probs: Annotated[
        bool,
        typer.Option(
            "--probs",
            help="Write how probable each head is into MISC, and the log-probability of the tree "
            "into a comment. The other formats have both in any case.",
        ),
    ] = False,
    topk: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="Write the K best trees of each sentence."),
    ] = None,
    keep_heads: Annotated[
        bool,
        typer.Option(
            "--keep-heads",
            help="Keep the heads and relations that FILE has, and complete the tree.",
        ),
    ] = False,
    decoder: Decoder = None,
    input: Annotated[
        Literal["auto", "conllu", "tokens"],
        typer.Option(help="What FILE is; auto looks at how it starts."),
    ] = "auto",
    device: Device = "auto",
) -> None:
    """Parse sentences that are split into words.

    Comments, multiword tokens and the other columns stay as they are in FILE.
    """
    from treecrf.parser import load
    from treecrf.parser.trees import with_written_probs
    from treecrf.treebank.conllu import read_conllu
    from treecrf.treebank.plain import read_sentences, read_tokens

    if topk is not None and decoder is not None:
        raise typer.BadParameter("--topk lists the best trees; it takes no --decoder")
    read = {"auto": read_sentences, "conllu": read_conllu, "tokens": read_tokens}[input]
    written = format or default_format(output)
    parser = load(model, device=device)
    parsed: Iterable[Sentence]
    if topk is not None:
        parsed = _ranked(parser, read(file), topk, keep_heads=keep_heads)
    else:
        shown = probs or written != "conllu"
        parsed = parser.parse_stream(
            read(file), keep_heads=keep_heads, decoder=decoder, probs=shown
        )
    if probs:
        parsed = map(with_written_probs, parsed)
    write_trees(parsed, output, format=written)


def _ranked(
    parser: "Parser", sentences: "Iterable[Sentence]", k: int, *, keep_heads: bool
) -> "Iterator[Sentence]":
    for trees in parser.parse_best(sentences, k, keep_heads=keep_heads):
        for rank, tree in enumerate(trees, 1):
            tree.comments.append(f"# rank = {rank}")
            yield tree
