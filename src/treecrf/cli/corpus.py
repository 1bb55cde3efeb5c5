"""`treecrf parse --engine ray`: the files of a corpus, on a cluster."""

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from treecrf.cli.formats import OutputFormat
from treecrf.cli.terminal import say
from treecrf.extras import needs_extra
from treecrf.parser.errors import ParserError

if TYPE_CHECKING:
    from treecrf.parser.files.sources import FileOptions

__all__ = ["parse_corpus", "tell_problems"]

_TOLD = 20  # of a corpus that is wrong as a whole, nobody reads more


def parse_corpus(
    model: Path,
    patterns: list[str],
    output: str,
    *,
    options: "FileOptions",
    format: OutputFormat,
    address: str | None,
    concurrency: int | None,
    gpus_per_worker: float | None,
) -> None:
    """Parse what is not parsed yet, show how far it is, and tell what could not be parsed."""
    if not patterns:
        raise typer.BadParameter("give FILEs or a pattern of them, such as 'corpus/*.conllu.gz'")
    if "-" in patterns or output == "-":
        raise typer.BadParameter("--engine ray goes from files to a folder: --output DIR")
    if format not in ("conllu", "json"):
        raise typer.BadParameter(f"--engine ray writes conllu or json, and no {format}")
    with needs_extra("ray", "--engine ray"):
        from treecrf.integrations.ray import Corpus, Pool
    from treecrf.cli.console import counted, track

    pool = Pool(address, concurrency, gpus_per_worker)
    corpus = Corpus(model, patterns, output=Path(output), options=options, format=format)
    total = len(corpus.left)
    sentences, problems = 0, []
    for shard in track(corpus.parse(pool), counted(total, "file"), total=total):
        sentences += shard.sentences
        problems += [shard.problem] if shard.problem else []
    if problems:
        tell_problems(problems, total)
    done = len(corpus.shards) - total
    before = f"; {counted(done, 'file')} had been parsed before" if done else ""
    say(f"parsed {counted(total, 'file')}, {counted(sentences, 'sentence')}{before}")


def tell_problems(problems: list[str], total: int) -> NoReturn:
    """A line for each file that could not be parsed, and then how many of them there are."""
    if total == 1:
        raise ParserError(problems[0])
    for problem in problems[:_TOLD]:
        say(problem, err=True)
    if len(problems) > _TOLD:
        say(f"... and {len(problems) - _TOLD:,} more", err=True)
    others = "" if len(problems) == total else ", the others are done"
    raise ParserError(f"{len(problems):,} of {total:,} files could not be parsed{others}")
