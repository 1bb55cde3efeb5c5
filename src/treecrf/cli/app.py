"""The command `treecrf`; modules of commands import at their top nothing heavier than typer."""

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import treecrf
from treecrf.cli import data
from treecrf.cli.console import say, visible
from treecrf.cli.options import Command
from treecrf.extras import MissingExtraError
from treecrf.parser.errors import ParserError
from treecrf.segment.errors import SegmentError
from treecrf.signals import on_end_signals
from treecrf.treebank.errors import TreebankError

__all__ = ["EXIT_CODES", "app", "main"]

# Each is a function in a module of the same name; help lists them in this order.
_COMMANDS = (
    "parsing.parse parsing.segment parsing.tag train evaluate calibrate score compare serve "
    "annotate packages.models packages.package export doctor"
)

EXIT_CODES = {
    "0": "success",
    "1": "a check failed (doctor, data project), a closed pipe, or a bug",
    "2": "wrong options or input, which standard error explains",
    "130": "interrupted with Ctrl-C",
    "128 + N": "ended by signal N",
}

# How often threads of OpenMP look whether the others are done before they sleep; usually that is
# 300,000 times, in which another process that computes could have had the core.
_SPINS = "1000"


@contextlib.contextmanager
def _visible_misuse() -> Iterator[None]:
    """Have errors about arguments, which may be names of files, quote what a terminal can show."""
    try:
        yield
    except Exception as error:
        message = getattr(error, "message", None)  # of click, which some versions of typer contain
        helps = type(error).__name__ == "NoArgsIsHelpError"  # the message is the help, in lines
        if isinstance(message, str) and not helps:
            error.message = visible(message)  # type: ignore[attr-defined]
        raise


class _Group(TyperGroup):
    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _visible_misuse():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Turn what a user can put right into one line and exit code 2; the rest is a bug."""
        try:
            with _visible_misuse():
                return super().invoke(ctx)
        except (TreebankError, ParserError, SegmentError, MissingExtraError) as error:
            problem = str(error)
        except OSError as error:
            if error.errno == errno.EPIPE:  # `treecrf ... | head` has seen enough
                raise
            reason = error.strerror or str(error)
            if error.errno == errno.EISDIR:
                reason = "this is a folder; name a file in it"
            problem = reason if error.filename is None else f"{error.filename}: {reason}"
        except KeyboardInterrupt:
            say("interrupted", err=True)
            raise typer.Exit(130) from None
        say(problem, err=True)
        raise typer.Exit(2)


app = typer.Typer(
    cls=_Group,
    # \b keeps the lines as they are.
    epilog="\b\nExit codes:\n"
    + "".join(f"  {code:<9}{meaning}\n" for code, meaning in EXIT_CODES.items())
    + "\n`treecrf COMMAND --help` describes a command and has an example.",
    # Boxes leave too little of 80 columns to the text, and cost a tenth of a second.
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for _name in _COMMANDS.split():
    _function = getattr(import_module(f"treecrf.cli.{_name}"), _name.rpartition(".")[2])
    app.command(cls=Command)(_function)
app.add_typer(data.app, name="data")


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"treecrf {treecrf.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Parse sentences into dependency trees, with probabilities; train and compare parsers."""


class _Closed(io.TextIOBase):
    """Standard output where there is none (`treecrf ... >&-`): only what writes to it fails."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed")


def main() -> None:
    """The console script."""
    # An exit, unlike a signal, passes through `finally`: no temporary file stays.
    on_end_signals(lambda number, _: sys.exit(128 + number))
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)  # torch reads it when it is imported
    # We check encoders ourselves, and an error is one line.
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")  # no line for each retry without a network
    if sys.stdout is None:
        sys.stdout = _Closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 gets a ? for an arrow
    try:
        app(prog_name="treecrf")
    except OSError as error:  # of what is printed before a command runs: --help, --version
        say(error.strerror or error, err=True)
        sys.exit(2)
