"""Packages that only some things need: what is missing is named in a line, with its extra."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MissingExtraError", "needs_extra"]


class MissingExtraError(ImportError):
    """A package that an extra of treecrf brings is not installed; the message names the extra."""


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Import what an extra brings inside the `with` block; `what` is what needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "treecrf":  # that is a bug of ours
            raise
        raise MissingExtraError(
            f"{what} needs {error.name}: pip install 'treecrf[{extra}]'", name=error.name
        ) from None
