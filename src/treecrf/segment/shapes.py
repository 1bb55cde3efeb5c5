"""Tokens that are known by their shape: addresses, handles, hashtags, paths, markup, calls.

A treebank has few of them, so a network splits them. A segmenter keeps those shapes whole that its
training data does not split.
"""

import re
from collections.abc import Iterable
from functools import cache

import numpy as np
import numpy.typing as npt

from treecrf.segment.characters import OUTSIDE, Codes

__all__ = ["SHAPES", "find_spans", "keep_whole"]

_START = r"(?<![^\s(\[{<\"'“\u2018«])"  # after white space, a bracket or a quotation mark

SHAPES = {
    # No full stop, comma or quotation mark at the end; brackets in pairs only.
    "address": r"(?<!\w)(?:[a-zA-Z][\w+.-]{0,20}://|mailto:|(?i:www)\.)"
    r"(?:[^\s<>\"“”()]|\([^\s<>\"“”()]*\))*(?:[\w/=&#]|\([^\s<>\"“”()]*\))",
    "mail": r"(?<![\w.+%:/@-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+",
    "handle": _START + r"@\w+(?![\w@]|\.\w)",
    "hashtag": _START + r"#\w*[^\W\d_]\w*",
    "path": _START + r"(?:[a-zA-Z]:\\[\w.+\\-]*\w|(?:(?:~|\.\.?)/|/[\w.+-]+/)[\w.+/-]*[\w/])",
    "tag": r"</?[a-zA-Z][\w-]*/?>",
    "call": r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)+(?=\()",
}
"""Regular expressions by name; none matches white space."""

_MARKS = frozenset(".,;:!?")

Spans = list[tuple[int, int]]


def find_spans(text: str, names: Iterable[str]) -> Spans:
    """The places of tokens with these shapes, from the first character to after the last."""
    return [match.span() for match in _pattern(tuple(names)).finditer(text)]


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(SHAPES[name] for name in names) or r"(?!)")


def keep_whole(
    scores: npt.NDArray[np.float32], codes: Codes, *, names: Iterable[str], context: int
) -> None:
    """Change the scores `[character, output]` of a block so that these shapes are tokens.

    They are never multiword tokens, and no sentence ends between one and the mark after it. `codes`
    has `context` more characters on each side than `scores`.
    """
    text = np.where(codes < OUTSIDE, codes, ord(" ")).astype("<u4").tobytes()
    characters = text.decode("utf-32-le", "surrogatepass")
    token, sentence, multiword = scores.T
    for start, stop in find_spans(characters, names):
        first, last = max(start - context, 0), stop - 1 - context
        if last < 0:
            continue
        token[first:last] = -np.inf
        if 0 < start - context <= len(scores):
            token[start - context - 1] = np.inf
        if last < len(scores):
            token[last], multiword[last] = np.inf, -np.inf
            if characters[stop : stop + 1] in _MARKS:
                sentence[last] = -np.inf
