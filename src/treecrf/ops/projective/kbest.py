"""The k best projective trees of a sentence, compiled for the CPU.

The letters are those of `inside`. A cell is a list of its best derivations, each of another tree.
With grandparents a span has a list for each head of its head, as in `treecrf.ops.grandparent`; in
the first order, I[i, j] and I[j, i] are one list, and the scores of their arcs come in with C.
"""

import numpy as np

from treecrf.ops.constants import MOST_TREES
from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import Floats, Integers
from treecrf.ops.numba.packing import Batch, Siblings
from treecrf.ops.projective.inside import push, sentence_part, siblings_between

Grandparents = Floats | None
"""Flat scores `[batch * dependent * head * grandparent]`; None without grandparents."""

Sentence = tuple[Floats, int, int, bool]
"""Flat arc scores, words, the tokens of a row of the scores, and whether there are many roots."""

Shape = tuple[int, int, bool]
"""Tokens, grandparents of a span (one for none), and whether I[i, j] and I[j, i] are one cell."""

Lists = tuple[Floats, Integers, Integers]
"""Best derivations of each cell, best first: scores and choices, both `[cell, rank]`, and their
number `[cell]`."""

Options = tuple[Integers, Integers, Floats]
"""Ways to make one cell: a left cell, a right cell and an additional score for each."""

Heap = tuple[Floats, Integers]  # scores and choices of pairs, the best first

C, I, S = 0, 1, 2  # charts, one after the other

# A choice is an option, a rank in its left cell and a rank in its right cell.
RANK_BITS = MOST_TREES.bit_length() - 1
RANK_MASK = MOST_TREES - 1


@kernel
def best_lists(
    batch: Batch,
    siblings: Siblings,
    grandparents: Grandparents,
    sentences: Integers,
    heads: Integers,
) -> None:
    """Fill `heads [batch, rank, token]`, which holds -1."""
    arc_scores, lengths, tokens, multiroot = batch
    most, k = lengths[sentences].max(), heads.shape[1]
    cells = cell_of(2 if siblings is None else 3, 0, 0, 0, shape_of(most, siblings, grandparents))
    lists = np.empty((cells, k)), np.empty((cells, k), np.int64), np.empty(cells, np.int64)
    options = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    heap = np.empty(most + k), np.empty(most + k, np.int64)
    spans = np.empty((4, 5 * most + 1), np.int64)
    for sentence in sentences:
        n = lengths[sentence]
        own = arc_scores[sentence * tokens**2 : (sentence + 1) * tokens**2], n, tokens, multiroot
        beside = sentence_part(siblings, sentence, tokens)
        above = sentence_part(grandparents, sentence, tokens)
        shape = shape_of(n, siblings, grandparents)
        inside_lists(own, beside, above, shape, lists, options, heap)
        for rank in range(lists[2][cell_of(C, 0, n, 0, shape)]):
            backtrack(lists, beside, shape, rank, spans, heads[sentence, rank])


@compiled
def shape_of(n: int, siblings: Siblings, grandparents: Grandparents) -> Shape:
    """Shape of the charts of n words."""
    above = 1 if grandparents is None else n + 1
    return n + 1, above, siblings is None and grandparents is None


@compiled
def cell_of(chart: int, a: int, b: int, g: int, shape: Shape) -> int:
    """Number of C^g[a, b], I^g[a, b] or S^g[a, b]; g is any number where there is one alone."""
    row, above, is_first_order = shape
    if is_first_order and chart == I:
        a, b = min(a, b), max(a, b)
    return ((chart * row + a) * row + b) * above + min(g, above - 1)


@compiled
def can_be_above(g: int, head: int, i: int, j: int) -> bool:
    """Whether g may be the head of the head of a span from i to j; 0 stands for none."""
    return g == 0 if head == 0 else g < i or g > j


@compiled
def inside_lists(
    sentence: Sentence,
    siblings: Siblings,
    grandparents: Grandparents,
    shape: Shape,
    lists: Lists,
    options: Options,
    heap: Heap,
) -> None:
    """List the derivations of all cells."""
    _, n, _, multiroot = sentence
    scores, _, counts = lists
    row, above, _ = shape
    for j in range(row):
        for g in range(above):
            cell = cell_of(C, j, j, g, shape)
            scores[cell, 0] = 0.0
            counts[cell] = 1
        for i in range(j - 1, -1, -1):
            if siblings is not None and i > 0:
                # S^h[i, j] = max_{i <= r < j} C^h[i, r] + C^h[j, r + 1]
                for h in range(above):
                    if above == 1 or can_be_above(h, i, i, j):
                        meet(options, i, j, (h, h), 0.0, shape)
                        merge(lists, cell_of(S, i, j, h, shape), options, j - i, heap)
            if siblings is None and grandparents is None:
                meet(options, i, j, (0, 0), 0.0, shape)
                merge(lists, cell_of(I, i, j, 0, shape), options, j - i, heap)
            for head, end in ((i, j), (j, i)):
                if end == 0:
                    continue
                for g in range(above):
                    if above > 1 and not can_be_above(g, head, i, j):
                        continue
                    if siblings is not None or grandparents is not None:
                        arc = arc_score(sentence, grandparents, head, end, g)
                        cell = cell_of(I, head, end, g, shape)
                        counts[cell] = 0
                        if arc > -np.inf:
                            count = children(options, sentence, siblings, head, end, g, arc, shape)
                            merge(lists, cell, options, count, heap)
                    cell = cell_of(C, head, end, g, shape)
                    counts[cell] = 0
                    if head > 0 or end == n or multiroot:
                        last_child(options, sentence, head, end, g, shape)
                        merge(lists, cell, options, j - i, heap)


@compiled
def arc_score(
    sentence: Sentence, grandparents: Grandparents, head: int, dependent: int, g: int
) -> float:
    """Score of an arc, with that of its grandparent; -inf or NaN if it is impossible."""
    arcs, _, tokens, _ = sentence
    arc = arcs[dependent * tokens + head]
    if grandparents is None or head == 0:
        return arc
    possible = arcs[head * tokens + g] > -np.inf
    return arc + grandparents[(dependent * tokens + head) * tokens + g] if possible else -np.inf


@compiled
def meet(
    options: Options, i: int, j: int, above: tuple[int, int], score: float, shape: Shape
) -> None:
    """C^g[i, r] + C^h[j, r + 1] + score, i <= r < j, with g and h above i and j"""
    left, right, additional = options
    for r in range(i, j):
        left[r - i] = cell_of(C, i, r, above[0], shape)
        right[r - i] = cell_of(C, j, r + 1, above[1], shape)
        additional[r - i] = score


@compiled
def children(
    options: Options,
    sentence: Sentence,
    siblings: Siblings,
    head: int,
    end: int,
    g: int,
    arc: float,
    shape: Shape,
) -> int:
    """Options of I^g[head, end] with the score of its arc; returns their number."""
    _, _, tokens, multiroot = sentence
    left, right, additional = options
    i, j = min(head, end), max(head, end)
    if siblings is None:
        # C^g[i, r] + C^i[j, r + 1] or C^j[i, r] + C^g[j, r + 1], i <= r < j
        meet(options, i, j, (g, head) if head == i else (head, g), arc, shape)
        return j - i
    # C^i[j, i + 1] or I^g[i, r] + S^i[r, j] + s(i, r, j), i < r < j
    # C^j[i, j - 1] or I^g[j, r] + S^j[i, r] + s(j, r, i), i < r < j
    left[0] = cell_of(C, head, head, g, shape)
    right[0] = cell_of(C, end, i + 1 if head == i else j - 1, head, shape)
    additional[0] = arc
    between = siblings_between(i, j, multiroot)
    first = (end * tokens + head) * tokens
    for r in range(i + 1, i + 1 + between):
        left[r - i] = cell_of(I, head, r, g, shape)
        right[r - i] = cell_of(S, min(r, end), max(r, end), head, shape)
        additional[r - i] = siblings[first + r] + arc
    return 1 + between


@compiled
def last_child(
    options: Options, sentence: Sentence, head: int, end: int, g: int, shape: Shape
) -> None:
    """I^g[i, r] + C^i[r, j], i < r <= j, or I^g[j, r] + C^j[r, i], i <= r < j"""
    arcs, _, tokens, _ = sentence
    left, right, additional = options
    first = head + 1 if head < end else end
    for option in range(abs(end - head)):
        r = first + option
        left[option] = cell_of(I, head, r, g, shape)
        right[option] = cell_of(C, r, end, head, shape)
        additional[option] = arcs[r * tokens + head] if shape[2] else 0.0


@compiled
def backtrack(
    lists: Lists, siblings: Siblings, shape: Shape, rank: int, spans: Integers, heads: Integers
) -> None:
    """Write the tree of one rank; `spans` is a stack for `push`."""
    choices = lists[1]
    heads[:] = 0
    depth = push(spans, 0, 0, shape[0] - 1, 1, rank)
    while depth > 0:
        depth -= 1
        head, end, complete = spans[0, depth], spans[1, depth], spans[2, depth]
        rank = spans[3, depth]
        if head == end:
            continue
        # The head of the head is known: spans above come first.
        cell = cell_of(C if complete else I, head, end, heads[head], shape)
        option, left, right = unpacked(choices[cell, rank])
        if complete:
            child = head + 1 + option if head < end else end + option
            heads[child] = head
            depth = push(spans, depth, head, child, 0, left)
            depth = push(spans, depth, child, end, 1, right)
            continue
        i, j = min(head, end), max(head, end)
        if siblings is not None:
            if option == 0:
                depth = push(spans, depth, end, i + 1 if head == i else j - 1, 1, right)
                continue
            sibling = i + option
            heads[sibling] = head
            depth = push(spans, depth, head, sibling, 0, left)
            i, j = min(sibling, end), max(sibling, end)
            option, left, right = unpacked(choices[cell_of(S, i, j, head, shape), right])
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
