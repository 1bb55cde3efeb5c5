"""The k best projective trees of a sentence, compiled for the CPU.

The letters are those of `inside`. A cell is a list of its best derivations, each of another tree.
The lists hold all of `C`, then all of `S`, then all of `I`; without siblings, `I` is `S` plus the
score of the arc.
"""

import numpy as np

from treecrf.ops.constants import MOST_TREES
from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import Floats, Integers
from treecrf.ops.numba.packing import Batch, Siblings
from treecrf.ops.projective.inside import push, sentence_part, siblings_between

Lists = tuple[Floats, Integers, Integers]
"""Best derivations of each cell, best first: scores and choices, both `[cell, rank]`, and their
number `[cell]`."""

Options = tuple[Integers, Integers, Floats]
"""Ways to make one cell: a left cell, a right cell and an additional score for each."""

Heap = tuple[Floats, Integers]  # scores and choices of pairs, the best first

# A choice is an option, a rank in its left cell and a rank in its right cell.
RANK_BITS = MOST_TREES.bit_length() - 1
RANK_MASK = MOST_TREES - 1


@kernel
def best_lists(
    batch: Batch, sibling_scores: Siblings, sentences: Integers, heads: Integers
) -> None:
    """Fill `heads [batch, rank, token]`, which holds -1."""
    arc_scores, lengths, tokens, multiroot = batch
    most, k = lengths[sentences].max(), heads.shape[1]
    cells = (2 if sibling_scores is None else 3) * (most + 1) ** 2
    lists = np.empty((cells, k)), np.empty((cells, k), np.int64), np.empty(cells, np.int64)
    options = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    heap = np.empty(most + k), np.empty(most + k, np.int64)
    spans = np.empty((4, 5 * most + 1), np.int64)
    for sentence in sentences:
        n = lengths[sentence]
        arcs = arc_scores[sentence * tokens**2 : (sentence + 1) * tokens**2]
        siblings = sentence_part(sibling_scores, sentence, tokens)
        inside_lists(arcs, siblings, n, tokens, multiroot, lists, options, heap)
        for rank in range(lists[2][n]):
            backtrack(lists, siblings, n, rank, spans, heads[sentence, rank])


@compiled
def inside_lists(
    arc_scores: Floats,
    sibling_scores: Siblings,
    n: int,
    tokens: int,
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
                    arc = arc_scores[end * tokens + head]
                    first = (end * tokens + head) * tokens
                    left[0], right[0], additional[0] = head * row + head, end * row + neighbour, arc
                    for r in range(i + 1, i + 1 + between):
                        left[r - i] = incomplete(head, r, row, sibling_scores)
                        right[r - i] = S + min(r, end) * row + max(r, end)
                        additional[r - i] = sibling_scores[first + r] + arc
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
                    additional[option] = (
                        arc_scores[r * tokens + head] if sibling_scores is None else 0.0
                    )
                merge(lists, head * row + end, options, j - i, heap)


@compiled
def incomplete(head: int, end: int, row: int, sibling_scores: Siblings) -> int:
    """Cell of I[head, end], which without siblings is that of S."""
    if sibling_scores is None:
        return (row + min(head, end)) * row + max(head, end)
    return (2 * row + head) * row + end


@compiled
def backtrack(
    lists: Lists, sibling_scores: Siblings, n: int, rank: int, spans: Integers, heads: Integers
) -> None:
    """Write the tree of one rank; `spans` is a stack for `push`."""
    choices = lists[1]
    row = n + 1
    heads[:] = 0
    depth = push(spans, 0, 0, n, 1, rank)
    while depth > 0:
        depth -= 1
        head, end, complete = spans[0, depth], spans[1, depth], spans[2, depth]
        rank = spans[3, depth]
        if head == end:
            continue
        if complete:
            option, left, right = unpacked(choices[head * row + end, rank])
            child = head + 1 + option if head < end else end + option
            depth = push(spans, depth, head, child, 0, left)
            depth = push(spans, depth, child, end, 1, right)
            continue
        heads[end] = head
        sibling = head
        if sibling_scores is not None:
            option, left, rank = unpacked(choices[incomplete(head, end, row, sibling_scores), rank])
            if option == 0:
                depth = push(spans, depth, end, head + 1 if head < end else head - 1, 1, rank)
                continue
            sibling = min(head, end) + option
            depth = push(spans, depth, head, sibling, 0, left)
        i, j = min(sibling, end), max(sibling, end)
        option, left, right = unpacked(choices[(row + i) * row + j, rank])
        depth = push(spans, depth, i, i + option, 1, left)
        depth = push(spans, depth, j, i + option + 1, 1, right)


@compiled
def packed(option: int, a: int, b: int) -> int:
    return (((option << RANK_BITS) | a) << RANK_BITS) | b


@compiled
def unpacked(choice: int) -> tuple[int, int, int]:
    """Option, rank in its left cell and rank in its right cell."""
    return choice >> 2 * RANK_BITS, (choice >> RANK_BITS) & RANK_MASK, choice & RANK_MASK


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
            size = add(lists, options, option, 0, 0, heap, size)
    rank = 0
    while size > 0 and rank < scores.shape[1]:
        scores[cell, rank], choices[cell, rank] = heap[0][0], heap[1][0]
        option, a, b = unpacked(choices[cell, rank])
        rank += 1
        size = pop(heap, size)
        if b + 1 < counts[right[option]]:
            size = add(lists, options, option, a, b + 1, heap, size)
        if b == 0 and a + 1 < counts[left[option]]:
            size = add(lists, options, option, a + 1, 0, heap, size)
    counts[cell] = rank


@compiled
def add(lists: Lists, options: Options, option: int, a: int, b: int, heap: Heap, size: int) -> int:
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
