"""The k best second-order trees of a sentence, compiled for the CPU.

The letters are those of `inside`. A cell is a list of its best derivations; no two derivations make
the same tree. The lists hold all of `C`, then all of `S`, then all of `I`.
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
from treecrf.ops.second_order.inside import siblings_between

__all__ = ["best_lists"]


@kernel
def best_lists(
    arc_scores: Floats,
    sibling_scores: Floats,
    lengths: Integers,
    sentences: Integers,
    multiroot: bool,
    heads: Integers,
) -> None:
    """Fills `heads [batch, rank, token]`, which holds -1.

    The scores are `[batch, dependent, head]` and `[batch, dependent, head, sibling]`.
    """
    most = 0
    for sentence in sentences:
        most = max(most, lengths[sentence])
    k = heads.shape[1]
    lists = new_lists(3 * (most + 1) ** 2, k)
    options = new_options(most)
    heap = new_heap(most + k)
    spans = np.empty((4, 5 * most + 1), np.int64)
    for sentence in sentences:
        n = lengths[sentence]
        inside_lists(
            arc_scores[sentence], sibling_scores[sentence], n, multiroot, lists, options, heap
        )
        for rank in range(lists[2][n]):
            backtrack(lists, n, rank, spans, heads[sentence, rank])


@compiled
def inside_lists(
    arc_scores: Floats,
    sibling_scores: Floats,
    n: int,
    multiroot: bool,
    lists: Lists,
    options: Options,
    heap: Heap,
) -> None:
    scores, _, counts = lists
    left, right, additional = options
    row = n + 1
    S, I = row * row, 2 * row * row
    for j in range(row):
        scores[j * row + j, 0] = 0.0
        counts[j * row + j] = 1
        for i in range(j - 1, -1, -1):
            between = siblings_between(i, j, multiroot)
            # I[i, j] = max(C[i, i] + C[j, i + 1], I[i, r] + S[r, j] + s(i, r, j)) + s(i -> j)
            left[0], right[0], additional[0] = i * row + i, j * row + i + 1, arc_scores[j, i]
            for r in range(i + 1, i + 1 + between):
                left[r - i] = I + i * row + r
                right[r - i] = S + r * row + j
                additional[r - i] = sibling_scores[j, i, r] + arc_scores[j, i]
            merge(lists, I + i * row + j, options, 1 + between, heap)
            # I[j, i] = max(C[j, j] + C[i, j - 1], I[j, r] + S[i, r] + s(j, r, i)) + s(j -> i)
            left[0], right[0], additional[0] = j * row + j, i * row + j - 1, arc_scores[i, j]
            for r in range(i + 1, i + 1 + between):
                left[r - i] = I + j * row + r
                right[r - i] = S + i * row + r
                additional[r - i] = sibling_scores[i, j, r] + arc_scores[i, j]
            merge(lists, I + j * row + i, options, 1 + between, heap)
            # S[i, j] = max_{i <= r < j} C[i, r] + C[j, r + 1]
            for r in range(i, j):
                left[r - i], right[r - i], additional[r - i] = i * row + r, j * row + r + 1, 0.0
            merge(lists, S + i * row + j, options, j - i, heap)
            # C[i, j] = max_{i < r <= j} I[i, r] + C[r, j]
            if i == 0 and j < n and not multiroot:
                counts[j] = 0
            else:
                for r in range(i + 1, j + 1):
                    left[r - i - 1], right[r - i - 1] = I + i * row + r, r * row + j
                    additional[r - i - 1] = 0.0
                merge(lists, i * row + j, options, j - i, heap)
            # C[j, i] = max_{i <= r < j} I[j, r] + C[r, i]
            for r in range(i, j):
                left[r - i], right[r - i], additional[r - i] = I + j * row + r, r * row + i, 0.0
            merge(lists, j * row + i, options, j - i, heap)


@compiled
def backtrack(lists: Lists, n: int, rank: int, spans: Integers, heads: Integers) -> None:
    """Writes the tree of one rank; `spans` is a stack: heads, ends, ranks, whether complete."""
    choices = lists[1]
    row = n + 1
    S, I = row * row, 2 * row * row
    for token in range(len(heads)):
        heads[token] = 0
    span_heads, span_ends, span_ranks, complete = spans[0], spans[1], spans[2], spans[3]
    span_heads[0], span_ends[0], span_ranks[0], complete[0] = 0, n, rank, 1
    depth = 1
    while depth > 0:
        depth -= 1
        head, end, rank = span_heads[depth], span_ends[depth], span_ranks[depth]
        if head == end:
            continue
        if complete[depth]:
            option, left, right = unpacked(choices[head * row + end, rank])
            child = head + 1 + option if head < end else end + option
            span_heads[depth], span_ends[depth], span_ranks[depth] = head, child, left
            span_heads[depth + 1], span_ends[depth + 1] = child, end
            span_ranks[depth + 1] = right
            complete[depth], complete[depth + 1] = 0, 1
            depth += 2
            continue
        heads[end] = head
        option, left, right = unpacked(choices[I + head * row + end, rank])
        if option == 0:
            neighbour = head + 1 if head < end else head - 1
            span_heads[depth], span_ends[depth], span_ranks[depth] = end, neighbour, right
            complete[depth] = 1
            depth += 1
            continue
        sibling = min(head, end) + option
        span_heads[depth], span_ends[depth], span_ranks[depth] = head, sibling, left
        complete[depth] = 0
        i, j = min(sibling, end), max(sibling, end)
        option, left, right = unpacked(choices[S + i * row + j, right])
        span_heads[depth + 1], span_ends[depth + 1], span_ranks[depth + 1] = i, i + option, left
        span_heads[depth + 2], span_ends[depth + 2] = j, i + option + 1
        span_ranks[depth + 2] = right
        complete[depth + 1], complete[depth + 2] = 1, 1
        depth += 3
