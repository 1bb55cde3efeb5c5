"""Most probable heads of words in compiled code on the CPU, and whether they are a tree."""

import numpy as np
import numpy.typing as npt

from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import Floats, Integers


@kernel
def greedy_heads(
    marginals: Floats,
    lengths: Integers,
    multiroot: bool,
    heads: Integers,
    settled: npt.NDArray[np.bool_],
) -> None:
    """Fill heads `[batch, N]`, and whether those of a sentence are a projective tree, `[batch]`."""
    for sentence in range(len(heads)):
        length, own = lengths[sentence], heads[sentence]
        own[:] = 0
        roots = 0
        for dependent in range(1, length + 1):
            row = marginals[sentence, dependent]
            for head in range(1, length + 1):
                if row[head] > row[own[dependent]]:
                    own[dependent] = head
            roots += own[dependent] == 0
        fits = (roots == 1 or (multiroot and roots > 1)) and is_projective(own[: length + 1])
        settled[sentence] = length == 0 or fits


@compiled
def is_projective(heads: Integers) -> bool:
    """Whether every word leads to the root, and no arc leads out from below another."""
    for dependent in range(1, len(heads)):
        head = heads[dependent]
        left, right = min(head, dependent), max(head, dependent)
        for between in range(left + 1, right):
            if not left <= heads[between] <= right:
                return False
        ancestor = head
        for _ in range(len(heads)):
            ancestor = heads[ancestor]
        if ancestor != 0:
            return False
    return True
