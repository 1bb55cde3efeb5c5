"""log Z and marginals in ordinary floating point, for the sentences whose scores allow it.

Most sentences do; the checks of `limits` find the others, for `matrix_tree`.
"""

import numpy as np

from treecrf.ops.nonprojective.blocked import eliminate
from treecrf.ops.nonprojective.derivatives import differentiate
from treecrf.ops.nonprojective.limits import LIMIT, SMALLEST, TOLERANCE
from treecrf.ops.nonprojective.widefloat import Flags, Floats, Integers
from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import (
    LANES,
    any_above,
    lane_total,
    load,
    maximum,
    minimum,
    select_equal,
    splat,
    store,
)
from treecrf.ops.numba.scaled import exponential, pow2


@compiled
def load_weights(arc_scores: Floats, weights: Floats, root: Floats, words: int) -> bool:
    """Fill e^score `[word, word]` and `[word]`; False where a score is beyond LIMIT."""
    outside = 0
    for word in range(words):
        for head in range(words):
            score = arc_scores[word + 1, head + 1]
            weights[word, head] = score
            outside += not (abs(score) <= LIMIT or score == -np.inf)
        for head in range(words, len(root)):
            weights[word, head] = -np.inf
        score = arc_scores[word + 1, 0]
        root[word] = score
        outside += not (abs(score) <= LIMIT or score == -np.inf)
    if outside:
        return False
    weights[words:] = root[words:] = -np.inf
    for array in (weights.reshape(-1), root):
        for position in range(len(array) // LANES):
            mantissa, exponent = exponential(load(array, position))
            store(array, position, mantissa * pow2(exponent))
    return True


@compiled
def all_above(numbers: Floats) -> bool:
    """Whether each number is 0 or above SMALLEST."""
    least = one = splat(1.0)
    for position in range(len(numbers) // LANES):
        number = load(numbers, position)
        least = minimum(least, select_equal(number, 0.0, one, number))
    return not any_above(splat(SMALLEST) / least, 1.0)


@compiled
def fill_shares(
    arcs: tuple[Floats, Floats], V: tuple[Floats, Floats], marginals: Floats, words: int
) -> bool:
    """Fill p(h -> m) `[token, token]`; False where those of a word do not sum to 1."""
    width = len(arcs[1]) // LANES
    zero = splat(0.0)
    worst = 0.0
    for word in range(words):
        # p(h -> m) = w(m, h) V(m, h), divided by their sum
        total = zero
        for column in range(width):
            cell = word * width + column
            total = total + maximum(load(arcs[0], cell) * load(V[0], cell), zero)
        root_share = max(arcs[1][word] * V[1][word], 0.0)
        share = lane_total(total) + root_share
        worst = max(worst, abs(share - 1.0)) if share == share else np.inf
        inverse = 1.0 / share
        marginals[word + 1, 0] = root_share * inverse
        for head in range(words):
            marginals[word + 1, head + 1] = (
                max(arcs[0][word, head] * V[0][word, head], 0.0) * inverse
            )
    return worst < TOLERANCE


@kernel
def log_partitions(
    sentences: Integers,
    arc_scores: Floats,
    lengths: Integers,
    multiroot: bool,
    values: Floats,
    marginals: Floats,
    solved: Flags,
) -> None:
    """Fill `values [batch]` with log Z, and `marginals [batch, N, N]`, of zeros, unless empty.

    `solved [batch]` is False where the numbers are not right.
    """
    root_share = 1.0 if multiroot else 0.0
    for sentence in sentences:
        words = lengths[sentence]
        padded = -(-words // LANES) * LANES
        weights, root = np.empty((padded, padded)), np.empty(padded)
        solved[sentence] = load_weights(arc_scores[sentence], weights, root, words)
        if not solved[sentence]:
            continue
        inverses = np.zeros(padded)
        if marginals.size:
            arcs, root_arcs = weights.copy(), root.copy()
        else:
            arcs, root_arcs = weights, root
        values[sentence] = eliminate(weights, root, inverses, words, root_share)
        solved[sentence] = (
            values[sentence] > -np.inf and all_above(weights.reshape(-1)) and all_above(root)
        )
        if marginals.size == 0 or not solved[sentence]:
            continue
        V, V_root = differentiate((weights, root), inverses, words, root_share)
        solved[sentence] = fill_shares((arcs, root_arcs), (V, V_root), marginals[sentence], words)
