"""`python -m treecrf` is the command `treecrf`."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; Ctrl-C ends it without a traceback, while it is still loading too."""
    try:
        from treecrf.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
