"""The k best projective trees of a sentence, compiled for the CPU.

The letters are those of `inside`. A cell is a list of its best derivations, each of another tree.
The lists hold all of `C`, then all of `S`, then all of `I`; without siblings, `I` is `S` plus the
score of the arc.
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
from treecrf.ops.projective.inside import siblings_between

__all__ = ["best_lists"]


@kernel
def best_lists(
    arc_scores: Floats,
    sibling_scores: Floats | None,
    lengths: Integers,
    sentences: Integers,
    multiroot: bool,
    heads: Integers,
) -> None:
    """Fill `heads [batch, rank, token]`, which holds -1.

    The scores are `[batch, dependent, head]` and `[batch, dependent, head, sibling]`.
    """
    most = 0
    for sentence in sentences:
        most = max(most, lengths[sentence])
    k = heads.shape[1]
    charts = 2 if sibling_scores is None else 3
    lists = new_lists(charts * (most + 1) ** 2, k)
    options = new_options(most)
    heap = new_heap(most + k)
    spans = np.empty((4, 5 * most + 1), np.int64)
    for sentence in sentences:
        n = lengths[sentence]
        siblings = sentence_part(sibling_scores, sentence)
        inside_lists(arc_scores[sentence], siblings, n, multiroot, lists, options, heap)
        for rank in range(lists[2][n]):
            backtrack(lists, siblings, n, rank, spans, heads[sentence, rank])


@compiled
def sentence_part(sibling_scores: Floats | None, sentence: int) -> Floats | None:
    """Sibling scores of one sentence."""
    return None if sibling_scores is None else sibling_scores[sentence]


@compiled
def inside_lists(
    arc_scores: Floats,
    sibling_scores: Floats | None,
    n: int,
    multiroot: bool,
    lists: Lists,
    options: Options,
    heap: Heap,
) -> None:
    scores, _, counts = lists
    left, right, additional = options
    row = n + 1
    S = row * row
    for j in range(row):
        scores[j * row + j, 0] = 0.0
        counts[j * row + j] = 1
        for i in range(j - 1, -1, -1):
            if sibling_scores is not None:
                # I[i, j] = max(C[i, i] + C[j, i + 1], I[i, r] + S[r, j] + s(i, r, j)) + s(i -> j)
                # I[j, i] = max(C[j, j] + C[i, j - 1], I[j, r] + S[i, r] + s(j, r, i)) + s(j -> i)
                between = siblings_between(i, j, multiroot)
                for head, end, neighbour in ((i, j, i + 1), (j, i, j - 1)):
                    arc = arc_scores[end, head]
                    left[0], right[0] = head * row + head, end * row + neighbour
                    additional[0] = arc
                    for r in range(i + 1, i + 1 + between):
                        left[r - i] = incomplete(head, r, row, sibling_scores)
                        right[r - i] = S + min(r, end) * row + max(r, end)
                        additional[r - i] = sibling_scores[end, head, r] + arc
                    cell = incomplete(head, end, row, sibling_scores)
                    merge(lists, cell, options, 1 + between, heap)
            # S[i, j] = max_{i <= r < j} C[i, r] + C[j, r + 1]
            for r in range(i, j):
                left[r - i], right[r - i], additional[r - i] = i * row + r, j * row + r + 1, 0.0
            merge(lists, S + i * row + j, options, j - i, heap)
            # C[i, j] = max_{i < r <= j} I[i, r] + C[r, j]
            # C[j, i] = max_{i <= r < j} I[j, r] + C[r, i]
            for head, end, first in ((i, j, i + 1), (j, i, i)):
                if head == 0 and end < n and not multiroot:
                    counts[end] = 0
                    continue
                for option in range(j - i):
                    r = first + option
                    left[option] = incomplete(head, r, row, sibling_scores)
                    right[option] = r * row + end
                    additional[option] = arc_scores[r, head] if sibling_scores is None else 0.0
                merge(lists, head * row + end, options, j - i, heap)


@compiled
def incomplete(head: int, end: int, row: int, sibling_scores: Floats | None) -> int:
    """Cell of I[head, end], which without siblings is that of S."""
    if sibling_scores is None:
        return (row + min(head, end)) * row + max(head, end)
    return (2 * row + head) * row + end


@compiled
def backtrack(
    lists: Lists, sibling_scores: Floats | None, n: int, rank: int, spans: Integers, heads: Integers
) -> None:
    """Write the tree of one rank; `spans` is a stack: heads, ends, ranks, whether complete."""
    choices = lists[1]
    row = n + 1
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
        sibling = head
        if sibling_scores is not None:
            option, left, rank = unpacked(choices[incomplete(head, end, row, sibling_scores), rank])
            if option == 0:
                neighbour = head + 1 if head < end else head - 1
                span_heads[depth], span_ends[depth], span_ranks[depth] = end, neighbour, rank
                complete[depth] = 1
                depth += 1
                continue
            sibling = min(head, end) + option
            span_heads[depth], span_ends[depth], span_ranks[depth] = head, sibling, left
            complete[depth] = 0
            depth += 1
        i, j = min(sibling, end), max(sibling, end)
        option, left, right = unpacked(choices[(row + i) * row + j, rank])
        span_heads[depth], span_ends[depth], span_ranks[depth] = i, i + option, left
        span_heads[depth + 1], span_ends[depth + 1] = j, i + option + 1
        span_ranks[depth + 1] = right
        complete[depth], complete[depth + 1] = 1, 1
        depth += 2
