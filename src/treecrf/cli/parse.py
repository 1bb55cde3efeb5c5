"""`treecrf parse`: trees for the sentences of a file."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

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
    probs: Annotated[
        bool,
        typer.Option(
            "--probs",
            help="Write how probable each head is into MISC, and the log-probability of the tree "
            "into a comment.",
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
    workers: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Processes that read and write beside a GPU; 0 is none."
        ),
    ] = None,
) -> None:
    """Parse sentences that are split into words.

    Comments, multiword tokens and the other columns stay as they are in FILE.
    """
    from treecrf.cli.console import track
    from treecrf.parser import load
    from treecrf.parser.trees import with_written_probs
    from treecrf.treebank import write_conllu
    from treecrf.treebank.conllu import read_conllu
    from treecrf.treebank.files import open_target
    from treecrf.treebank.plain import read_sentences, read_tokens

    if topk is not None and decoder is not None:
        raise typer.BadParameter("--topk lists the best trees; it takes no --decoder")
    read = {"auto": read_sentences, "conllu": read_conllu, "tokens": read_tokens}[input]
    parser = load(model, device=device)
    if workers is None:
        workers = _useful_workers(file, parser)
    if workers and topk is None:
        from treecrf.parser.workers import parse_with_workers

        pieces = parse_with_workers(
            parser,
            file,
            workers=workers,
            decoder=decoder,
            input=input,
            keep_heads=keep_heads,
            probs=probs,
        )
        with open_target(output) as write:
            for text in track(pieces, "megabytes"):
                write(text)
        return
    parsed: Iterable[Sentence]
    if topk is not None:
        parsed = _ranked(parser, read(file), topk, keep_heads=keep_heads)
    else:
        parsed = parser.parse_stream(
            read(file), keep_heads=keep_heads, decoder=decoder, probs=probs
        )
    if probs:
        parsed = map(with_written_probs, parsed)
    write_conllu(track(parsed, "sentences"), output)


def _useful_workers(file: str, parser: "Parser") -> int:
    """As many as keep a GPU busy, where there is one and the file is worth starting them."""
    if parser.device.type != "cuda" or not os.path.isfile(file):
        return 0
    return min(6, (os.cpu_count() or 1) - 1) if os.path.getsize(file) > 4_000_000 else 0


def _ranked(
    parser: "Parser", sentences: "Iterable[Sentence]", k: int, *, keep_heads: bool
) -> "Iterator[Sentence]":
    for trees in parser.parse_best(sentences, k, keep_heads=keep_heads):
        for rank, tree in enumerate(trees, 1):
            tree.comments.append(f"# rank = {rank}")
            yield tree
