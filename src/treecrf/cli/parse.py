"""`treecrf parse`: trees for the sentences of a file."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from treecrf.cli.formats import OutputFormat, default_format, write_trees
from treecrf.cli.inputs import InputKind, input_sentences
from treecrf.cli.options import Decoder, Device, Model
from treecrf.cli.runtimes import OnnxGraph, Runtime, load_parser

if TYPE_CHECKING:
    from treecrf.parser import Parser
    from treecrf.treebank import Sentence

__all__ = ["parse"]


def parse(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="CoNLL-U, raw text, or words with spaces between, a sentence a line; - is "
            "standard input.",
        ),
    ] = None,
    model: Model = None,
    text: Annotated[str | None, typer.Option(help="Text to parse, instead of FILE.")] = None,
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
        InputKind,
        typer.Option(
            help="What FILE is; auto looks at how it starts, and takes what is no CoNLL-U for text "
            "if the model can cut it, else for words."
        ),
    ] = "auto",
    device: Device = "auto",
    workers: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Processes that read and write beside a GPU; 0 is none."
        ),
    ] = None,
    runtime: Runtime = "torch",
    onnx: OnnxGraph = None,
) -> None:
    """Parse text, or sentences that are split into words.

    Of CoNLL-U, comments, multiword tokens and the other columns stay as they are.
    """
    if topk is not None and decoder is not None:
        raise typer.BadParameter("--topk lists the best trees; it takes no --decoder")
    if (file is None) == (text is None):
        raise typer.BadParameter("give a FILE (- is standard input) or --text, one of them")
    from treecrf.parser.trees import with_written_probs

    written = format or default_format(output)
    parser = load_parser(model, device=device, runtime=runtime, onnx=onnx)
    if file is not None and written == "conllu" and topk is None:
        workers = _useful_workers(file, parser) if workers is None else workers
        if workers:
            _parse_with_workers(
                parser,
                file,
                output,
                workers=workers,
                decoder=decoder,
                input=input,
                keep_heads=keep_heads,
                probs=probs,
            )
            return
    parsed: Iterable[Sentence]
    sentences = input_sentences(parser, file, text, input=input)
    if topk is not None:
        parsed = _ranked(parser, sentences, topk, keep_heads=keep_heads)
    else:
        shown = probs or written != "conllu"
        parsed = parser.parse_stream(sentences, keep_heads=keep_heads, decoder=decoder, probs=shown)
    if probs:
        parsed = map(with_written_probs, parsed)
    write_trees(parsed, output, format=written)


def _parse_with_workers(
    parser: "Parser",
    file: str,
    output: str,
    *,
    workers: int,
    decoder: Decoder,
    input: InputKind,
    keep_heads: bool,
    probs: bool,
) -> None:
    from treecrf.cli.console import track
    from treecrf.parser.workers import parse_with_workers
    from treecrf.treebank.files import open_target

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
        for piece in track(pieces, "megabytes"):
            write(piece)


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
