"""Maximum spanning trees by Chu-Liu/Edmonds in O(n^2), compiled with Numba.

Tarjan's version for dense graphs: a path of nodes grows backwards, each by its best incoming arc; a
cycle on it is contracted to one node; a path that reaches the root symbol, or an earlier path that
did, is finished; in the end the nodes are expanded, the last made first.

Single root: trees are ordered by (fewest arcs from the root symbol, highest score). The algorithm
is correct in any ordered group, so also for such pairs. A cycle never contains the root symbol,
hence they come down to this: an arc from the root symbol is taken only where there is no other.
"""

import numpy as np

from treecrf.ops.nonprojective.widefloat import Flags, Floats, Integers
from treecrf.ops.numba.compiling import compiled, kernel

FINISHED = -1


@compiled
def best_tree(scores: Floats, words: int, multiroot: bool, heads: Integers) -> bool:
    """Fill `heads [words + 1]`; returns whether there is a tree. The scores are overwritten."""
    tokens = words + 1
    # A node is a token or, from `tokens` on, a contracted cycle. Row `row[node]` of `scores` has
    # its best incoming arcs by their head, relative to the arcs of the cycles that it stands for,
    # and that of `entry` says into which token each goes.
    row = np.empty(2 * tokens, dtype=np.int64)
    parent = np.full(2 * tokens, -1)
    best_head, best_entry = np.zeros(2 * tokens, dtype=np.int64), np.zeros(2 * tokens, np.int64)
    best_score = np.zeros(2 * tokens)
    entry = np.empty((tokens, tokens), dtype=np.int64)
    node_of = np.arange(tokens)
    place = np.zeros(2 * tokens, dtype=np.int64)  # on the path, from 1 on; 0 is not yet visited
    place[0] = FINISHED
    path = np.empty(tokens, dtype=np.int64)
    in_cycle = np.zeros(2 * tokens, dtype=np.bool_)
    for token in range(tokens):
        row[token] = token
        entry[token] = token
    nodes = tokens

    for start in range(1, tokens):
        if place[node_of[start]] == FINISHED:
            continue
        length = 1
        path[0] = start
        place[start] = 1
        while length > 0:
            node = path[length - 1]
            head = best_incoming(scores[row[node]], node, node_of, multiroot)
            if head < 0:
                return False
            best_head[node], best_entry[node] = head, entry[row[node], head]
            best_score[node] = scores[row[node], head]
            source = node_of[head]
            if place[source] == 0:
                path[length] = source
                length += 1
                place[source] = length
            elif place[source] == FINISHED:
                for index in range(length):
                    place[path[index]] = FINISHED
                length = 0
            else:
                first = place[source] - 1
                contract(
                    path[first:length], nodes, scores, entry, row, best_score, node_of, in_cycle
                )
                for index in range(first, length):
                    parent[path[index]] = nodes
                path[first] = nodes
                length = first + 1
                place[nodes] = length
                nodes += 1

    expand(nodes, parent, best_head, best_entry, heads)
    roots = 0
    for word in range(1, tokens):
        roots += heads[word] == 0
    return multiroot or roots <= 1


@compiled
def best_incoming(scores: Floats, node: int, node_of: Integers, multiroot: bool) -> int:
    """Head of the best arc into a node from outside, -1 when there is none."""
    best, best_score = -1, -np.inf
    for head in range(0 if multiroot else 1, scores.shape[0]):
        if scores[head] > best_score and node_of[head] != node:
            best, best_score = head, scores[head]
    if best < 0 and scores[0] > -np.inf:
        best = 0
    return best


@compiled
def contract(
    cycle: Integers,
    node: int,
    scores: Floats,
    entry: Integers,
    row: Integers,
    best_score: Floats,
    node_of: Integers,
    in_cycle: Flags,
) -> None:
    """Contract a cycle to a new node, in the row of its first member."""
    target = row[cycle[0]]
    for index in range(cycle.shape[0]):
        member = cycle[index]
        in_cycle[member] = True
        other, dropped = row[member], best_score[member]
        # An arc into a member replaces the member's arc on the cycle.
        if index == 0:
            for head in range(scores.shape[1]):
                scores[target, head] -= dropped
        else:
            for head in range(scores.shape[1]):
                score = scores[other, head] - dropped
                if score > scores[target, head]:
                    scores[target, head] = score
                    entry[target, head] = entry[other, head]
    row[node] = target
    for token in range(node_of.shape[0]):
        if in_cycle[node_of[token]]:
            node_of[token] = node


@compiled
def expand(
    nodes: int, parent: Integers, best_head: Integers, best_entry: Integers, heads: Integers
) -> None:
    """Fill `heads`: the arc into a cycle replaces the one on it into the same member."""
    replaced = np.zeros(nodes, dtype=np.bool_)
    heads[0] = 0
    for node in range(nodes - 1, 0, -1):
        if replaced[node]:
            continue
        word = best_entry[node]
        heads[word] = best_head[node]
        member = word
        while member != node:
            replaced[member] = True
            member = parent[member]


@kernel
def best_trees(
    sentences: Integers, arc_scores: Floats, lengths: Integers, multiroot: bool, heads: Integers
) -> None:
    """Fill `heads [batch, N]`, which holds zeros, for these sentences."""
    for sentence in sentences:
        tokens = lengths[sentence] + 1
        scores = arc_scores[sentence, :tokens, :tokens].copy()
        if not best_tree(scores, tokens - 1, multiroot, heads[sentence]):
            heads[sentence] = -1
