"""The spelling of words, beside encoders that do not see it: most ignore case."""

import zlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

import numpy as np

from treecrf.parser.batching.distinct import Integers

__all__ = ["SPELLINGS", "spellings_of"]

SPELLINGS = 8192
"""Rows of the table of features; each feature has the row of its hash."""

_PREFIXES = (1, 2, 3)
_SUFFIXES = (1, 2, 3, 4, 5)
_RUNS = 6  # that the shape of a word keeps
_LONGEST = 64  # characters that it is made of


def spellings_of(forms: Sequence[str]) -> Integers:
    """Rows `[form, feature]` of the shape of each form and of its first and last characters."""
    return np.array([_rows(form) for form in forms], np.int64)


@lru_cache(maxsize=1 << 16)
def _rows(form: str) -> tuple[int, ...]:
    prefixes = (form[:size] for size in _PREFIXES)
    suffixes = (form[-size:].lower() for size in _SUFFIXES)
    named = enumerate((_shape(form), *prefixes, *suffixes))
    return tuple(
        zlib.crc32(f"{name} {feature}".encode("utf-8", "surrogatepass")) % SPELLINGS
        for name, feature in named
    )


def _shape(form: str) -> str:
    """The kinds of the characters of a form, each run of one kind once: XxXx'x of McDonald's."""
    return "".join(kind for kind, _ in groupby(map(_kind, form[:_LONGEST])))[:_RUNS]


def _kind(character: str) -> str:
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return "0" if character.isdigit() else character
