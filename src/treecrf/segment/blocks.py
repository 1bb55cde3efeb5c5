"""Text that comes in pieces, as blocks that lie the same however it was cut; and their windows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from treecrf.segment.characters import OUTSIDE, Codes, codes_of

__all__ = ["Block", "cut_blocks", "cut_windows"]

_BYTE_ORDER_MARK = "\ufeff"  # with which files of some programs start; there it is no text


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a text: its characters, and its code points with some around them."""

    text: str
    start: int
    """Its start in the whole text."""
    codes: Codes
    """`context` more than the text on each side, OUTSIDE where the text has none.

    A byte order mark at the start of a text is outside of it, too.
    """


def cut_blocks(
    pieces: Iterable[str], *, size: int, context: int, start: int = 0
) -> Iterator[Block]:
    """Blocks of this size, the last one shorter; no more is held than two blocks and a piece.

    `start` is where the first piece starts in the whole text.
    """
    held: list[str] = []
    length = 0  # of what is held
    place = 0  # where the next block starts in it
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length - place < size + context:
            continue
        text = "".join(held)
        while length - place >= size + context:
            yield _block(text, place, size=size, context=context, start=start)
            place += size
            start += size
        dropped = max(place - context, 0)
        held = [text[dropped:]]
        length -= dropped
        place -= dropped
    text = "".join(held)
    while place < length:
        yield _block(text, place, size=size, context=context, start=start)
        place += size
        start += size


def _block(text: str, place: int, *, size: int, context: int, start: int) -> Block:
    block = text[place : place + size]
    before = text[max(place - context, 0) : place]
    after = text[place + size : place + size + context]
    codes = np.full(len(block) + 2 * context, OUTSIDE, np.uint32)
    first = context - len(before)
    codes[first : context + len(block) + len(after)] = codes_of(before + block + after)
    if start == 0 and block.startswith(_BYTE_ORDER_MARK):
        codes[context] = OUTSIDE  # so that it is white space before the first token
    return Block(text=block, start=start, codes=codes)


def cut_windows(codes: Codes, *, window: int, context: int) -> Codes:
    """Windows `[window, character]` of a block; their middles are its text and what is after it."""
    core = window - 2 * context
    count = -(-(len(codes) - 2 * context) // core)
    if count == 1:
        return codes[None]  # shorter than others: a single sentence is quickly read
    padded = np.full(count * core + 2 * context, OUTSIDE, np.uint32)
    padded[: len(codes)] = codes
    windows: Codes = np.lib.stride_tricks.sliding_window_view(padded, window)[::core]
    return windows
