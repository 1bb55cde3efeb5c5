"""Messages of commands, without what a terminal would obey instead of show."""

import re

import typer

__all__ = ["say", "visible", "visible_json"]

# DEL, the second set of controls, which CSI is of, and what turns the direction of writing.
_LATER = "\x7f-\x9f\u202a-\u202e\u2066-\u2069"
_CONTROLS = re.compile(f"[\x00-\x1f{_LATER}]")
_NOT_IN_JSON = re.compile(f"[{_LATER}]")


def visible(text: str) -> str:
    """The text on one line, with U+FFFD for each character that is a command to a terminal."""
    return _CONTROLS.sub("\ufffd", text)


def visible_json(text: str) -> str:
    """The same JSON, with escapes for what its strings may have as it is."""
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: object, *, err: bool = False) -> None:
    """Print a line on standard output, or on standard error with `err`."""
    typer.echo(visible(str(text)), err=err)
