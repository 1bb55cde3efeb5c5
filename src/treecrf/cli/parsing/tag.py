"""`treecrf tag`: tags, features and lemmas; the trees stay as they are."""

from typing import Annotated

import typer

from treecrf.cli.console import language_line
from treecrf.cli.options import (
    Device,
    Model,
    Precision,
    Quiet,
    load_parser,
    write_trees,
)
from treecrf.cli.parsing.files import (
    Files,
    Target,
    TextColumn,
    WordFormat,
    find_targets,
    word_format,
    write_files,
)
from treecrf.parser.choices import InputKind

__all__ = ["tag"]


def tag(
    files: Files,
    model: Model = None,
    output: Target = "-",
    format: WordFormat = None,
    input: Annotated[
        InputKind, typer.Option(help="The kind of FILE, as for `treecrf parse`.")
    ] = "auto",
    text_column: TextColumn = "text",
    device: Device = "auto",
    precision: Precision = None,
    quiet: Quiet = False,
) -> None:
    """Fill in tags, features and lemmas; trees stay as they are.

    The columns are those that the model has learnt, of UPOS, XPOS, FEATS and LEMMA. Everything else
    in a CoNLL-U file is kept; words of a text have no heads.

    \b
    Example:
      treecrf tag examples/gold.conllu -o tagged.conllu
    """
    from treecrf.parser.errors import ParserError
    from treecrf.parser.files.sources import FileOptions, tag_file

    written = format or word_format(output)
    targets = find_targets(files, output, format=written, input=input)
    parser = load_parser(model, device=device, precision=precision)
    if not parser.config.predict:
        raise ParserError("this model predicts trees alone: `treecrf train` makes one with columns")
    options = FileOptions(input=input, text_column=text_column)

    def write(source: str, target: str) -> int:
        sentences = tag_file(parser, source, options)
        return write_trees(sentences, target, format=written, live=source == "-")

    with language_line(quiet=quiet):
        write_files(targets, write=write, done="tagged")
