"""Vectors of tokens from the states of pieces and from tables, compiled for the CPU."""

import numpy as np

from treecrf.ops.numba.compiling import kernel
from treecrf.ops.numba.lanes import Floats, Integers

__all__ = ["pool_tokens"]


@kernel
def pool_tokens(
    states: Floats,
    rows: Integers,
    token: Integers,
    table: Floats,
    features: Integers,
    outputs: Floats,
) -> None:
    """Fill outputs `[token, feature]`: the mean of a token's states, then a sum of table rows.

    `rows [piece]` are those of the states, `token [piece]` whose they are, `features [token,
    number]` the rows of the table; no features, no sum.
    """
    size = states.shape[1]
    outputs[:] = 0
    counts = np.zeros(len(outputs), np.float32)
    for piece in range(len(rows)):
        target, source = outputs[token[piece]], states[rows[piece]]
        counts[token[piece]] += np.float32(1)
        for place in range(size):
            target[place] += source[place]
    for number in range(len(outputs)):
        target = outputs[number]
        if counts[number] > 1:
            for place in range(size):
                target[place] /= counts[number]
        for feature in range(features.shape[1]):
            added = table[features[number, feature]]
            for place in range(len(added)):
                target[size + place] += added[place]
