"""Shared by commands: their class, options, and what follows from these (a parser, a format)."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

import typer
from typer.core import TyperCommand

from treecrf import treebank
from treecrf.cli.console import print_tree, say, track
from treecrf.parser.choices import Column
from treecrf.parser.choices import Decoder as DecoderName
from treecrf.parser.choices import Precision as PrecisionName
from treecrf.treebank.metrics.scores import By as ByName
from treecrf.treebank.metrics.scores import Punctuation
from treecrf.treebank.metrics.scores import Subtypes as SubtypesName

if TYPE_CHECKING:
    from treecrf.parser import Parser
    from treecrf.treebank import Sentence
    from treecrf.treebank.files.conllu import Format

__all__ = [
    "By",
    "Columns",
    "Command",
    "Decoder",
    "Device",
    "Gold",
    "Host",
    "Json",
    "Model",
    "OnnxGraph",
    "Output",
    "OutputFormat",
    "PlainJson",
    "Port",
    "Precision",
    "Punct",
    "Quiet",
    "Runtime",
    "Subtypes",
    "TreebankFile",
    "check_ending",
    "default_format",
    "load_parser",
    "number",
    "refuse",
    "unpredicted",
    "write_trees",
]

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="DIR|NAME",
        help="A folder that training wrote, or a name that `treecrf models` lists.",
        show_default="en, the English model",
    ),
]
Device = Annotated[
    str, typer.Option(metavar="NAME", help="cpu, cuda or cuda:1; auto uses a GPU if there is one.")
]
Decoder = Annotated[
    DecoderName | None,
    typer.Option(help="How to choose the tree.", show_default="as the model was trained to"),
]
Precision = Annotated[
    PrecisionName | None,
    typer.Option(
        help="Arithmetic on a CPU: float32, or int8 (faster with VNNI, slightly less exact).",
        show_default="as the model says",
    ),
]
Runtime = Annotated[
    Literal["torch", "onnx"],
    typer.Option(help="What computes scores; onnx: the graph of `treecrf export`, on the CPU."),
]
OnnxGraph = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The graph of --runtime onnx.",
        show_default="model.onnx in the model's folder",
    ),
]
TreebankFile = Annotated[
    str, typer.Argument(metavar="FILE", help="A treebank; - is standard input.")
]
Gold = Annotated[str, typer.Argument(metavar="GOLD", help="The reference; - is standard input.")]
Punct = Annotated[
    Punctuation,
    typer.Option(
        help="Score punctuation too, or leave it out: words that are all punctuation in Unicode, "
        "or those with a punctuation tag of the Penn Treebank."
    ),
]
Columns = Annotated[
    Literal["gold", "predicted"],
    typer.Option(help="Which columns of a parser's CoNLL-X or CoNLL-09 to read."),
]
Subtypes = Annotated[
    SubtypesName, typer.Option(help="Keep or cut what follows the colon in a relation.")
]
By = Annotated[
    ByName | None,
    typer.Option(help="Break the scores down by relation, sentence length or arc length."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON; scores are fractions.")]
PlainJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The file to write; - is standard output, .gz compresses.",
    ),
]
Host = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="The address to listen on; 0.0.0.0 is every address of this machine.",
    ),
]
Port = Annotated[
    int,
    typer.Option(min=0, max=65535, metavar="N", help="The port to listen on; 0: any free one."),
]

Quiet = Annotated[
    bool,
    typer.Option("--quiet", help="Do not warn of text that is not in the language of the model."),
]

OutputFormat: TypeAlias = Literal["conllu", "json", "tree", "svg"]


class Command(TyperCommand):
    """A command whose usage has its arguments as in a manual: `FILE`, not `{FILE}`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The pieces of the usage line."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments that are left; an error about one too many says where an output goes."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            message = getattr(error, "message", None)  # of click, which typer may contain
            has_output = any("--output" in parameter.opts for parameter in self.params)
            if has_output and isinstance(message, str) and "unexpected extra argument" in message:
                advice = "; the file to write goes after --output"
                error.message = message + advice  # type: ignore[attr-defined]
            raise


def number(
    help: str,
    *,
    metavar: str = "N",
    least: int = 1,
    most: int | None = None,
    unset: str | None = None,
) -> Any:
    """An option that takes a number; `unset` says in the help what it is where it is not given."""
    return typer.Option(min=least, max=most, metavar=metavar, help=help, show_default=unset or True)


def refuse(*problems: tuple[object, str]) -> None:
    """Stop with the first of these problems that is there."""
    for found, problem in problems:
        if found:
            raise typer.BadParameter(problem)


def load_parser(
    model: str | None,
    *,
    device: str,
    precision: PrecisionName | None = None,
    runtime: Runtime = "torch",
    onnx: OnnxGraph = None,
) -> "Parser":
    """Load the parser of a model folder; torch computes from its weights, onnx from its graph."""
    if runtime == "torch":
        refuse((onnx is not None, "--onnx names a graph for --runtime onnx"))
        from treecrf.parser import load
        from treecrf.parser.bundled import model_folder

        parser = load(model, device=device, precision=precision)
        # A model of before there were settings for the columns that it predicts.
        settings = "" if model is None else (model_folder(model) / "config.toml").read_text()
        if model is not None and not re.search("^predict = ", settings, re.MULTILINE):
            note = f"it predicts no {unpredicted(parser)}; training it again adds them"
            say(f"note: this model was trained by an older treecrf: {note}", err=True)
        return parser
    refuse((precision is not None, "--runtime onnx takes no --precision: a graph has its own"))
    from treecrf.integrations.onnx.runtime import load_onnx

    return load_onnx(model, graph=onnx, device=device)


def unpredicted(parser: "Parser") -> str:
    """The columns that a model does not predict, for messages; empty where there are none."""
    names = [name.upper() for name in get_args(Column) if name not in parser.config.predict]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


_NAMED: dict[str, OutputFormat] = {
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    ".txt": "tree",
    ".svg": "svg",
}


# Files that readers of these formats, and people, would take for something else.
_OTHER_FORMATS = (
    "7z bz2 csv doc docx gif htm html jpeg jpg odt parquet pdf png rar tar xls xlsx xml xz zip zst"
)


def check_ending(output: str, formats: str) -> None:
    """Refuse to write a file by the name of another format; `formats` says how to name it."""
    extension = os.path.splitext(output)[1].lower()
    if extension[1:] in _OTHER_FORMATS.split() and not os.path.isdir(output):
        raise typer.BadParameter(f"no {extension} is written here, as in {output}: {formats}")


def default_format(output: str, names: str = ".conllu, .json, .txt or .svg") -> OutputFormat:
    """The format that the name of a file says, else CoNLL-U, or drawings on a terminal."""
    check_ending(output, f"name it {names}, with or without .gz, or give --format")
    extension = os.path.splitext(output.removesuffix(".gz"))[1].lower()
    if extension in (".conllx", ".conll09"):
        advice = "`treecrf data convert` makes it of CoNLL-U"
        raise typer.BadParameter(f"no {extension} is written here, as in {output}: {advice}")
    return _NAMED.get(extension, "tree" if _is_terminal(output) else "conllu")


def write_trees(
    sentences: "Iterable[Sentence]",
    output: str,
    *,
    format: "OutputFormat | Format",
    live: bool = False,
) -> int:
    """Write sentences one by one, and count them; a picture is made as a whole.

    With `live`, each is there for whoever reads the output before the next one is made.
    """
    count = 0

    def counted() -> "Iterator[Sentence]":
        nonlocal count
        for sentence in sentences:
            count += 1
            yield sentence
            if live and output == "-":
                sys.stdout.flush()

    _write(counted(), output, format=format)
    return count


def _write(
    sentences: "Iterable[Sentence]", output: str, *, format: "OutputFormat | Format"
) -> None:
    from treecrf.treebank.files.documents import write_json
    from treecrf.treebank.files.streams import open_target

    if not _is_terminal(output):
        sentences = track(sentences, "sentences")
    if format == "conllu" or format == "conllx" or format == "conll09":
        treebank.write_conllu(sentences, output, format=format)
    elif format == "json":
        write_json(sentences, output)
    elif format == "svg":
        from treecrf.treebank.drawing.svg import sentences_to_svg

        with open_target(output) as write:
            write(sentences_to_svg(sentences))
    elif output == "-":  # with colours where there are any, and in the encoding that it has
        for number, sentence in enumerate(sentences):
            if number:
                print()
            print_tree(sentence)
            sys.stdout.flush()
    else:
        with open_target(output) as write:
            for number, sentence in enumerate(sentences):
                text = StringIO()
                print_tree(sentence, text)
                write(("\n" if number else "") + text.getvalue())


def _is_terminal(output: str) -> bool:
    return output == "-" and sys.stdout is not None and sys.stdout.isatty()
