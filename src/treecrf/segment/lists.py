"""Items of lists that are on lines of their own: a sentence ends before each."""

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from treecrf.segment.characters import OUTSIDE, Codes
from treecrf.segment.spaces import has_blank_line

__all__ = ["end_before_items"]

_ITEM = re.compile(
    r"(?<=[\n\r])[ \t]*"
    r"(?P<mark>(?P<bullet>[-*+\u2013•◦‣▪·])|(?P<number>\d{1,3})(?P<after>[.)]))[ \t]+\S"
)
_BULLETS = frozenset("•◦‣▪")  # at the start of a line they are nothing else


def end_before_items(scores: npt.NDArray[np.float32], codes: Codes, *, context: int) -> None:
    """Change the scores `[character, output]` of a block so that sentences end before items.

    Lines are items if another line of the paragraph starts with the same mark, or with the next
    number. `codes` has `context` more characters on each side than `scores`.
    """
    if not ((codes == ord("\n")) | (codes == ord("\r"))).any():
        return
    text = np.where(codes < OUTSIDE, codes, ord("\n")).astype("<u4").tobytes()
    characters = text.decode("utf-32-le", "surrogatepass")
    sentence = scores[:, 1]
    for item in _find_items(characters):
        first, stop = item.start("mark") - context, item.end("mark") - context
        before = item.start() - 1
        while before >= 0 and characters[before].isspace():
            before -= 1
        if 0 <= before - context < len(scores):
            sentence[before - context] = np.inf
        sentence[max(first, 0) : max(stop, 0)] = -np.inf


def _find_items(text: str) -> Iterator[re.Match[str]]:
    lists: dict[str, list[re.Match[str]]] = {}
    for line in _ITEM.finditer(text):
        lists.setdefault(line["bullet"] or line["after"], []).append(line)
    for mark, lines in lists.items():
        found = set(lines) if mark in _BULLETS else set()
        for pair in pairwise(lines):
            if _are_neighbours(*pair):
                found |= set(pair)
        yield from found


def _are_neighbours(one: re.Match[str], other: re.Match[str]) -> bool:
    """Whether both lines are of one list."""
    if one["number"] and int(other["number"]) != int(one["number"]) + 1:
        return False
    between = one.string[one.end() : other.start()]
    return not any(has_blank_line(space) for space in re.findall(r"\s+", between))
