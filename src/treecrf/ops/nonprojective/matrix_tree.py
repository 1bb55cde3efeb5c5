"""log Z and marginals over all spanning trees by elimination, compiled with Numba.

A word is a state of a random walk from words to heads that ends at the root symbol. Eliminating a
word v joins the steps to it with those from it:

    D(v) = sum_h w(v, h)    w(m, h) += w(m, v) w(v, h) / D(v)    Z = product of the D(v)

with h over the tokens that remain, and no w(m, m). Nothing is ever subtracted, as in the algorithm
of Grassmann, Taksar and Heyman for Markov chains, so no digits are lost, however extreme the
scores.

Single root: every arc of the root symbol carries a formal t -> 0 and only leading orders are kept;
Z is then the coefficient of t, unless the order is higher and there is no such tree.

Marginals: p(h -> m) is in proportion to w(m, h) e_m(h), where e_m(h) is the probability that the
walk from h ends before it visits m. Halving the words over and over gives all e_m in O(n^3).

Matrices are `[dependent, head]` over words counted from 0, with the root symbol as the last head.
"""

import numpy as np

from treecrf.ops.constants import MARKER, ZERO
from treecrf.ops.nonprojective.widefloat import (
    Floats,
    Integers,
    add_multiple,
    dot,
    exponential,
    logarithm,
    normalise,
    normalised,
    power,
    total,
)
from treecrf.ops.numba.compiling import compiled, kernel


@compiled
def load_weights(arc_scores: Floats, words: int, multiroot: bool) -> tuple[Floats, Integers]:
    """Weights `[word, word + root]` of one sentence's scores `[dependent, head]`."""
    weights = np.empty((words, words + 1))
    exponents = np.empty((words, words + 1), dtype=np.int64)
    for word in range(words):
        scores = arc_scores[word + 1]
        for head in range(words):
            weights[word, head], exponents[word, head] = exponential(scores[head + 1])
        weights[word, words], exponents[word, words] = exponential(scores[0])
        if not multiroot:
            exponents[word, words] += MARKER
    return weights, exponents


@compiled
def eliminate(
    weights: Floats, exponents: Integers, words: int, count: int, with_walks: bool
) -> tuple[float, int, int]:
    """Eliminate the first `count` of `words` words, in place.

    Then the rows of the other words hold the arcs of the smaller graph, and those of the eliminated
    words, `with_walks`, the probabilities that the walk from there first leaves them to each
    remaining token. Returns the product of the D(v): mantissa, exponent and power of t.
    """
    product, product_exponent, order = 1.0, 0, 0
    for v in range(count):
        out, out_exponents = weights[v, v + 1 : words + 1], exponents[v, v + 1 : words + 1]
        normalise(out, out_exponents)
        # D(v) = sum_h w(v, h)
        D, D_exponent = total(out, out_exponents)
        if D == 0.0:
            return 0.0, ZERO, 0
        has_marker = D_exponent < MARKER // 2
        order += has_marker
        product_exponent += D_exponent - has_marker * MARKER
        product, product_exponent = normalised(product * D, product_exponent)
        for m in range(0 if with_walks else v + 1, words):
            if m == v or weights[m, v] == 0.0:
                continue
            # w(m, h) += w(m, v) w(v, h) / D(v)
            mantissa, exponent = normalised(weights[m, v], exponents[m, v])
            add_multiple(
                weights[m, v + 1 : words + 1],
                exponents[m, v + 1 : words + 1],
                mantissa / D,
                exponent - D_exponent,
                out,
                out_exponents,
            )
            if m > v:
                weights[m, m], exponents[m, m] = 0.0, ZERO
        if with_walks:
            for column in range(out.shape[0]):
                out[column] /= D
                out_exponents[column] -= D_exponent
    return product, product_exponent, order


@compiled
def log_weight(mantissa: float, exponent: int, order: int, multiroot: bool) -> float:
    """log Z from the product of all D(v); -inf when there is no tree."""
    if mantissa == 0.0 or order != (0 if multiroot else 1):
        return -np.inf
    return logarithm(mantissa, exponent)


@compiled
def halve(
    graph: Floats, exponents: Integers, leaves: Floats, leaf_exponents: Integers
) -> tuple[float, int, int]:
    """Eliminate each half of the words, leaving the other, and so on within each half.

    Level l has 2^l blocks of words, block b from `b * words >> l`, and each splits into two of the
    next level. At first `graph [word, word]` holds the arcs between words and the last row of
    `leaves [level + 1, word]` those from the root symbol. In the end `graph[h, x]`, with h in one
    half of a block and x in the other (a pair parts at one level only), is the probability that
    the walk from h first leaves its half to x, and `leaves[level, h]` that it leaves it to the
    root symbol. Returns the product of the D(v) of all words as `eliminate` does.
    """
    words = graph.shape[0]
    levels = leaves.shape[0] - 1
    halves = np.empty((2, words, words + 1))
    half_exponents = np.empty((2, words, words + 1), dtype=np.int64)
    product, product_exponent, order = 1.0, 0, 0
    for level in range(levels):
        for block in range(1 << level):
            start, end = block * words >> level, (block + 1) * words >> level
            middle = (2 * block + 1) * words >> (level + 1)
            size = end - start
            if size < 2:
                continue
            for side in range(2):
                # The left half is eliminated forwards, the right one backwards from the last word.
                first, step = (start, 1) if side == 0 else (end - 1, -1)
                count = middle - start if side == 0 else end - middle
                work, work_exponents = halves[side], half_exponents[side]
                for row in range(size):
                    m = first + step * row
                    for column in range(size):
                        h = first + step * column
                        work[row, column] = graph[m, h]
                        work_exponents[row, column] = exponents[m, h]
                    work[row, size] = leaves[levels, m]
                    work_exponents[row, size] = leaf_exponents[levels, m]
                D, D_exponent, D_order = eliminate(work, work_exponents, size, count, True)
                if D == 0.0:
                    return 0.0, ZERO, 0
                if side == 1 and block == 0:
                    product, product_exponent = normalised(
                        product * D, product_exponent + D_exponent
                    )
                    order += D_order
            for side in range(2):
                first, step = (start, 1) if side == 0 else (end - 1, -1)
                count = middle - start if side == 0 else end - middle
                work, work_exponents = halves[side], half_exponents[side]
                for row in range(size):
                    m = first + step * row
                    for column in range(count, size):
                        h = first + step * column
                        graph[m, h] = work[row, column]
                        exponents[m, h] = work_exponents[row, column]
                    target = level if row < count else levels
                    leaves[target, m] = work[row, size]
                    leaf_exponents[target, m] = work_exponents[row, size]
    # The first word is the last of its graph: its D is its arc to the root symbol.
    D, D_exponent = normalised(leaves[levels, 0], leaf_exponents[levels, 0])
    has_marker = D_exponent < MARKER // 2
    product_exponent += D_exponent - has_marker * MARKER
    return product * D, product_exponent, order + has_marker


@compiled
def fill_escapes(
    word: int,
    graph: Floats,
    exponents: Integers,
    leaves: Floats,
    leaf_exponents: Integers,
    escapes: Floats,
    escape_exponents: Integers,
) -> None:
    """Fill e(h), the probability that the walk from h ends before this word, for all h."""
    words = graph.shape[0]
    escapes[word], escape_exponents[word] = 0.0, ZERO
    for level in range(leaves.shape[0] - 2, -1, -1):
        child = (((word + 1) << (level + 1)) - 1) // words
        start, end = child * words >> (level + 1), (child + 1) * words >> (level + 1)
        other = child ^ 1
        # e(h) = walk(h, root) + sum_x walk(h, x) e(x)
        for h in range(other * words >> (level + 1), (other + 1) * words >> (level + 1)):
            mantissa, exponent = dot(
                graph[h, start:end],
                exponents[h, start:end],
                escapes[start:end],
                escape_exponents[start:end],
            )
            largest = max(exponent, leaf_exponents[level, h])
            escapes[h], escape_exponents[h] = normalised(
                mantissa * power(exponent - largest)
                + leaves[level, h] * power(leaf_exponents[level, h] - largest),
                largest,
            )


@compiled
def fill_shares(
    weights: Floats,
    exponents: Integers,
    escapes: Floats,
    escape_exponents: Integers,
    shares: Floats,
) -> None:
    """Fill `shares [token]` with p(h -> m) = w(m, h) e(h) / sum_h w(m, h) e(h), the root first."""
    words = weights.shape[0] - 1
    mantissa, exponent = dot(weights, exponents, escapes, escape_exponents)
    for head in range(words + 1):
        shift = exponents[head] + escape_exponents[head] - exponent
        share = weights[head] * escapes[head] / mantissa * power(shift)
        shares[head + 1 if head < words else 0] = min(share, 1.0)


@kernel
def log_partitions(
    sentences: Integers,
    arc_scores: Floats,
    lengths: Integers,
    multiroot: bool,
    values: Floats,
    marginals: Floats,
) -> None:
    """Fill `values [batch]` with log Z, from scores `[batch, N, N]`.

    Fills `marginals [batch, N, N]`, which holds zeros, unless it is empty.
    """
    for sentence in sentences:
        words = lengths[sentence]
        weights, exponents = load_weights(arc_scores[sentence], words, multiroot)
        if marginals.size == 0:
            product, exponent, order = eliminate(weights, exponents, words, words, False)
            values[sentence] = log_weight(product, exponent, order, multiroot)
            continue
        levels = 0
        while 1 << levels < words:
            levels += 1
        graph, graph_exponents = weights[:, :words].copy(), exponents[:, :words].copy()
        leaves = np.empty((levels + 1, words))
        leaf_exponents = np.empty((levels + 1, words), dtype=np.int64)
        leaves[levels], leaf_exponents[levels] = weights[:, words], exponents[:, words]
        product, exponent, order = halve(graph, graph_exponents, leaves, leaf_exponents)
        values[sentence] = log_weight(product, exponent, order, multiroot)
        if values[sentence] == -np.inf:
            continue
        escapes, escape_exponents = np.ones(words + 1), np.zeros(words + 1, dtype=np.int64)
        for word in range(words):
            fill_escapes(
                word, graph, graph_exponents, leaves, leaf_exponents, escapes, escape_exponents
            )
            fill_shares(
                weights[word],
                exponents[word],
                escapes,
                escape_exponents,
                marginals[sentence, word + 1],
            )
