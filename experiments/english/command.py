"""What the commands here have in common: help from a docstring, and one line about an error."""

import argparse
import sys
from collections.abc import Callable, Sequence

from experiments.worker import USER_ERRORS

__all__ = ["run_command"]


def run_command(
    name: str,
    description: str | None,
    work: Callable[[argparse.Namespace], None],
    *,
    options: Callable[[argparse.ArgumentParser], None],
    arguments: Sequence[str] | None,
) -> int:
    """Read the command line and do the work; the exit code, 2 after an error."""
    parser = argparse.ArgumentParser(
        prog=f"experiments.english.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options(parser)
    given = parser.parse_args(arguments)
    try:
        work(given)
    except USER_ERRORS as error:
        print(error, file=sys.stderr)
        return 2
    return 0
