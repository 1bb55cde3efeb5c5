"""How long tokens, sentences and white space may be, and where longer ones are cut.

No text makes more than this be held in memory.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

__all__ = [
    "LONGEST_SENTENCE",
    "LONGEST_SPACE",
    "LONGEST_TOKEN",
    "WIDEST_SENTENCE",
    "bounded_space",
    "end_long_tokens",
    "long_sentence_stops",
]

LONGEST_TOKEN = 1 << 14  # characters
LONGEST_SPACE = 1 << 14  # characters of white space; where there are more, the middle is left out
LONGEST_SENTENCE = 300  # tokens; a second-order parser takes the cube of it in time
WIDEST_SENTENCE = 1 << 16  # characters


def end_long_tokens(
    places: npt.NDArray[np.int64], last: npt.NDArray[np.bool_], *, length: int, held: int = 0
) -> None:
    """Let tokens end in `last` where they get too long.

    `last` says of the characters at `places` whether a token ends with each. `length` is up to
    where the text is known; so many characters of the first token as are `held` are before it.
    """
    starts = places[np.append(not held, last)[: len(places)]]
    stops = places[last] + 1
    if held:
        starts = np.append(-held, starts)
    if len(starts) > len(stops):
        stops = np.append(stops, length)
    for long in np.flatnonzero(stops - starts >= LONGEST_TOKEN):
        start = starts[long]
        while stops[long] - start >= LONGEST_TOKEN:
            after = np.searchsorted(places, start + LONGEST_TOKEN)
            last[after - 1] = True
            start = places[after] if after < len(places) else length


def long_sentence_stops(
    starts: Sequence[int], scores: Sequence[float], *, first: int, stop: int
) -> Iterator[int]:
    """Where to end a sentence that is too long: the most likely places in second halves.

    It has the tokens from `first` to before `stop`; `starts` says where these are in the text, and
    `scores` how likely a sentence ends with each.
    """
    while first < stop:
        widest = starts[first] + WIDEST_SENTENCE
        limit = bisect_right(starts, widest, first + 1, stop)
        limit = min(limit, first + LONGEST_SENTENCE)
        if limit == stop:
            return
        middle = (first + limit) // 2
        first = max(range(middle, limit), key=scores.__getitem__) + 1
        yield first


def bounded_space(space: str) -> str:
    """White space without its middle, where it is too long; a blank line stays one."""
    if len(space) <= LONGEST_SPACE:
        return space
    half = LONGEST_SPACE // 2
    first, last = space[:half], space[-half:]
    lost = min(_line_breaks(space), 2) - _line_breaks(first + last)
    return first + " \n" * lost + last


def _line_breaks(space: str) -> int:
    return len(f".{space}.".splitlines()) - 1
