"""What the commands here have in common: their help is a docstring."""

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
    """Read the command line and do the work; the exit code, 2 after an error that is one line."""
    parser = argparse.ArgumentParser(
        prog=f"experiments.english.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options(parser)
    return run_command_line(parser, work, arguments=arguments)
