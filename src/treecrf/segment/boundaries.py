"""Ends of tokens and sentences that the network has no say in.

Some are certain by what the characters are, however few of them training saw: a dash that is as
wide as an M is a token; what is joined into one picture stays together, flags too, and emoji are
apart from all else. Others bound lengths: no text makes more than this be held in memory.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treecrf.segment.characters import OUTSIDE, Codes

__all__ = [
    "BOUNDS",
    "Bounds",
    "Flags",
    "bounded_space",
    "end_long_tokens",
    "is_emoji",
    "long_sentence_stops",
    "with_certain_ends",
]

Flags = npt.NDArray[np.bool_]

_FIRST_SPECIAL = 0x200D  # no character before it is one of those below
_EM_DASHES = (0x2014, 0x2015)
_JOINER = 0x200D  # zero width
_SKIN_TONES = (0x1F3FB, 0x1F3FF)
_FLAG_LETTERS = (0x1F1E6, 0x1F1FF)  # two of which are the flag of a country
_TAGS = (0xE0020, 0xE007F)  # which make other flags of a flag
# Make a picture of whatever character is before them: a variation selector, the frame of a key.
_PICTURE_OF = (0xFE0F, 0x20E3)
_VARIANTS = (0xFE0E, *_PICTURE_OF)  # are one with the character before them
# What Unicode calls emoji, and unassigned places among them. Not those that text has as letters,
# arrows and marks unless a variation selector makes pictures of them: © ® ™ ‼ ↔ Ⓜ and the like.
_PICTURES = (
    *((0x231A, 0x231B), (0x2328, 0x2328), (0x23CF, 0x23CF), (0x23E9, 0x23F3), (0x23F8, 0x23FA)),
    *((0x25AA, 0x25AB), (0x25B6, 0x25B6), (0x25C0, 0x25C0), (0x25FB, 0x25FE)),
    (0x2600, 0x27BF),  # miscellaneous symbols and dingbats
    *((0x2934, 0x2935), (0x2B05, 0x2B07), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55)),
    (0x1F000, 0x1FAFF),  # from the tiles of games to the last block of pictographs
)


_EMOJI = "".join(
    f"{chr(first)}-{chr(last)}" for first, last in (*_PICTURES, _SKIN_TONES, _TAGS)
) + "".join(map(chr, (_JOINER, *_VARIANTS)))
_FIRST_PICTURE = chr(_PICTURES[0][0])
_ONLY_EMOJI = re.compile(f"[{_EMOJI}]+")


# Ornamental quotes, brackets and numbers; hearts are between them.
_NO_EMOJI = re.compile("[\u275b-\u2762\u2768-\u2793]")


def is_emoji(form: str) -> bool:
    """Whether a word is one emoji or several."""
    return (
        form >= _FIRST_PICTURE
        and _ONLY_EMOJI.fullmatch(form) is not None
        and not form.startswith(chr(_PICTURE_OF[0]))
        and _NO_EMOJI.search(form) is None
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """Largest sizes, which bound the memory that any text takes."""

    token: int = 1 << 14  # characters
    space: int = 1 << 14  # characters of white space; the middle of more is left out
    sentence: int = 300  # tokens; a second-order parser takes the cube of it in time
    width: int = 1 << 16  # characters of a sentence


BOUNDS = Bounds()


def with_certain_ends(codes: Codes, ends: Flags, *, before: Codes) -> Flags:
    """Whether a token ends with each character; `codes` has two more, which are next.

    An even number of code points `before` them say which letters of flags are a pair.
    """
    if not np.any((codes >= _FIRST_SPECIAL) & (codes < OUTSIDE)):
        return ends
    picture_of = np.isin(codes[1:], _PICTURE_OF)
    codes = codes[:-1]
    dash = np.isin(codes, _EM_DASHES)
    modifier = np.isin(codes, _VARIANTS) | _within(codes, _SKIN_TONES) | _within(codes, _TAGS)
    emoji = modifier | picture_of | _within(codes, *_PICTURES)
    if not (dash.any() or emoji.any()):
        return ends
    joiner = codes == _JOINER
    together = modifier[1:] | (joiner[1:] & emoji[:-1]) | (joiner[:-1] & emoji[1:])
    letters = _within(np.concatenate((before, codes)), _FLAG_LETTERS)
    together |= _first_of_two(letters)[len(before) : -1]
    apart = (dash[:-1] != dash[1:]) | (emoji[:-1] != emoji[1:])
    return (ends | apart) & ~together


def _first_of_two(flags: Flags) -> Flags:
    """The first of each pair of flags, counted from the start of a run."""
    place = np.arange(len(flags))
    before = np.maximum.accumulate(np.where(flags, -1, place))  # the last place without one
    return flags & np.append(flags[1:], False) & ((place - before) % 2 == 1)


def _within(codes: Codes, *ranges: tuple[int, int]) -> Flags:
    return np.logical_or.reduce([(first <= codes) & (codes <= last) for first, last in ranges])


def end_long_tokens(
    places: npt.NDArray[np.int64], last: Flags, *, length: int, longest: int, held: int = 0
) -> None:
    """End tokens of `longest` characters in `last`, the flags of the characters at `places`.

    The text is known up to `length`; `held` characters of the first token are before it.
    """
    starts = places[np.append(not held, last)[: len(places)]]
    stops = places[last] + 1
    if held:
        starts = np.append(-held, starts)
    if len(starts) > len(stops):
        stops = np.append(stops, length)
    for long in np.flatnonzero(stops - starts >= longest):
        start = starts[long]
        while stops[long] - start >= longest:
            after = np.searchsorted(places, start + longest)
            last[after - 1] = True
            start = places[after] if after < len(places) else length


def long_sentence_stops(
    starts: Sequence[int], scores: Sequence[float], *, first: int, stop: int, bounds: Bounds
) -> Iterator[int]:
    """Places to end a long sentence, tokens `first` to `stop`: the likeliest in second halves."""
    while first < stop:
        widest = starts[first] + bounds.width
        limit = bisect_right(starts, widest, first + 1, stop)
        limit = min(limit, first + bounds.sentence)
        if limit == stop:
            return
        middle = (first + limit) // 2
        first = max(range(middle, limit), key=scores.__getitem__) + 1
        yield first


def bounded_space(space: str, longest: int) -> str:
    """Remove the middle of white space of more than `longest` characters; a blank line stays."""
    if len(space) <= longest:
        return space
    half = longest // 2
    first, last = space[:half], space[-half:]
    lost = min(_line_breaks(space), 2) - _line_breaks(first + last)
    return first + " \n" * lost + last


def _line_breaks(space: str) -> int:
    return len(f".{space}.".splitlines()) - 1
