"""Dependency parsing with tree-structured conditional random fields.

Nothing heavy is imported here: a command that needs no torch starts without it.
"""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("treecrf")
except PackageNotFoundError:  # a checkout on the path, not installed
    __version__ = "0+unknown"
