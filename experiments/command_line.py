"""Arguments, errors and exit codes of all commands."""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence

from experiments.worker import USER_ERRORS

__all__ = ["run_command_line"]


def run_command_line(
    parser: argparse.ArgumentParser,
    work: Callable[[argparse.Namespace], None],
    *,
    arguments: Sequence[str] | None,
    when_stopped: str = "stopped",
) -> int:
    """Do the work with these arguments, or those of the process; return the exit code.

    It is 2 after an error, which is one line, and 130 after Ctrl-C.
    """
    if arguments is None:
        # An exit, unlike a signal, passes through `finally`: no process stays.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    given = parser.parse_args(arguments)
    try:
        work(given)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has seen enough
        # What is still held back goes nowhere, and not into an error at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except USER_ERRORS as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\n{parser.prog}: {when_stopped}", file=sys.stderr)
        return 128 + signal.SIGINT
    return 0
