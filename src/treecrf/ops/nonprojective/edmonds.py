"""The maximum spanning tree of one sentence by Chu-Liu/Edmonds, in plain Python."""

NEGATIVE_INFINITY = float("-inf")

Scores = list[list[float]]
"""Of one sentence: `[dependent][head]`."""

Weight = tuple[int, float]
"""Minus the number of arcs from the root symbol, where that matters, and a score."""

Graph = dict[int, dict[int, Weight]]
"""Of each node but the root symbol, the weights of its arcs by their heads."""


def best_tree(scores: Scores, *, multiroot: bool) -> list[int] | None:
    """Heads (root entry first) of the best tree, None when there is none.

    Single root: of all trees with the fewest arcs from the root symbol the one of highest score.
    """
    graph: Graph = {
        dependent: {
            head: (0 if multiroot or head > 0 else -1, score)
            for head, score in enumerate(scores[dependent])
            if score > NEGATIVE_INFINITY
        }
        for dependent in range(1, len(scores))
    }
    heads = _spanning_tree(graph)
    if heads is None or (not multiroot and list(heads.values()).count(0) > 1):
        return None
    return [0, *(heads[dependent] for dependent in range(1, len(scores)))]


def tree_score(scores: Scores, heads: list[int]) -> float:
    """Sum of the scores of a tree's arcs."""
    return sum(scores[dependent][heads[dependent]] for dependent in range(1, len(heads)))


def _spanning_tree(graph: Graph) -> dict[int, int] | None:
    """The head of each node in the best tree, None when a node cannot be reached."""
    if not all(graph.values()):
        return None
    best = {node: max(heads, key=lambda head: heads[head]) for node, heads in graph.items()}
    cycle = _find_cycle(best)
    if not cycle:
        return best

    # One new node stands for the cycle. An arc into a member takes the place of the member's arc on
    # the cycle, so it weighs what it gains over that.
    merged = max(graph) + 1
    contracted: Graph = {merged: {}}
    enters: dict[int, int] = {}  # by head: the member that the best arc from there goes to
    leaves: dict[int, int] = {}  # by dependent: the member that the best arc to there comes from
    for node, heads in graph.items():
        if node not in cycle:
            contracted[node] = {head: w for head, w in heads.items() if head not in cycle}
            members = [head for head in heads if head in cycle]
            if members:
                leaves[node] = max(members, key=lambda head: heads[head])
                contracted[node][merged] = heads[leaves[node]]
            continue
        roots, score = heads[best[node]]
        for head, weight in heads.items():
            gain = (weight[0] - roots, weight[1] - score)
            entry = contracted[merged].get(head)
            if head not in cycle and (entry is None or gain > entry):
                contracted[merged][head] = gain
                enters[head] = node

    smaller = _spanning_tree(contracted)
    if smaller is None:
        return None
    above = smaller.pop(merged)
    tree = {node: leaves[node] if head == merged else head for node, head in smaller.items()}
    return tree | {member: best[member] for member in cycle} | {enters[above]: above}


def _find_cycle(heads: dict[int, int]) -> set[int]:
    """The nodes of a cycle, none when every node reaches the root symbol."""
    for start in heads:
        path: list[int] = []
        node = start
        while node in heads and node not in path:
            path.append(node)
            node = heads[node]
        if node in heads:
            return set(path[path.index(node) :])
    return set()
