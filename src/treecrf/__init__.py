"""Dependency parsing with tree-structured conditional random fields.

Nothing heavy is imported here: a command that needs no torch starts without it.
"""

from typing import TYPE_CHECKING

from treecrf.lazy import lazy_names

if TYPE_CHECKING:
    from treecrf.integrations.frames import to_frame
    from treecrf.parser.api import Parser, load
    from treecrf.parser.errors import LanguageWarning
    from treecrf.treebank.document import Document
    from treecrf.treebank.glossary import explain
    from treecrf.treebank.sentence import Sentence
    from treecrf.treebank.tokens import Token

    __version__: str

__all__ = [
    "Document",
    "LanguageWarning",
    "Parser",
    "Sentence",
    "Token",
    "__version__",
    "explain",
    "load",
    "to_frame",
]

_lazy_name, __dir__ = lazy_names(
    __name__,
    {
        "integrations.frames": ("to_frame",),
        "parser.api": ("Parser", "load"),
        "parser.errors": ("LanguageWarning",),
        "treebank.document": ("Document",),
        "treebank.glossary": ("explain",),
        "treebank.sentence": ("Sentence",),
        "treebank.tokens": ("Token",),
    },
)


def __getattr__(name: str) -> object:
    return _version() if name == "__version__" else _lazy_name(name)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("treecrf")
    except PackageNotFoundError:  # a checkout on the path, not installed
        return "0+unknown"
