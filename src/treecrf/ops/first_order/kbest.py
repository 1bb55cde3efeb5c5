"""The k best first-order trees of a sentence, compiled for the CPU.

The letters are those of `inside`. A cell is a list of its best derivations; no two derivations make
the same tree. `S` comes after `C` in the lists, and `I` is `S` with the score of the arc added.
"""

import numpy as np

from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.kbest import (
    Heap,
    Lists,
    Options,
    merge,
    new_heap,
    new_lists,
    new_options,
    unpacked,
)
from treecrf.ops.numba.lanes import Floats, Integers

__all__ = ["best_lists"]


@kernel
def best_lists(
    arc_scores: Floats,
    lengths: Integers,
    sentences: Integers,
    multiroot: bool,
    heads: Integers,
) -> None:
    """Fills `heads [batch, rank, token]`, which holds -1.

    The scores are `[batch, dependent, head]`.
    """
    most = 0
    for sentence in sentences:
        most = max(most, lengths[sentence])
    k = heads.shape[1]
    lists = new_lists(2 * (most + 1) ** 2, k)
    options = new_options(most)
    heap = new_heap(most + k)
    spans = np.empty((3, 3 * most + 1), np.int64)
    for sentence in sentences:
        n = lengths[sentence]
        inside_lists(arc_scores[sentence], n, multiroot, lists, options, heap)
        for rank in range(lists[2][n]):
            backtrack(lists, n, rank, spans, heads[sentence, rank])


@compiled
def inside_lists(
    arc_scores: Floats, n: int, multiroot: bool, lists: Lists, options: Options, heap: Heap
) -> None:
    scores, _, counts = lists
    left, right, additional = options
    row = n + 1
    S = row * row
    for j in range(row):
        scores[j * row + j, 0] = 0.0
        counts[j * row + j] = 1
        for i in range(j - 1, -1, -1):
            # S[i, j] = max_{i <= r < j} C[i, r] + C[j, r + 1]
            for r in range(i, j):
                left[r - i] = i * row + r
                right[r - i] = j * row + r + 1
                additional[r - i] = 0.0
            merge(lists, S + i * row + j, options, j - i, heap)
            # C[i, j] = max_{i < r <= j} I[i, r] + C[r, j]
            if i == 0 and j < n and not multiroot:
                counts[j] = 0
            else:
                for r in range(i + 1, j + 1):
                    left[r - i - 1] = S + i * row + r
                    right[r - i - 1] = r * row + j
                    additional[r - i - 1] = arc_scores[r, i]
                merge(lists, i * row + j, options, j - i, heap)
            # C[j, i] = max_{i <= r < j} C[r, i] + I[j, r]
            for r in range(i, j):
                left[r - i] = r * row + i
                right[r - i] = S + r * row + j
                additional[r - i] = arc_scores[r, j]
            merge(lists, j * row + i, options, j - i, heap)


@compiled
def backtrack(lists: Lists, n: int, rank: int, spans: Integers, heads: Integers) -> None:
    """Writes the tree of one rank; `spans` is a stack of complete spans: heads, ends, ranks."""
    choices = lists[1]
    row = n + 1
    for token in range(len(heads)):
        heads[token] = 0
    span_heads, span_ends, span_ranks = spans[0], spans[1], spans[2]
    span_heads[0], span_ends[0], span_ranks[0] = 0, n, rank
    depth = 1
    while depth > 0:
        depth -= 1
        head, end = span_heads[depth], span_ends[depth]
        if head == end:
            continue
        option, left, right = unpacked(choices[head * row + end, span_ranks[depth]])
        child = head + 1 + option if head < end else end + option
        heads[child] = head
        span_heads[depth], span_ends[depth] = child, end
        span_ranks[depth] = right if head < end else left
        i, j = min(head, child), max(head, child)
        between = left if head < end else right
        option, left, right = unpacked(choices[row * row + i * row + j, between])
        span_heads[depth + 1], span_ends[depth + 1] = i, i + option
        span_heads[depth + 2], span_ends[depth + 2] = j, i + option + 1
        span_ranks[depth + 1], span_ranks[depth + 2] = left, right
        depth += 3
