"""Text in Unicode's composed form (NFC), in time that grows with its length alone."""

import re
import unicodedata
from functools import cache

__all__ = ["composed"]

# Marks on one letter that are put in order, as in Unicode's stream-safe text. To sort a longer run
# takes time with the square of it, and nobody writes one.
_MOST_MARKS = 30
# Marks and whatever decomposes into them are between these.
_FIRST_MARK, _LAST_MARK = 0x300, 0x1FFFF


def composed(text: str) -> str:
    """Text in NFC, but for letters with more than 30 marks, which stay as they are."""
    if text.isascii():
        return text
    # No character of a line composes with one of another. Short steps let other threads work.
    return "".join(map(_composed_line, text.splitlines(keepends=True)))


def _composed_line(line: str) -> str:
    if line.isascii():
        return line
    pieces: list[str] = []
    start = 0
    for run in _marks().finditer(line):
        if run.end() - run.start() > _MOST_MARKS:
            pieces += unicodedata.normalize("NFC", line[start : run.start()]), run[0]
            start = run.end()
    pieces.append(unicodedata.normalize("NFC", line[start:]))
    return "".join(pieces)


@cache
def _marks() -> re.Pattern[str]:
    """Runs of characters that normalising puts in order."""
    marks = filter(_is_mark, map(chr, range(_FIRST_MARK, _LAST_MARK + 1)))
    return re.compile(f"[{''.join(marks)}]+")


def _is_mark(character: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFD", character)[0]) > 0
