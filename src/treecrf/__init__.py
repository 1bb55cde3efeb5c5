"""Dependency parsing with tree-structured conditional random fields.

Nothing heavy is imported here: a command that needs no torch starts without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treecrf.integrations.frames import to_frame
    from treecrf.parser.api import Parser, load
    from treecrf.treebank.sentence import Sentence
    from treecrf.treebank.tokens import Token

    __version__: str

__all__ = ["Parser", "Sentence", "Token", "__version__", "load", "to_frame"]

_HOMES = {
    "Parser": "treecrf.parser.api",
    "Sentence": "treecrf.treebank.sentence",
    "Token": "treecrf.treebank.tokens",
    "load": "treecrf.parser.api",
    "to_frame": "treecrf.integrations.frames",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is first asked for."""
    if name == "__version__":
        value: object = _version()
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("treecrf")
    except PackageNotFoundError:  # a checkout on the path, not installed
        return "0+unknown"
