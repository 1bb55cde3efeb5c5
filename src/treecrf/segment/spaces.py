"""White space between tokens as MISC has it, and the text that it gives back.

`SpaceAfter=No` is no space at all, and no entry is one space. Everything else is written out as
UDPipe does: `SpacesAfter=` and, before the first token of a text, `SpacesBefore=`, with `\\s` for a
space, `\\t`, `\\n`, `\\r`, `\\p` for a vertical bar and `\\\\` for a backslash. Treebanks also have
`\\u00A0` for a white space by its number, which is read.
"""

import re
from collections.abc import Iterable

from treecrf.treebank import Sentence
from treecrf.treebank.tokens import surfaces

__all__ = ["has_blank_line", "misc_of", "rebuild_text", "space_after", "space_before"]

_ESCAPES = {" ": "\\s", "\t": "\\t", "\n": "\\n", "\r": "\\r", "|": "\\p", "\\": "\\\\"}
_ESCAPED = str.maketrans(_ESCAPES)
_UNESCAPED = {escape: character for character, escape in _ESCAPES.items()}
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\.")


def rebuild_text(sentences: Iterable[Sentence]) -> str:
    """The text that was segmented into these sentences, or that MISC says they came from."""
    pieces: list[str] = []
    for sentence in sentences:
        for token in surfaces(sentence.tokens, sentence.multiwords):
            pieces += space_before(token.misc), token.form, space_after(token.misc)
    return "".join(pieces)


def space_after(misc: str) -> str:
    """The white space after a token, as its MISC has it."""
    if misc == "_":
        return " "
    entries = misc.split("|")
    for entry in entries:
        if entry.startswith("SpacesAfter="):
            return _unescaped(entry)
    return "" if "SpaceAfter=No" in entries else " "


def space_before(misc: str) -> str:
    """The white space before a token that is not already after the one before it."""
    for entry in misc.split("|"):
        if entry.startswith("SpacesBefore="):
            return _unescaped(entry)
    return ""


def misc_of(after: str, *, before: str = "") -> str:
    """The entries of MISC for white space, each with a bar after it."""
    if after == " ":
        entries = ""
    elif not after:
        entries = "SpaceAfter=No|"
    else:
        entries = f"SpacesAfter={after.translate(_ESCAPED)}|"
    return f"{entries}SpacesBefore={before.translate(_ESCAPED)}|" if before else entries


def has_blank_line(space: str) -> bool:
    """Whether white space has two line breaks, so that a paragraph ends there."""
    return len(space) > 1 and len(f".{space}.".splitlines()) > 2


def _unescaped(entry: str) -> str:
    text = entry.partition("=")[2]
    return _ESCAPE.sub(_unescape, text)


def _unescape(escape: re.Match[str]) -> str:
    if escape[1] and (character := chr(int(escape[1], 16))).isspace():
        return character
    return _UNESCAPED.get(escape[0], escape[0])
