"""Maximum spanning tree of one sentence by Chu-Liu/Edmonds, in plain Python."""

from treecrf.ops.constants import NEGATIVE_INFINITY

Rows = list[list[float]]
"""Scores of one sentence: `[dependent][head]`."""

Weight = tuple[int, float]
"""Minus the number of arcs from the root symbol (0 with several roots), and a score."""

Graph = dict[int, dict[int, Weight]]
"""Weights of the arcs into each node but the root symbol, by head."""


def best_tree(scores: Rows, *, multiroot: bool) -> list[int] | None:
    """Heads (root entry first) of the best tree, None when there is none.

    Single root: the highest score among the trees with the fewest arcs from the root symbol.
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


def tree_score(scores: Rows, heads: list[int]) -> float:
    """Sum of the scores of a tree's arcs."""
    return sum(scores[dependent][heads[dependent]] for dependent in range(1, len(heads)))


def _spanning_tree(graph: Graph) -> dict[int, int] | None:
    """Head of each node in the best tree, None when a node cannot be reached."""
    if not all(graph.values()):
        return None
    best = {node: max(heads, key=lambda head: heads[head]) for node, heads in graph.items()}
    cycles = _find_cycles(best)
    if not cycles:
        return best

    # A new node stands for each cycle. An arc into a member takes the place of the member's arc on
    # the cycle, so it weighs what it gains over that.
    merged = {node: max(graph) + 1 + index for index, cycle in enumerate(cycles) for node in cycle}
    contracted: Graph = {merged.get(node, node): {} for node in graph}
    arcs: dict[tuple[int, int], tuple[int, int]] = {}  # original arcs of the new nodes
    for node, heads in graph.items():
        target = merged.get(node, node)
        roots, score = heads[best[node]] if node in merged else (0, 0.0)
        for head, weight in heads.items():
            source = merged.get(head, head)
            gain = (weight[0] - roots, weight[1] - score)
            entry = contracted[target].get(source)
            if source != target and (entry is None or gain > entry):
                contracted[target][source] = gain
                arcs[target, source] = node, head

    smaller = _spanning_tree(contracted)
    if smaller is None:
        return None
    return {node: best[node] for node in merged} | dict(arcs[arc] for arc in smaller.items())


def _find_cycles(heads: dict[int, int]) -> list[list[int]]:
    """Nodes of every cycle."""
    cycles = []
    seen: set[int] = set()
    for start in heads:
        path: list[int] = []
        node = start
        while node in heads and node not in seen:
            seen.add(node)
            path.append(node)
            node = heads[node]
        if node in path:
            cycles.append(path[path.index(node) :])
    return cycles
