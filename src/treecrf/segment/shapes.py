"""Tokens that are known by their shape: addresses, handles, hashtags, paths, markup, names.

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
    "language": r"(?<![\w.+])(?:(?:[Ccg]|[a-zA-Z]\w+)\+\+(?:\d\d)?|[CF]#|(?:ASP)?\.NET)(?![\w+#])",
    "slash": r"(?<![\w/])(?:[Ii]/[Oo]s?|TCP/IP|CI/CD|UI/UX|N/A|AC/DC|OS/2|S/MIME)(?![\w/])",
    "pronoun": r"(?<!\w)[Yy]['\u2019]all(?![\w'\u2019])",
    # Dr. is not among these: it may be the end of a street, and of a sentence.
    "title": r"(?<![\w.])(?:Mrs?|Ms|Prof|Sen|Rep|Gov|Gen|Col|Maj|Capt|Lt|Sgt|Rev|Hon)\."
    r"(?= [A-Z])",
}
"""Regular expressions by name; none matches white space."""

# A part of every shape: most texts have none, which is found in a tenth of the time.
_ANY_SHAPE = re.compile(r"[@#/\\<+]|[:.]\S|\. [A-Z]|['\u2019]a")

_MARKS = frozenset(".,;:!?")
_LINES = frozenset(("address", "mail"))  # which are often sentences of their own

Spans = list[tuple[int, int]]


def find_spans(text: str, names: Iterable[str]) -> Spans:
    """The places of tokens with these shapes, from the first character to after the last."""
    return [match.span() for match in _pattern(tuple(names)).finditer(text)]


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{SHAPES[name]})" for name in names) or r"(?!)")


def keep_whole(
    scores: npt.NDArray[np.float32], codes: Codes, *, names: Iterable[str], context: int
) -> None:
    """Change the scores `[character, output]` of a block so that these shapes are tokens.

    They are never multiword tokens. No sentence ends after a title, between one of them and the
    mark after it, or before a small letter unless they are addresses. `codes` has `context` more
    characters on each side than `scores`.
    """
    text = np.where(codes < OUTSIDE, codes, ord(" ")).astype("<u4").tobytes()
    characters = text.decode("utf-32-le", "surrogatepass")
    if _ANY_SHAPE.search(characters) is None:
        return
    token, sentence, multiword = scores.T
    for match in _pattern(tuple(names)).finditer(characters):
        start, stop = match.span()
        first, last = max(start - context, 0), stop - 1 - context
        if last < 0:
            continue
        token[first:last] = -np.inf
        if 0 < start - context <= len(scores):
            token[start - context - 1] = np.inf
        if last < len(scores):
            token[last], multiword[last] = np.inf, -np.inf
            if _goes_on(match):
                sentence[last] = -np.inf


def _goes_on(shape: re.Match[str]) -> bool:
    """Whether the sentence certainly goes on after a token."""
    after = shape.string[shape.end() : shape.end() + 2]
    if shape.lastgroup == "title" or after[:1] in _MARKS:
        return True
    return shape.lastgroup not in _LINES and after.islower() and after[0] not in "\r\n"
