"""`treecrf parse`: trees for the sentences of files, here or on a cluster."""

import glob
import os
import re
import shlex
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from treecrf.cli.console import language_line, say, track
from treecrf.cli.options import (
    Decoder,
    Device,
    Model,
    OnnxGraph,
    OutputFormat,
    Precision,
    Quiet,
    Runtime,
    default_format,
    load_parser,
    number,
    refuse,
    write_trees,
)
from treecrf.cli.parsing.files import (
    Target,
    TextColumn,
    check_target,
    find_targets,
    is_folder,
    note_nothing,
    parse_corpus,
    write_files,
)
from treecrf.cores import usable_cores
from treecrf.extras import needs_extra
from treecrf.parser.choices import InputKind

if TYPE_CHECKING:
    from treecrf.parser import Parser
    from treecrf.parser.files.sources import FileOptions

__all__ = ["parse"]

_KINDS = get_args(InputKind)
_LARGE = 1 << 20  # bytes


def parse(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="CoNLL-U, raw text, or words with spaces between, a sentence a line; - is "
            "standard input, which is answered as it comes. Several, or patterns such as "
            "'corpus/*.txt', go into a folder.",
            show_default=False,
        ),
    ] = None,
    model: Model = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Text to parse, instead of FILE.")
    ] = None,
    output: Target = "-",
    format: Annotated[
        OutputFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="json: an object a line; tree: drawings; svg: one picture of all the trees, which "
            "stays in memory until it is whole.",
            show_default="by the name of --output; else tree on a terminal, conllu elsewhere",
        ),
    ] = None,
    probs: Annotated[
        bool,
        typer.Option(
            "--probs",
            help="Write probabilities of heads, relations and tags into MISC, and that of the "
            "tree into a comment. The other formats always have both.",
        ),
    ] = False,
    topk: Annotated[
        int | None, number("Write the K best trees of each sentence.", metavar="K")
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
            help="The kind of FILE. auto knows .jsonl and .parquet by name and CoNLL-U by how it "
            "starts; anything else is raw text if the model has a segmenter, else words. lines: "
            "raw text with a sentence a line. With --engine ray this may be a pattern of files.",
        ),
    ] = "auto",
    text_column: TextColumn = "text",
    device: Device = "auto",
    precision: Precision = None,
    workers: Annotated[
        int | None,
        number(
            "Processes that read and write files beside a GPU; 0 is none.",
            least=0,
            unset="some for large files on a GPU",
        ),
    ] = None,
    runtime: Runtime = "torch",
    onnx: OnnxGraph = None,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(help="Parse in this process, or file by file in workers of a Ray cluster."),
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The address of the Ray cluster; auto is the cluster of this machine. Without it, "
            "one is started here.",
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        number("How many workers to ask Ray for.", unset="one for each GPU, or core"),
    ] = None,
    gpus_per_worker: Annotated[
        float | None,
        number("GPUs of each worker; 0.5 makes two share one.", metavar="G", least=0),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Parse text, or sentences that are split into words.

    Of CoNLL-U, comments, multiword tokens and columns that the model does not predict stay. Each of
    several files goes to one in --output, which is replaced; with --engine ray, what is there
    already is not parsed again.

    \b
    Examples:
      treecrf parse --text "I saw Sarah with a telescope." --format tree
      treecrf parse examples/sentences.txt --probs -o parsed.conllu
    """
    two_ways, no_heads = topk is not None and decoder is not None, keep_heads and text is not None
    refuse(
        (two_ways, "--topk lists the best trees; it takes no --decoder"),
        (no_heads, "--keep-heads is for CoNLL-U; --text has no heads to keep"),
    )
    from treecrf.parser.files.sources import FileOptions

    written = format or ("conllu" if engine == "ray" else default_format(output))
    patterns = list(files or ())
    if engine == "ray" and input not in _KINDS:
        patterns, input = [*patterns, input], "auto"
    options = FileOptions(
        input=cast(InputKind, input),
        text_column=text_column,
        decoder=decoder,
        keep_heads=keep_heads,
        topk=topk,
        probs=written != "conllu",
        write_probs=probs,
    )
    if engine == "ray":
        here = (text, workers, precision, onnx, device, runtime)
        what = "--text, --workers, --device, --precision, --runtime or --onnx"
        advice = "--concurrency and --gpus-per-worker say what it uses"
        no_folder = "-" in patterns or output == "-"
        refuse(
            (
                here != (None, None, None, None, "auto", "torch"),
                f"--engine ray takes no {what}: {advice}",
            ),
            (not patterns, "give FILEs or a pattern of them, such as 'corpus/*.conllu.gz'"),
            (no_folder, "--engine ray goes from files to a folder: --output DIR"),
        )
        if written not in ("conllu", "json"):
            raise typer.BadParameter(f"--engine ray writes conllu or json, and no {written}")
        with needs_extra("ray", "--engine ray"):
            from treecrf.integrations.ray import Corpus, Pool
            from treecrf.parser.bundled import model_folder

        pool = Pool(address, concurrency, gpus_per_worker)
        folder = model_folder(model)
        corpus = Corpus(folder, patterns, output=Path(output), options=options, format=written)
        with language_line(quiet=quiet):
            parse_corpus(corpus, pool)
        return
    cluster = (address, concurrency, gpus_per_worker) != (None,) * 3
    refuse((cluster, "--address, --concurrency and --gpus-per-worker go with --engine ray"))
    _check_local(patterns, text, input=input, output=output)
    taken = patterns and _workers_take(patterns[0], options, written)
    job = "go from a FILE of CoNLL-U, words or text to --format conllu, and take no --topk"
    refuse((workers and not taken, f"--workers {job}"))
    if text is None:
        targets = find_targets(patterns, output, format=written, input=input)
    else:
        check_target(output)
        if os.path.isfile(text):
            say(f"note: {text} is a file; `treecrf parse {shlex.quote(text)}` parses it", err=True)
    parser = load_parser(model, device=device, precision=precision, runtime=runtime, onnx=onnx)
    if text is None:

        def write(source: str, target: str) -> int:
            count = workers
            if count is None and _workers_take(source, options, written):
                count = _useful_workers(source, parser)
            return _parse_file(parser, source, target, options, format=written, workers=count or 0)

        with language_line(quiet=quiet):
            write_files(targets, write=write, done="parsed")
        return
    if options.input == "auto":  # nobody types CoNLL-U
        options = replace(options, input="text" if parser.has_segmenter else "tokens")
        if not parser.has_segmenter and re.search(r"\w[.,;:!?]", text):
            note = "this model has no segmenter, so words are what stands between spaces"
            say(f"note: {note}; `treecrf train --segmenter` trains one", err=True)
    with language_line(quiet=quiet):
        file = _text_file(text)
        note_nothing(
            _parse_file(parser, file, output, options, format=written, workers=0), file.name
        )


def _check_local(files: list[str], text: str | None, *, input: str, output: str) -> None:
    """Refuse what is not one text that goes to one file."""
    kinds = f"{', '.join(_KINDS[:-1])} or {_KINDS[-1]}"
    patterns = "files are given without it, and a pattern of files goes with --engine ray"
    names = " or ".join(files[:2])
    refuse(
        (input not in _KINDS, f"--input is {kinds}; {patterns}"),
        (bool(files) != (text is None), "give a FILE (- is standard input) or --text, one of them"),
        (_is_text(files), "there is no file of this name; a text to parse goes after --text"),
        (_are_words(files), f"no file is called {names}; a text goes after --text, in quotes"),
        (text is not None and input == "parquet", "--text is no Parquet; give that as a FILE"),
        (text is not None and is_folder(output, []), f"--output {output} is a folder: name a file"),
    )


def _is_text(files: list[str]) -> bool:
    """Whether a text was given for a file: it has words, and no file is called so."""
    if len(files) != 1 or len(files[0].split()) < 2:
        return False
    return not os.path.exists(files[0]) and not glob.glob(files[0])


def _are_words(files: list[str]) -> bool:
    """Whether words of a text were given for files: none of them is there."""
    return len(files) > 1 and not any(
        file == "-" or glob.has_magic(file) or os.path.exists(file) for file in files
    )


def _text_file(text: str) -> StringIO:
    """The text of a command line as a file, and an error where that is not UTF-8."""
    from treecrf.treebank.files.streams import decode

    # What is not UTF-8 comes as half characters, which stand for bytes.
    file = StringIO(decode(text.encode(errors="surrogateescape"), "--text", 1))
    file.name = "--text"
    return file


def _parse_file(
    parser: "Parser",
    source: str | StringIO,
    output: str,
    options: "FileOptions",
    *,
    format: OutputFormat,
    workers: int,
) -> int:
    """Parse one file, and count its sentences; `workers` processes read and write it, if any."""
    if workers:
        from treecrf.parser.files.workers import parse_with_workers

        pieces = parse_with_workers(parser, source, options, workers=workers)
    elif isinstance(source, str) and _is_large(source) and _workers_take(source, options, format):
        from treecrf.parser.files.conllu import parse_to_conllu

        pieces = parse_to_conllu(parser, source, options)
    else:
        from treecrf.parser.files.sources import parse_file

        sentences = parse_file(parser, source, options)
        return write_trees(sentences, output, format=format, live=source == "-")
    from treecrf.treebank.files.streams import open_target

    count = 0
    with open_target(output) as write:
        for piece in track(pieces, "pieces"):
            write(piece)
            count += piece.count(b"\n\n")
    return count


def _is_large(file: str) -> bool:
    """Whether compiled kernels read and write this file; a small one is done before they load."""
    return os.path.isfile(file) and os.path.getsize(file) >= _LARGE and _has_kernels()


def _has_kernels() -> bool:
    """Whether kernels can be compiled, which read and write columns."""
    import torch

    from treecrf.ops.backend import obstacle

    return obstacle("numba", torch.device("cpu")) is None


def _workers_take(file: str, options: "FileOptions", format: OutputFormat) -> bool:
    """Whether other processes can read and write this."""
    from treecrf.treebank.files.documents import document_file

    kind = document_file(file) if options.input == "auto" else options.input
    return kind not in ("jsonl", "parquet", "lines") and options.topk is None and format == "conllu"


def _useful_workers(file: str, parser: "Parser") -> int:
    """Number of workers that keep a GPU busy; 0 on a CPU, and for a small file."""
    if parser.device.type != "cuda" or not os.path.isfile(file):
        return 0
    if os.path.getsize(file) <= 4_000_000 or not _has_kernels():
        return 0
    return min(6, usable_cores() - 1)
