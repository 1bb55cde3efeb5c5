"""Properties of trees: validity, crossing arcs, descendants, adjacent siblings.

A tree is a head sequence: `heads[m]` is the head of token `m`, token 0 is the root symbol and its
own entry is 0, and -1 is an unannotated head. An arc is named by its dependent.
"""

from collections.abc import Callable, Sequence

from treecrf.treebank.errors import TreebankError

__all__ = [
    "adjacent_siblings",
    "descent",
    "find_cycle",
    "is_projective",
    "is_tree",
    "nonprojective_arcs",
    "roots",
]


def roots(heads: Sequence[int]) -> list[int]:
    """The words whose head is the root symbol."""
    return [word for word in range(1, len(heads)) if heads[word] == 0]


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The words of a cycle, each followed by its head; empty where there is none."""
    seen_from = [0] * len(heads)
    for start in range(1, len(heads)):
        word = start
        while word > 0 and not seen_from[word]:
            seen_from[word] = start
            word = heads[word]
        if word > 0 and seen_from[word] == start:
            cycle = [word]
            while heads[cycle[-1]] != word:
                cycle.append(heads[cycle[-1]])
            return cycle
    return []


def is_tree(heads: Sequence[int], *, multiroot: bool = False) -> bool:
    """Whether the heads are in the sentence, without a cycle, and with one root unless `multiroot`.

    A partial tree is one if unannotated heads could make it one.
    """
    return (
        len(heads) > 0
        and heads[0] == 0
        and all(-1 <= head < len(heads) for head in heads)
        and (multiroot or len(roots(heads)) <= 1)
        and not find_cycle(heads)
    )


def is_projective(heads: Sequence[int]) -> bool:
    """Whether no arcs of the tree cross, those of the root symbol included.

    A partial tree is projective if it is part of a projective tree: no two of its arcs cross, and
    no word without a head stands below an arc of its own descendants, where no head could reach it.
    """
    tops = _tops(heads) if -1 in heads else None
    arcs = []
    for word in range(1, len(heads)):
        head = heads[word]
        if head < 0:
            continue
        left, right = (head, word) if head < word else (word, head)
        if tops is not None and left < tops[word] < right:
            return False
        arcs.append((left, -right))
    arcs.sort()
    open_until: list[int] = []  # right ends of the arcs over the current place, the innermost last
    for left, minus_right in arcs:
        while open_until and open_until[-1] <= left:
            open_until.pop()
        if open_until and open_until[-1] < -minus_right:
            return False
        open_until.append(-minus_right)
    return True


def _tops(heads: Sequence[int]) -> list[int]:
    """For each token, its last ancestor: the root symbol or a word without a head."""
    tops = [-1] * len(heads)
    tops[0] = 0
    for start in range(1, len(heads)):
        path = []
        word = start
        while tops[word] < 0 and heads[word] >= 0:
            path.append(word)
            tops[word] = 0  # for now; it ends the walk around a cycle
            word = heads[word]
        top = tops[word] if tops[word] >= 0 else word
        tops[word] = top
        for word in path:
            tops[word] = top
    return tops


def nonprojective_arcs(heads: Sequence[int]) -> list[int]:
    """The words of a full tree with a word in between that does not descend from their head."""
    if -1 in heads:
        raise TreebankError("the tree is partial; non-projective arcs are those of a full tree")
    if is_projective(heads):
        return []
    first, last = descent(heads)
    lowest, highest = _Range(first, min), _Range(first, max)
    arcs = []
    for word in range(1, len(heads)):
        head = heads[word]
        left, right = (head, word) if head < word else (word, head)
        if right - left > 1 and (
            lowest(left + 1, right) < first[head] or highest(left + 1, right) > last[head]
        ):
            arcs.append(word)
    return arcs


def descent(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each token, the first and the last place in preorder of it and its descendants."""
    children: list[list[int]] = [[] for _ in heads]
    stack = [0]
    for word in range(1, len(heads)):
        if heads[word] < 0:
            stack.append(word)
        else:
            children[heads[word]].append(word)
    order = []
    while stack:
        order.append(stack.pop())
        stack += children[order[-1]]
    first = [0] * len(heads)
    last = [0] * len(heads)
    for place, token in enumerate(order):
        first[token] = last[token] = place
    for token in reversed(order):
        if token and heads[token] >= 0:
            last[heads[token]] = max(last[heads[token]], last[token])
    return first, last


class _Range:
    """The least or the greatest of any stretch of a list, by a sparse table."""

    def __init__(self, values: list[int], choose: Callable[[int, int], int]) -> None:
        self.choose = choose
        self.levels = [values]  # levels[k][i] is that of values[i : i + 2**k]
        while (width := 1 << len(self.levels)) <= len(values):
            below = self.levels[-1]
            self.levels.append(list(map(choose, below, below[width // 2 :])))

    def __call__(self, start: int, stop: int) -> int:
        level = (stop - start).bit_length() - 1
        row = self.levels[level]
        return self.choose(row[start], row[stop - (1 << level)])


def adjacent_siblings(heads: Sequence[int]) -> list[tuple[int, int, int]]:
    """Each (head, sibling, dependent): neighbours on one side of their head, the nearer first."""
    triples = []
    for order in (range(1, len(heads)), range(len(heads) - 1, 0, -1)):
        latest = [0] * len(heads)  # of each head's dependents, on the side that is gone through
        for word in order:
            head = heads[word]
            if 0 <= head != word and (head < word) == (order.step > 0):
                if latest[head]:
                    triples.append((head, latest[head], word))
                latest[head] = word
    return triples
