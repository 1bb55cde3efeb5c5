"""`treecrf parse`: trees for the sentences of a file, or of the files of a corpus."""

import os
import re
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast, get_args

import typer

from treecrf.cli.formats import OutputFormat, default_format, write_trees
from treecrf.cli.options import Decoder, Device, Model, Products
from treecrf.cli.runtimes import OnnxGraph, Runtime, load_parser
from treecrf.cli.terminal import say
from treecrf.cores import usable_cores
from treecrf.parser.options import InputKind

if TYPE_CHECKING:
    from treecrf.parser import Parser
    from treecrf.parser.files.sources import FileOptions

__all__ = ["parse"]

Engine: TypeAlias = Literal["local", "ray"]
_KINDS = get_args(InputKind)


def parse(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="CoNLL-U, raw text, or words with spaces between, a sentence a line; - is "
            "standard input. Several, or patterns such as 'corpus/*.txt', with --engine ray.",
            show_default=False,
        ),
    ] = None,
    model: Model = None,
    text: Annotated[str | None, typer.Option(help="Text to parse, instead of FILE.")] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|DIR",
            help="Where to write; - is standard output, .gz packs. A folder with --engine ray.",
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
        str,
        typer.Option(
            metavar="[" + "|".join(_KINDS) + "]",
            help="What FILE is; auto knows .jsonl and .parquet by their names, looks at how others "
            "start, and takes what is no CoNLL-U for text if the model can cut it, else for words. "
            "With --engine ray this may be a pattern of files instead.",
        ),
    ] = "auto",
    text_column: Annotated[
        str, typer.Option(metavar="NAME", help="Where JSON lines and Parquet have their text.")
    ] = "text",
    device: Device = "auto",
    products: Products = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Processes that read and write beside a GPU; 0 is none."
        ),
    ] = None,
    runtime: Runtime = "torch",
    onnx: OnnxGraph = None,
    engine: Annotated[
        Engine, typer.Option(help="This process, or the workers of a Ray cluster, file by file.")
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Of the Ray cluster; auto is the one that this machine is of. Without it, one is "
            "started here.",
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Workers of Ray.", show_default="a core or a GPU each"
        ),
    ] = None,
    gpus_per_worker: Annotated[
        float | None,
        typer.Option(min=0, metavar="G", help="GPUs of each; 0.5 has two workers share one."),
    ] = None,
) -> None:
    """Parse text, or sentences that are split into words.

    Of CoNLL-U, comments, multiword tokens and the other columns stay as they are. With --engine ray
    each file of a corpus goes to one in --output; what is there already is not parsed again.
    """
    if topk is not None and decoder is not None:
        raise typer.BadParameter("--topk lists the best trees; it takes no --decoder")
    if keep_heads and text is not None:
        raise typer.BadParameter("--keep-heads is for CoNLL-U; --text has no heads to keep")
    from treecrf.parser.files.sources import FileOptions

    written = format or ("conllu" if engine == "ray" else default_format(output))
    options = FileOptions(
        text_column=text_column,
        decoder=decoder,
        keep_heads=keep_heads,
        topk=topk,
        probs=written != "conllu",
        write_probs=probs,
    )
    if engine == "ray":
        here = (text, workers, products, onnx, None if device == "auto" else device)
        if runtime != "torch" or any(option is not None for option in here):
            raise typer.BadParameter(
                "--engine ray takes no --text, --workers, --device, --products, --runtime or "
                "--onnx: --concurrency and --gpus-per-worker say what it uses"
            )
        patterns = list(files or ())
        if input not in _KINDS:
            patterns, input = [*patterns, input], "auto"
        from treecrf.cli.corpus import parse_corpus
        from treecrf.parser.bundled import model_folder

        parse_corpus(
            model_folder(model),
            patterns,
            output,
            options=replace(options, input=cast(InputKind, input)),
            format=written,
            address=address,
            concurrency=concurrency,
            gpus_per_worker=gpus_per_worker,
        )
        return
    if address is not None or concurrency is not None or gpus_per_worker is not None:
        raise typer.BadParameter(
            "--address, --concurrency and --gpus-per-worker go with --engine ray"
        )
    _check_local(files or [], text, input=input, output=output)
    options = replace(options, input=cast(InputKind, input))
    if workers and not (files and _workers_take(files[0], options, written)):
        raise typer.BadParameter(
            "--workers go from a FILE of CoNLL-U, words or text to --format conllu, and take no "
            "--topk"
        )
    parser = load_parser(model, device=device, products=products, runtime=runtime, onnx=onnx)
    if text is not None and options.input == "auto":  # nobody types CoNLL-U
        options = replace(options, input="text" if parser.has_segmenter else "tokens")
        if not parser.has_segmenter and re.search(r"\w[.,;:!?]", text):
            say(
                "note: this model has no segmenter, so words are what stands between spaces; "
                "`treecrf train --segmenter` trains one",
                err=True,
            )
    _parse_here(
        parser,
        files[0] if files else _text_file(text or ""),
        output,
        options=options,
        format=written,
        workers=workers,
    )


def _check_local(files: list[str], text: str | None, *, input: str, output: str) -> None:
    """An error unless this is one text that goes to one file: what this process can do."""
    if input not in _KINDS:
        raise typer.BadParameter(
            f"--input is {', '.join(_KINDS[:-1])} or {_KINDS[-1]}; files are given without it, and "
            "a pattern of files goes with --engine ray"
        )
    if (not files) == (text is None):
        raise typer.BadParameter("give a FILE (- is standard input) or --text, one of them")
    if text is not None and input == "parquet":
        raise typer.BadParameter("--text is no Parquet; give that as a FILE")
    if len(files) > 1:
        raise typer.BadParameter("give one FILE; several go with --engine ray, into a folder")
    if os.path.isdir(output) or output.endswith("/"):
        raise typer.BadParameter(f"--output {output} is a folder: files go there with --engine ray")


def _text_file(text: str) -> StringIO:
    """The text of a command line as a file, and an error where that is not UTF-8."""
    from treecrf.treebank.files.streams import decode

    # What is not UTF-8 comes as half characters, which stand for bytes.
    file = StringIO(decode(text.encode(errors="surrogateescape"), "--text", 1))
    file.name = "--text"
    return file


def _parse_here(
    parser: "Parser",
    source: str | StringIO,
    output: str,
    *,
    options: "FileOptions",
    format: OutputFormat,
    workers: int | None,
) -> None:
    from treecrf.parser.files.sources import parse_file

    if isinstance(source, str) and _workers_take(source, options, format):
        workers = _useful_workers(source, parser) if workers is None else workers
        if workers:
            _parse_with_workers(parser, source, output, workers=workers, options=options)
            return
    write_trees(parse_file(parser, source, options), output, format=format)


def _workers_take(file: str, options: "FileOptions", format: OutputFormat) -> bool:
    """Whether other processes can read and write this."""
    from treecrf.treebank.files.documents import document_file

    kind = document_file(file) if options.input == "auto" else options.input
    return kind not in ("jsonl", "parquet") and options.topk is None and format == "conllu"


def _parse_with_workers(
    parser: "Parser", file: str, output: str, *, workers: int, options: "FileOptions"
) -> None:
    from treecrf.cli.console import track
    from treecrf.parser.files.workers import parse_with_workers
    from treecrf.treebank.files.streams import open_target

    pieces = parse_with_workers(parser, file, options, workers=workers)
    with open_target(output) as write:
        for piece in track(pieces, "pieces"):
            write(piece)


def _useful_workers(file: str, parser: "Parser") -> int:
    """As many as keep a GPU busy, where there is one and the file is worth starting them."""
    if parser.device.type != "cuda" or not os.path.isfile(file):
        return 0
    return min(6, usable_cores() - 1) if os.path.getsize(file) > 4_000_000 else 0
