"""Output of commands: one file, a folder with a file for each input, or files of a cluster."""

import errno
import glob
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from treecrf.cli.console import counted, say, track
from treecrf.cli.options import OutputFormat, default_format, refuse
from treecrf.parser.errors import ParserError
from treecrf.storage import naming
from treecrf.treebank.errors import TreebankError

if TYPE_CHECKING:
    from treecrf.integrations.ray import Corpus, Pool
    from treecrf.integrations.shards import Shard

__all__ = [
    "Files",
    "Target",
    "TextColumn",
    "WordFormat",
    "check_not_input",
    "check_target",
    "find_targets",
    "is_folder",
    "note_nothing",
    "parse_corpus",
    "report_problems",
    "word_format",
    "write_files",
]

_MOST_PROBLEMS = 20  # lines about files; of a corpus that is wrong as a whole, nobody reads more

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Files, or patterns such as 'corpus/*.txt'; - is "
        "standard input, which is answered as it comes.",
    ),
]
Target = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE|DIR",
        help="The file to write, - is standard output, .gz compresses; or a folder, with a file "
        "for each FILE.",
    ),
]
WordFormat = Annotated[
    Literal["conllu", "json"] | None,
    typer.Option(
        "--format",
        "-f",
        help="json: an object a line.",
        show_default="by the name of --output, else conllu",
    ),
]
TextColumn = Annotated[
    str, typer.Option(metavar="NAME", help="The column of JSON lines or Parquet with the text.")
]


def word_format(output: str) -> Literal["conllu", "json"]:
    """The format that the name of a file says, for commands that draw no trees."""
    names = ".conllu or .json"
    found = default_format(output, names)
    if output != "-" and found in ("tree", "svg"):
        ending = ".txt" if found == "tree" else ".svg"
        advice = f"name it {names}, with or without .gz, or give --format"
        raise typer.BadParameter(f"no {ending} is written here, as in {output}: {advice}")
    return "json" if found == "json" else "conllu"


def find_targets(
    files: list[str], output: str, *, format: OutputFormat, input: str = "auto"
) -> "Shard | list[Shard]":
    """The file to read and the one to write; for a folder, those of each file.

    Errors about files come from here, before a model is loaded.
    """
    from treecrf.integrations.shards import Shard, find_shards

    if not is_folder(output, files):
        _check_source(files[0], input)
        check_target(output)
        check_not_input(files[0], output, replaceable=format == "conllu")
        return Shard(files[0], output)
    refuse(
        ("-" in files, "standard input goes to one file, and no folder"),
        (
            output == "-",
            "several FILEs go into a folder, --output DIR; one may go to --output FILE",
        ),
    )
    if os.path.exists(output) and not os.path.isdir(output):
        raise ParserError(f"{output}: not a folder; several files go into one")
    return find_shards(files, Path(output), format=format)


def check_target(output: str) -> None:
    """Raise an error if the folder of a file to write is not there."""
    if output != "-":
        with naming(output):
            os.stat(os.path.join(os.path.dirname(output) or os.curdir, ""))


def check_not_input(file: str, output: str, *, replaceable: bool = False) -> None:
    """Raise an error if the output is the input; with `replaceable`, CoNLL-U may be replaced."""
    if output == "-" or not os.path.isfile(file) or not os.path.exists(output):
        return
    if os.path.samefile(file, output) and not (replaceable and _is_conllu(file)):
        raise ParserError(f"{output}: is also the input; choose another --output")


def _is_conllu(file: str) -> bool:
    from treecrf.treebank.files.streams import open_source
    from treecrf.treebank.files.text import look_at

    with open_source(file) as (stream, name):
        return look_at(stream, name)[0] == "conllu"


def _check_source(file: str, input: str) -> None:
    """Raise an error if a file is missing, a folder or no text; pipes are not read twice."""
    from treecrf.treebank.files.documents import document_file
    from treecrf.treebank.files.streams import binary_problem

    if file == "-":
        return
    if os.path.isdir(file):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), file)
    os.stat(file)
    if os.path.isfile(file) and "parquet" not in (document_file(file), input):
        with open(file, "rb") as stream:
            start = stream.read(1 << 16)
        if problem := binary_problem(start):
            raise TreebankError(problem, source=file)


def write_files(
    targets: "Shard | list[Shard]", *, write: Callable[[str, str], int], done: str
) -> None:
    """Process each file; write the result of one to a file, of several into a folder.

    `write` goes from file to file, and counts sentences. In a folder, files that are there are
    replaced; a file that is wrong does not stop the others.
    """
    from treecrf.integrations.shards import Shard
    from treecrf.segment.errors import SegmentError

    if isinstance(targets, Shard):
        note_nothing(write(targets.source, targets.target), targets.source)
        return
    sentences, problems = 0, []
    for shard in targets:
        os.makedirs(os.path.dirname(shard.target), exist_ok=True)
        try:
            count = write(shard.source, shard.target)
            note_nothing(count, shard.source)
            sentences += count
        except (TreebankError, ParserError, SegmentError) as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{error.filename or shard.source}: {error.strerror or error}")
    if problems:
        report_problems(problems, len(targets))
    say(f"{done} {counted(len(targets), 'file')}, {counted(sentences, 'sentence')}")


def note_nothing(sentences: int, source: str) -> None:
    """Say that a file has no sentences, which may be a mistake."""
    if not sentences:
        name = "standard input" if source == "-" else source
        say(f"note: {name}: there are no sentences in it", err=True)


def is_folder(output: str, files: list[str]) -> bool:
    """Whether several files are written: there are several, or the output is a folder."""
    several = len(files) > 1 or any(
        glob.has_magic(file) and not os.path.exists(file) for file in files
    )
    return several or output.endswith(os.sep) or os.path.isdir(output)


def parse_corpus(corpus: "Corpus", pool: "Pool") -> None:
    """Parse the files that are not parsed yet, show progress, and report what went wrong."""
    total = len(corpus.left)
    from treecrf.parser.files.language import warn_of_language

    sentences, problems, told = 0, [], False
    for shard in track(corpus.parse(pool), counted(total, "file"), total=total):
        if shard.foreign and not told:
            told = True
            warn_of_language(corpus.language)
        sentences += shard.sentences
        problems += [shard.problem] if shard.problem else []
    if problems:
        report_problems(problems, total)
    done = len(corpus.shards) - total
    before = f"; {counted(done, 'file')} had been parsed before" if done else ""
    say(f"parsed {counted(total, 'file')}, {counted(sentences, 'sentence')}{before}")


def report_problems(problems: list[str], total: int) -> NoReturn:
    """Print a line for each file that could not be parsed, and end with how many there are."""
    if total == 1:
        raise ParserError(problems[0])
    for problem in problems[:_MOST_PROBLEMS]:
        say(problem, err=True)
    if len(problems) > _MOST_PROBLEMS:
        say(f"... and {len(problems) - _MOST_PROBLEMS:,} more", err=True)
    others = "" if len(problems) == total else ", the others are done"
    raise ParserError(f"{len(problems):,} of {total:,} files could not be parsed{others}")
