"""The k best trees with grandparents of a sentence, compiled for the CPU.

The letters are those of `inside`. A cell, now of one grandparent, is a list of its best
derivations, each of another tree; see `treecrf.ops.projective.kbest`. The lists hold all of C, then
all of I and, with siblings, all of S: list `[head, end, grandparent]` of each.
"""

import numpy as np

from treecrf.ops.grandparent.inside import (
    Batch,
    Sentence,
    grandparent_scores,
    part_of,
    sentence_of,
    split_points,
)
from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import LANES, Integers
from treecrf.ops.numba.packing import Siblings
from treecrf.ops.projective.inside import push
from treecrf.ops.projective.kbest import Heap, Lists, Options, merge, unpacked


@kernel
def best_lists(batch: Batch, siblings: Siblings, sentences: Integers, heads: Integers) -> None:
    """Fill `heads [batch, rank, token]`, which holds -1."""
    lengths, tokens = batch[2], batch[3]
    most, k = lengths[sentences].max(), heads.shape[1]
    cells = (2 if siblings is None else 3) * (most + 1) ** 3
    lists = np.empty((cells, k)), np.empty((cells, k), np.int64), np.empty(cells, np.int64)
    options = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    heap = np.empty(most + k), np.empty(most + k, np.int64)
    spans = np.empty((4, 5 * most + 1), np.int64)
    for sentence in sentences:
        n = lengths[sentence]
        own, beside = sentence_of(batch, sentence), part_of(siblings, sentence, tokens**3)
        inside_lists(own, beside, lists, options, heap)
        for rank in range(lists[2][n * (n + 1)]):
            backtrack(lists, beside, n, rank, spans, heads[sentence, rank])


@compiled
def inside_lists(
    sentence: Sentence, siblings: Siblings, lists: Lists, options: Options, heap: Heap
) -> None:
    n = sentence[2]
    _, _, counts = lists
    row = n + 1
    I, S = row**3, 2 * row**3
    scores = np.empty((n // LANES + 1) * LANES)
    for j in range(row):
        for g in range(row):
            for cell in ((j * row + j) * row + g, I + (j * row + j) * row + g):
                lists[0][cell, 0] = 0.0
                counts[cell] = 1
        for i in range(j - 1, -1, -1):
            if i > 0 and siblings is not None:
                for h in range(row):
                    if h < i or h > j:
                        meeting_options(row, h, i, j, options)
                        merge(lists, S + (i * row + j) * row + h, options, j - i, heap)
            for head, end in ((i, j), (j, i)):
                if end == 0:
                    continue
                possible = grandparent_scores(sentence, head, end, scores)
                for g in range(row):
                    if (g > 0) if head == 0 else (i <= g <= j):
                        continue
                    cell = (head * row + end) * row + g
                    counts[cell] = counts[I + cell] = 0
                    if possible and scores[g] > -np.inf:
                        count = arc_options(sentence, siblings, g, head, end, scores[g], options)
                        merge(lists, I + cell, options, count, heap)
                    if head > 0 or end == n or sentence[4]:
                        last_child_options(row, g, head, end, options)
                        merge(lists, cell, options, j - i, heap)


@compiled
def meeting_options(row: int, h: int, i: int, j: int, options: Options) -> None:
    """S^h[i, j] = max_{i <= r < j} C^h[i, r] + C^h[j, r + 1]"""
    left, right, additional = options
    for r in range(i, j):
        left[r - i], right[r - i] = (i * row + r) * row + h, (j * row + r + 1) * row + h
        additional[r - i] = 0.0


@compiled
def last_child_options(row: int, g: int, head: int, end: int, options: Options) -> None:
    """C^g[i, j] = max_{i < r <= j} I^g[i, r] + C^i[r, j];  C^g[j, i] with i <= r < j"""
    left, right, additional = options
    first = min(head, end) + (1 if head < end else 0)
    for option in range(abs(end - head)):
        r = first + option
        left[option] = row**3 + (head * row + r) * row + g
        right[option] = (r * row + end) * row + head
        additional[option] = 0.0


@compiled
def arc_options(
    sentence: Sentence,
    siblings: Siblings,
    g: int,
    head: int,
    end: int,
    score: float,
    options: Options,
) -> int:
    """I^g[i, j] as in `inside`, with the score of the arc; returns the number of options."""
    n, tokens, multiroot = sentence[2], sentence[3], sentence[4]
    left, right, additional = options
    row = n + 1
    i, j = min(head, end), max(head, end)
    if siblings is None:
        # C^g[i, r] + C^i[j, r + 1] or C^g[j, r + 1] + C^j[i, r], i <= r < j
        for r in range(i, j):
            by_i, by_j = (i * row + r) * row, (j * row + r + 1) * row
            left[r - i] = by_i + g if head == i else by_j + g
            right[r - i] = by_j + head if head == i else by_i + head
            additional[r - i] = score
        return j - i
    # C^i[j, i + 1] or I^g[i, r] + S^i[r, j] + s(i, r, j), and leftwards likewise
    left[0] = (head * row + head) * row + g
    right[0] = (end * row + (i + 1 if head == i else j - 1)) * row + head
    additional[0] = score
    count = split_points(head, j - i, multiroot, siblings)
    first = (end * tokens + head) * tokens
    for option in range(1, count):
        r = i + option
        left[option] = row**3 + (head * row + r) * row + g
        right[option] = 2 * row**3 + (min(r, end) * row + max(r, end)) * row + head
        additional[option] = score + siblings[first + r]
    return count


@compiled
def backtrack(
    lists: Lists, siblings: Siblings, n: int, rank: int, spans: Integers, heads: Integers
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
        i, j = min(head, end), max(head, end)
        cell = (head * row + end) * row + heads[head]
        if complete:
            option, left, right = unpacked(choices[cell, rank])
            child = i + option + (1 if head == i else 0)
            heads[child] = head
            depth = push(spans, depth, head, child, 0, left)
            depth = push(spans, depth, child, end, 1, right)
            continue
        option, left, right = unpacked(choices[row**3 + cell, rank])
        if siblings is None:
            by_i, by_j = (left, right) if head == i else (right, left)
            depth = push(spans, depth, i, i + option, 1, by_i)
            depth = push(spans, depth, j, i + option + 1, 1, by_j)
            continue
        if option == 0:
            depth = push(spans, depth, end, i + 1 if head == i else j - 1, 1, right)
            continue
        sibling = i + option
        heads[sibling] = head
        depth = push(spans, depth, head, sibling, 0, left)
        i, j = min(sibling, end), max(sibling, end)
        option, left, right = unpacked(choices[2 * row**3 + (i * row + j) * row + head, right])
        depth = push(spans, depth, i, i + option, 1, left)
        depth = push(spans, depth, j, i + option + 1, 1, right)
