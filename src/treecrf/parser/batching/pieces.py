"""Input of a transformer: pieces of words, in windows where a sentence is too long."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treecrf.parser.batching.distinct import Integers

__all__ = ["PieceTable", "cut_windows"]


@dataclass(frozen=True, slots=True)
class PieceTable:
    """The pieces of distinct forms, one after the other."""

    pieces: Integers  # [piece]
    starts: Integers  # [form]
    counts: Integers  # [form]
    start: int
    end: int
    longest: int  # most pieces of a window, start and end included

    @classmethod
    def of(
        cls, forms: Sequence[Sequence[int]], *, start: int, end: int, longest: int
    ) -> "PieceTable":
        """The table of forms, each a list of pieces."""
        counts = np.fromiter(map(len, forms), np.int64, len(forms))
        pieces = np.fromiter((p for form in forms for p in form), np.int64, int(counts.sum()))
        return cls(pieces, np.cumsum(counts) - counts, counts, start, end, longest)


def cut_windows(
    table: PieceTable, forms: Integers, places: Integers, lengths: Integers
) -> dict[str, Integers | None]:
    """The arrays of `PieceInputs`, by name: windows over the pieces of sentences.

    The root symbol has the state of the first window's start. A sentence that does not fit is read
    in windows that overlap by half; the state of a piece is from the window whose middle is
    nearest.

    Args:
        table: The pieces of forms.
        forms: Forms `[token]` of packed tokens.
        places: Packed places `[sentence, token]` of tokens.
        lengths: Words in each sentence, `[sentence]`.
    """
    inside = np.arange(places.shape[1] - 1) < lengths[:, None]  # [sentence, word]
    sentence, word = np.nonzero(inside)
    token = places[sentence, word + 1]
    counts = table.counts[forms[token]]
    # One row a piece, sentence by sentence.
    piece_token = np.repeat(token, counts)
    piece_sentence = np.repeat(sentence, counts)
    within = np.arange(len(piece_token)) - np.repeat(np.cumsum(counts) - counts, counts)
    piece = table.pieces[table.starts[forms[piece_token]] + within]
    totals = np.bincount(piece_sentence, minlength=len(lengths))
    position = np.arange(len(piece)) - np.repeat(np.cumsum(totals) - totals, totals)

    content = table.longest - 2
    stride = max(1, content // 2)
    extra = np.maximum(0, -(-(totals - content) // stride))  # windows after the first
    first = np.cumsum(1 + extra) - (1 + extra)  # [sentence], its first window
    width = int(np.minimum(totals, content).max(initial=0)) + 2
    grid = np.zeros((len(lengths) + int(extra.sum()), width), np.int64)
    grid[:, 0] = table.start
    window_lengths = np.full(len(grid), 2, np.int64)
    for step in range(int(extra.max(initial=0)) + 1):
        place = position - step * stride
        here = (place >= 0) & (place < content) & (step <= extra[piece_sentence])
        window = first[piece_sentence[here]] + step
        grid[window, place[here] + 1] = piece[here]
        window_lengths += np.bincount(window, minlength=len(grid))
    grid[np.arange(len(grid)), window_lengths - 1] = table.end

    # The window whose middle is nearest: half a stride before the next one starts to be nearer.
    best = np.clip((position - (content - stride) // 2) // stride, 0, extra[piece_sentence])
    cells = (first[piece_sentence] + best) * width + position - best * stride + 1
    return {
        "windows": grid,
        "lengths": window_lengths,
        "cells": np.concatenate((first * width, cells)),
        "token": np.concatenate((places[:, 0], piece_token)),
    }
