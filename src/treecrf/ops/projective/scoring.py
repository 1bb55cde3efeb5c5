"""Scores of given trees in compiled code on the CPU, with or without siblings and grandparents."""

import numpy as np

from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import Floats, Integers


@kernel
def score_trees(
    arcs: Floats,
    siblings: Floats | None,
    grandparents: Floats | None,
    lengths: Integers,
    multiroot: bool,
    heads: Integers,
    scores: Floats,
) -> None:
    """Fill scores `[batch, k]` of trees `heads [batch, k, N]`; NaN where a head is no token."""
    for sentence in range(len(heads)):
        length = lengths[sentence]
        for number in range(heads.shape[1]):
            own = heads[sentence, number, : length + 1]
            total = 0.0
            for dependent in range(1, length + 1):
                head = own[dependent]
                total += arcs[sentence, dependent, head] if 0 <= head <= length else np.nan
            # Beside a forbidden arc, and at a single root, are cells that no tree uses.
            if siblings is not None and total > -np.inf:
                for dependent in range(1, length + 1):
                    head = own[dependent]
                    sibling = nearest_sibling(own, dependent)
                    if sibling > 0 and (head > 0 or multiroot):
                        total += siblings[sentence, dependent, head, sibling]
            if grandparents is not None and total > -np.inf:
                for dependent in range(1, length + 1):
                    head = own[dependent]
                    if head > 0:
                        total += grandparents[sentence, dependent, head, own[head]]
            scores[sentence, number] = total


@compiled
def nearest_sibling(heads: Integers, dependent: int) -> int:
    """Nearest child of the dependent's head that lies between the two; 0 for none."""
    head = heads[dependent]
    step = 1 if head > dependent else -1
    for between in range(dependent + step, head, step):
        if heads[between] == head:
            return between
    return 0
