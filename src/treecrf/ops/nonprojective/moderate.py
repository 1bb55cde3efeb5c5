"""The elimination of `matrix_tree` in ordinary floating point, for scores that allow it.

Most sentences allow it: every arc exists and no score is extreme. Then each intermediate weight
is within the range of a float, and the marginals come from the elimination backwards:

    V(m, h) = d log Z / d w(m, h)        p(h -> m) = w(m, h) V(m, h)

There is a subtraction, so the smallest marginals have an absolute error of about 1e-15.
"""

import math

import numpy as np

from treecrf.ops.nonprojective.widefloat import Floats, Integers
from treecrf.ops.numba.compiling import compiled, kernel, relaxed

# If every arc exists and no score is beyond this, no weight is beyond n^2 times e^(4 * LIMIT), and
# floats end at e^709.
LIMIT = 100.0


@relaxed
def eliminate_all(weights: Floats, pivots: Floats, root_share: float) -> float:
    """log Z by eliminating the words of `weights [word, word + root]` in order, in place.

    Row and column v stay as they were when v was eliminated. With a single root the arcs of the
    root symbol are not in D(v), except for the last word, which has no others.
    """
    words = weights.shape[0]
    log_partition = 0.0
    for v in range(words):
        out = weights[v, v + 1 :]
        # D(v) = sum_h w(v, h)
        D = 0.0
        for h in range(out.shape[0] - 1):
            D += out[h]
        D += out[-1] * (root_share if v < words - 1 else 1.0)
        pivots[v] = D
        log_partition += math.log(D)
        for m in range(v + 1, words):
            # w(m, h) += w(m, v) w(v, h) / D(v)
            row, factor = weights[m, v + 1 :], weights[m, v] / D
            for h in range(out.shape[0]):
                row[h] += factor * out[h]
            weights[m, m] = 0.0
    return log_partition


@relaxed
def derivatives(weights: Floats, pivots: Floats, root_share: float) -> Floats:
    """V `[word, word + root]`, after `eliminate_all`."""
    words = weights.shape[0]
    V = np.zeros((words, words + 1))
    if words > 0:
        V[words - 1, words] = 1.0 / pivots[words - 1]
    for v in range(words - 2, -1, -1):
        D, out, target = pivots[v], weights[v, v + 1 :], V[v, v + 1 :]
        children = 0.0
        for m in range(v + 1, words):
            # V(m, v) = sum_h V(m, h) w(v, h) / D(v)
            row, factor, derivative = V[m, v + 1 :], weights[m, v] / D, 0.0
            for h in range(out.shape[0]):
                derivative += row[h] * out[h]
                target[h] += factor * row[h]
            V[m, v] = derivative / D
            children += factor * derivative
        # V(v, h) = sum_m V(m, h) w(m, v) / D(v) + (1 - sum_m w(m, v) V(m, v)) / D(v)
        rest = (1.0 - children) / D
        for h in range(out.shape[0] - 1):
            target[h] += rest
        target[-1] += root_share * rest
    return V


@compiled
def load(exponentials: Floats, words: int) -> Floats:
    """Weights `[word, word + root]` of one sentence's e^score `[dependent, head]`."""
    weights = np.empty((words, words + 1))
    for word in range(words):
        for head in range(words):
            weights[word, head] = exponentials[word + 1, head + 1]
        weights[word, words] = exponentials[word + 1, 0]
    return weights


@kernel
def log_partitions(
    sentences: Integers,
    exponentials: Floats,
    lengths: Integers,
    multiroot: bool,
    values: Floats,
    marginals: Floats,
) -> None:
    """Fill `values [batch]` with log Z, and `marginals [batch, N, N]`, of zeros, unless empty."""
    root_share = 1.0 if multiroot else 0.0
    for sentence in sentences:
        words = lengths[sentence]
        weights, pivots = load(exponentials[sentence], words), np.empty(words)
        values[sentence] = eliminate_all(weights, pivots, root_share)
        if marginals.size == 0:
            continue
        V = derivatives(weights, pivots, root_share)
        for word in range(words):
            row, w = V[word], exponentials[sentence, word + 1]
            target = marginals[sentence, word + 1, : words + 1]
            # p(h -> m) = w(m, h) V(m, h)
            target[0] = max(w[0] * row[words], 0.0)
            for head in range(words):
                target[head + 1] = max(w[head + 1] * row[head], 0.0)
            target /= target.sum()
