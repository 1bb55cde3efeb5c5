"""Lists of the k best derivations of a cell, in compiled code."""

import numpy as np

from treecrf.ops.constants import MOST_TREES
from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numba.lanes import Floats, Integers

__all__ = ["Heap", "Lists", "Options", "merge", "new_heap", "new_lists", "new_options", "unpacked"]

Lists = tuple[Floats, Integers, Integers]
"""Best derivations of each cell, best first: scores and choices, both `[cell, rank]`, and their
number `[cell]`."""

Options = tuple[Integers, Integers, Floats]
"""Ways to make one cell: a left cell, a right cell and an additional score for each."""

Heap = tuple[Floats, Integers]  # scores and choices of pairs, the best first

# A choice is an option, a rank in its left cell and a rank in its right cell.
RANK_BITS = MOST_TREES.bit_length() - 1
RANK_MASK = MOST_TREES - 1


@compiled
def packed(option: int, a: int, b: int) -> int:
    return (((option << RANK_BITS) | a) << RANK_BITS) | b


@compiled
def unpacked(choice: int) -> tuple[int, int, int]:
    """Option, rank in its left cell and rank in its right cell."""
    return choice >> 2 * RANK_BITS, (choice >> RANK_BITS) & RANK_MASK, choice & RANK_MASK


@compiled
def new_lists(cells: int, k: int) -> Lists:
    return np.empty((cells, k)), np.empty((cells, k), np.int64), np.empty(cells, np.int64)


@compiled
def new_heap(size: int) -> Heap:
    return np.empty(size), np.empty(size, np.int64)


@compiled
def new_options(count: int) -> Options:
    return np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)


@compiled
def merge(lists: Lists, cell: int, options: Options, count: int, heap: Heap) -> None:
    """List the best pairs of a left and a right item over the first `count` options of a cell.

    A heap holds, at first, the best pair of each option. A pair (a, b) that is taken makes room for
    (a, b + 1) and, where b is 0, for (a + 1, 0): so every pair comes once, after all better ones.
    The heap has room for `count + k` pairs.
    """
    scores, choices, counts = lists
    left, right, _ = options
    size = 0
    for option in range(count):
        if counts[left[option]] > 0 and counts[right[option]] > 0:
            size = push(lists, options, option, 0, 0, heap, size)
    rank = 0
    while size > 0 and rank < scores.shape[1]:
        scores[cell, rank], choices[cell, rank] = heap[0][0], heap[1][0]
        option, a, b = unpacked(choices[cell, rank])
        rank += 1
        size = pop(heap, size)
        if b + 1 < counts[right[option]]:
            size = push(lists, options, option, a, b + 1, heap, size)
        if b == 0 and a + 1 < counts[left[option]]:
            size = push(lists, options, option, a + 1, 0, heap, size)
    counts[cell] = rank


@compiled
def push(lists: Lists, options: Options, option: int, a: int, b: int, heap: Heap, size: int) -> int:
    """Add a pair to the heap unless its score is -inf or NaN; returns the new size."""
    left, right, additional = options
    score = lists[0][left[option], a] + lists[0][right[option], b] + additional[option]
    if not score > -np.inf:
        return size
    scores, choices = heap
    place = size
    while place > 0 and scores[(place - 1) >> 1] < score:
        above = (place - 1) >> 1
        scores[place], choices[place] = scores[above], choices[above]
        place = above
    scores[place], choices[place] = score, packed(option, a, b)
    return size + 1


@compiled
def pop(heap: Heap, size: int) -> int:
    """Remove the best pair from the heap; returns the new size."""
    scores, choices = heap
    last = size - 1
    place, below = 0, 1
    while below < last:
        if below + 1 < last and scores[below + 1] > scores[below]:
            below += 1
        if scores[below] <= scores[last]:
            break
        scores[place], choices[place] = scores[below], choices[below]
        place, below = below, 2 * below + 1
    scores[place], choices[place] = scores[last], choices[last]
    return last
