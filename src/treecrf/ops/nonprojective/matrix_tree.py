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
    Numbers,
    add_multiple,
    dot,
    exponential,
    logarithm,
    normalise,
    normalised,
    part,
    power,
    total,
)
from treecrf.ops.numba.compiling import compiled, kernel


@compiled
def new_numbers(rows: int, columns: int) -> Numbers:
    return np.empty((rows, columns)), np.empty((rows, columns), dtype=np.int64)


@compiled
def load_weights(arc_scores: Floats, words: int, multiroot: bool) -> Numbers:
    """Weights `[word, word + root]` of one sentence's scores `[dependent, head]`."""
    weights, exponents = new_numbers(words, words + 1)
    for word in range(words):
        scores = arc_scores[word + 1]
        for head in range(words):
            weights[word, head], exponents[word, head] = exponential(scores[head + 1])
        weights[word, words], exponents[word, words] = exponential(scores[0])
        if not multiroot:
            exponents[word, words] += MARKER
    return weights, exponents


@compiled
def eliminate(graph: Numbers, words: int, count: int, with_walks: bool) -> tuple[float, int, int]:
    """Eliminate the first `count` of `words` words, in place.

    Then the rows of the other words hold the arcs of the smaller graph, and those of the eliminated
    words, `with_walks`, the probabilities that the walk from there first leaves them to each
    remaining token. Returns the product of the D(v): mantissa, exponent and power of t.
    """
    weights, exponents = graph
    product, product_exponent, order = 1.0, 0, 0
    for v in range(count):
        out = part(graph, v, v + 1, words + 1)
        normalise(out)
        # D(v) = sum_h w(v, h)
        D, D_exponent = total(out)
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
            factor = mantissa / D, exponent - D_exponent
            add_multiple(part(graph, m, v + 1, words + 1), factor, out)
            if m > v:
                weights[m, m], exponents[m, m] = 0.0, ZERO
        if with_walks:
            out[0][:] /= D
            out[1][:] -= D_exponent
    return product, product_exponent, order


@compiled
def log_weight(product: tuple[float, int, int], multiroot: bool) -> float:
    """log Z from the product of all D(v); -inf when there is no tree."""
    mantissa, exponent, order = product
    if mantissa == 0.0 or order != (0 if multiroot else 1):
        return -np.inf
    return logarithm(mantissa, exponent)


@compiled
def copy(source: Numbers, cell: tuple[int, int], target: Numbers, place: tuple[int, int]) -> None:
    target[0][place], target[1][place] = source[0][cell], source[1][cell]


@compiled
def halve(graph: Numbers, leaves: Numbers) -> tuple[float, int, int]:
    """Eliminate each half of the words, leaving the other, and so on within each half.

    Level l has 2^l blocks of words, block b from `b * words >> l`, and each splits into two of the
    next level. At first `graph [word, word]` holds the arcs between words and the last row of
    `leaves [level + 1, word]` those from the root symbol. In the end `graph[h, x]`, with h in one
    half of a block and x in the other (a pair parts at one level only), is the probability that
    the walk from h first leaves its half to x, and `leaves[level, h]` that it leaves it to the
    root symbol. Returns the product of the D(v) of all words as `eliminate` does.
    """
    words, levels = graph[0].shape[0], leaves[0].shape[0] - 1
    halves = new_numbers(words, words + 1), new_numbers(words, words + 1)
    product, product_exponent, order = 1.0, 0, 0
    for level in range(levels):
        for block in range(1 << level):
            start, end = block * words >> level, (block + 1) * words >> level
            middle = (2 * block + 1) * words >> (level + 1)
            size = end - start
            if size < 2:
                continue
            # The left half is eliminated forwards, the right one backwards from the last word.
            sides = (start, middle - start), (end - 1, end - middle)
            for side in range(2):
                first, count = sides[side]
                step, work = 1 - 2 * side, halves[side]
                for row in range(size):
                    m = first + step * row
                    for column in range(size):
                        copy(graph, (m, first + step * column), work, (row, column))
                    copy(leaves, (levels, m), work, (row, size))
                D, D_exponent, D_order = eliminate(work, size, count, True)
                if D == 0.0:
                    return 0.0, ZERO, 0
                if side == 1 and block == 0:
                    product, product_exponent = normalised(
                        product * D, product_exponent + D_exponent
                    )
                    order += D_order
            for side in range(2):
                first, count = sides[side]
                step, work = 1 - 2 * side, halves[side]
                for row in range(size):
                    m = first + step * row
                    for column in range(count, size):
                        copy(work, (row, column), graph, (m, first + step * column))
                    copy(work, (row, size), leaves, (level if row < count else levels, m))
    # The first word is the last of its graph: its D is its arc to the root symbol.
    D, D_exponent = normalised(leaves[0][levels, 0], leaves[1][levels, 0])
    has_marker = D_exponent < MARKER // 2
    product_exponent += D_exponent - has_marker * MARKER
    return product * D, product_exponent, order + has_marker


@compiled
def fill_escapes(word: int, graph: Numbers, leaves: Numbers, escapes: Numbers) -> None:
    """Fill e(h), the probability that the walk from h ends before this word, for all h."""
    words = graph[0].shape[0]
    escapes[0][word], escapes[1][word] = 0.0, ZERO
    for level in range(leaves[0].shape[0] - 2, -1, -1):
        child = (((word + 1) << (level + 1)) - 1) // words
        start, end = child * words >> (level + 1), (child + 1) * words >> (level + 1)
        reached = escapes[0][start:end], escapes[1][start:end]
        other = child ^ 1
        # e(h) = walk(h, root) + sum_x walk(h, x) e(x)
        for h in range(other * words >> (level + 1), (other + 1) * words >> (level + 1)):
            mantissa, exponent = dot(part(graph, h, start, end), reached)
            leaf, leaf_exponent = leaves[0][level, h], leaves[1][level, h]
            largest = max(exponent, leaf_exponent)
            escapes[0][h], escapes[1][h] = normalised(
                mantissa * power(exponent - largest) + leaf * power(leaf_exponent - largest),
                largest,
            )


@compiled
def fill_shares(weights: Numbers, escapes: Numbers, shares: Floats) -> None:
    """Fill `shares [token]` with p(h -> m) = w(m, h) e(h) / sum_h w(m, h) e(h), the root first."""
    words = weights[0].shape[0] - 1
    mantissa, exponent = dot(weights, escapes)
    for head in range(words + 1):
        shift = weights[1][head] + escapes[1][head] - exponent
        share = weights[0][head] * escapes[0][head] / mantissa * power(shift)
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
    """Fill `values [batch]` with log Z, and `marginals [batch, N, N]`, of zeros, unless empty."""
    for sentence in sentences:
        words = lengths[sentence]
        weights = load_weights(arc_scores[sentence], words, multiroot)
        if marginals.size == 0:
            values[sentence] = log_weight(eliminate(weights, words, words, False), multiroot)
            continue
        levels = 0
        while 1 << levels < words:
            levels += 1
        graph = weights[0][:, :words].copy(), weights[1][:, :words].copy()
        leaves = new_numbers(levels + 1, words)
        leaves[0][levels], leaves[1][levels] = weights[0][:, words], weights[1][:, words]
        values[sentence] = log_weight(halve(graph, leaves), multiroot)
        if values[sentence] == -np.inf:
            continue
        escapes = np.ones(words + 1), np.zeros(words + 1, dtype=np.int64)
        for word in range(words):
            fill_escapes(word, graph, leaves, escapes)
            row = part(weights, word, 0, words + 1)
            fill_shares(row, escapes, marginals[sentence, word + 1])
