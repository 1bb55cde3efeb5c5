"""Command line of the commands in this folder; their help is their docstring."""

import argparse
from collections.abc import Callable, Sequence

from experiments.command_line import run_command_line

__all__ = ["run_command"]


def run_command(
    name: str,
    description: str | None,
    work: Callable[[argparse.Namespace], None],
    *,
    options: Callable[[argparse.ArgumentParser], None],
    arguments: Sequence[str] | None,
) -> int:
    """Read the command line and do the work; return the exit code, 2 after a one-line error."""
    parser = argparse.ArgumentParser(
        prog=f"experiments.english.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options(parser)
    return run_command_line(parser, work, arguments=arguments)
