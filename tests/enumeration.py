"""Every tree of a short sentence by brute force: the ground truth of the tests."""

import itertools
from functools import cache

import torch

Tree = tuple[int, ...]


def is_tree(heads: Tree) -> bool:
    """Whether every word reaches the root symbol."""
    for word in range(1, len(heads)):
        ancestor, steps = word, 0
        while ancestor != 0:
            ancestor, steps = heads[ancestor], steps + 1
            if steps > len(heads):
                return False
    return True


def is_projective(heads: Tree) -> bool:
    """Whether no two arcs cross."""
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads) if m > 0]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


@cache
def all_trees(words: int, *, projective: bool, multiroot: bool) -> tuple[Tree, ...]:
    """Head sequences (root entry first) of every tree over so many words."""
    trees = []
    for choice in itertools.product(range(words + 1), repeat=words):
        heads = (0, *choice)
        if not multiroot and choice.count(0) != 1 and words > 0:
            continue
        if is_tree(heads) and (not projective or is_projective(heads)):
            trees.append(heads)
    return tuple(trees)


def adjacent_sibling(heads: Tree, dependent: int) -> int:
    """The nearest child of the same head between head and dependent, or 0 when there is none."""
    head = heads[dependent]
    step = 1 if head < dependent else -1
    for word in range(dependent - step, head, -step):
        if heads[word] == head:
            return word
    return 0


def tree_score(
    heads: Tree,
    arc_scores: torch.Tensor,
    sibling_scores: torch.Tensor | None = None,
    grandparent_scores: torch.Tensor | None = None,
) -> torch.Tensor:
    """Score of one tree, by `[dependent, head]` and `[dependent, head, sibling or grandparent]`."""
    score = arc_scores.new_zeros(())
    for dependent in range(1, len(heads)):
        head = heads[dependent]
        score = score + arc_scores[dependent, head]
        if sibling_scores is not None:
            sibling = adjacent_sibling(heads, dependent)
            if sibling:
                score = score + sibling_scores[dependent, head, sibling]
        if grandparent_scores is not None and head:
            score = score + grandparent_scores[dependent, head, heads[head]]
    return score
