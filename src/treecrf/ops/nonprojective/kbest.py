"""The k best spanning trees by Lawler's partition, compiled with Numba.

Without its best tree, a set of trees falls into one set for each word i: the trees with the same
heads of the words before i and another head of i. The best of each is a maximum spanning tree.
"""

import numpy as np

from treecrf.ops.nonprojective.mst import best_tree
from treecrf.ops.nonprojective.widefloat import Flags, Floats, Integers
from treecrf.ops.numba.compiling import compiled, kernel


@compiled
def tree_score(scores: Floats, heads: Integers, words: int) -> float:
    """Sum of the scores of a tree's arcs."""
    score = 0.0
    for word in range(1, words + 1):
        score += scores[word, heads[word]]
    return score


@compiled
def k_best(scores: Floats, words: int, multiroot: bool, heads: Integers) -> None:
    """Fill `heads [k, N]`, which holds zeros, from `scores [dependent, head]`."""
    k, tokens = heads.shape[0], words + 1
    # Of each set: its best tree, the number of words with a given head, banned heads of the next.
    trees = np.zeros((k, tokens), dtype=np.int64)
    values = np.full(k, -np.inf)
    given = np.zeros(k, dtype=np.int64)
    forbidden = np.zeros((k, tokens), dtype=np.bool_)
    work = scores.copy()
    tree = np.zeros(tokens, dtype=np.int64)
    banned = np.zeros(tokens, dtype=np.bool_)
    if best_tree(work, words, multiroot, trees[0]):
        values[0] = tree_score(scores, trees[0], words)
    for rank in range(k):
        best = int(np.argmax(values))
        if values[best] == -np.inf:
            heads[rank:] = -1
            return
        found = heads[rank, :tokens]
        found[:] = trees[best]
        values[best] = -np.inf
        if rank == k - 1:
            return
        first = given[best] + 1
        banned[:] = forbidden[best]
        for word in range(first, tokens):
            banned[found[word]] = True
            restrict(scores, found, word, banned, work)
            if best_tree(work, words, multiroot, tree):
                # At most k sets are needed: a better one replaces the worst.
                value, worst = tree_score(scores, tree, words), int(np.argmin(values))
                if value > values[worst]:
                    values[worst], given[worst] = value, word - 1
                    trees[worst], forbidden[worst] = tree, banned
            banned[:] = False


@compiled
def restrict(scores: Floats, tree: Integers, word: int, banned: Flags, work: Floats) -> None:
    """Fill `work` with the scores of trees with the same heads before a word, and none banned."""
    for dependent in range(1, scores.shape[0]):
        if dependent < word:
            work[dependent] = -np.inf
            work[dependent, tree[dependent]] = scores[dependent, tree[dependent]]
        else:
            work[dependent] = scores[dependent]
    for head in range(scores.shape[0]):
        if banned[head]:
            work[word, head] = -np.inf


@kernel
def k_best_trees(
    sentences: Integers, arc_scores: Floats, lengths: Integers, multiroot: bool, heads: Integers
) -> None:
    """Fill `heads [batch, k, N]`, which holds zeros, for these sentences."""
    for sentence in sentences:
        tokens = lengths[sentence] + 1
        scores = arc_scores[sentence, :tokens, :tokens].copy()
        k_best(scores, tokens - 1, multiroot, heads[sentence])
