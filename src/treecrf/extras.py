"""Optional packages; an error about a missing one names its extra."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MissingExtraError", "installed_packages", "needs_extra"]

# Extras that no user misses anything without.
_FOR_DEVELOPERS = ("bench", "dev", "docs")


class MissingExtraError(ImportError):
    """A package that an extra of treecrf brings is not installed; the message names the extra."""


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Import what an extra brings inside the `with` block; `what` is what needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        # One of ours is a bug, and one without a name is something else that went wrong.
        if (error.name or "treecrf").partition(".")[0] == "treecrf":
            raise
        hint = f"pip install 'treecrf[{extra}]'"
        raise MissingExtraError(f"{what} needs {error.name}: {hint}", name=error.name) from None


def installed_packages() -> dict[str, tuple[str | None, str | None]]:
    """The packages that treecrf can use: version, None where missing, and extra, if any."""
    from importlib.metadata import PackageNotFoundError, requires, version

    try:
        requirements = requires("treecrf") or []
    except PackageNotFoundError:  # a checkout on the path, not installed
        requirements = []
    found: dict[str, tuple[str | None, str | None]] = {}
    for requirement in requirements:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == ['\"]([^'\"]+)['\"]", requirement)
        if name is None or name[0] == "treecrf" or (extra and extra[1] in _FOR_DEVELOPERS):
            continue
        try:
            installed = version(name[0])
        except PackageNotFoundError:
            installed = None
        found.setdefault(name[0], (installed, extra[1] if extra else None))
    return found
