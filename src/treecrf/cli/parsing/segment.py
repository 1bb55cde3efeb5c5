"""`treecrf segment`: raw text to sentences and words, without trees."""

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treecrf.cli.console import language_line
from treecrf.cli.options import Device, Model, Quiet, write_trees
from treecrf.cli.parsing.files import (
    Files,
    Target,
    TextColumn,
    WordFormat,
    find_targets,
    word_format,
    write_files,
)

if TYPE_CHECKING:
    from treecrf.segment import Segmenter

__all__ = ["segment"]


@dataclass(frozen=True, slots=True)
class _Cutter:
    segmenter: "Segmenter"
    language: str
    has_segmenter: bool = True


def segment(
    files: Files,
    model: Model = None,
    output: Target = "-",
    format: WordFormat = None,
    input: Annotated[
        Literal["auto", "text", "lines", "jsonl", "parquet"],
        typer.Option(
            help="The kind of FILE. auto knows .jsonl and .parquet by name; anything else is raw "
            "text. lines: raw text with a sentence a line."
        ),
    ] = "auto",
    text_column: TextColumn = "text",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Split raw text into sentences and words, without trees.

    Sentences and words are those of `treecrf parse`. The parser is loaded only if the segmenter
    asks its encoder about sentence ends, as that of the English model does.

    \b
    Example:
      treecrf segment examples/sentences.txt -o words.conllu
    """
    written = format or word_format(output)
    targets = find_targets(files, output, format=written, input=input)
    from treecrf.parser import load
    from treecrf.parser.bundled import model_folder
    from treecrf.parser.device import choose_device
    from treecrf.parser.files.sources import FileOptions, read_parts
    from treecrf.parser.folder import has_model, language_of
    from treecrf.segment import Segmenter

    folder = model_folder(model)
    segmenter = Segmenter.load(folder, device=choose_device(device))
    if segmenter.end_scorer is not None and has_model(folder):
        segmenter = load(folder, device=device).segmenter
    cutter = _Cutter(segmenter, language_of(folder))
    options = FileOptions(input=input, text_column=text_column, raw=True)

    def write(source: str, target: str) -> int:
        sentences = chain.from_iterable(read_parts(cutter, source, options))
        return write_trees(sentences, target, format=written, live=source == "-")

    with language_line(quiet=quiet):
        write_files(targets, write=write, done="segmented")
