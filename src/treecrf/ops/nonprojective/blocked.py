"""The elimination of `matrix_tree` in ordinary floats, a block of LANES words at a time.

    D(v) = sum_h w(v, h)    w(m, h) += w(m, v) w(v, h) / D(v)    Z = product of the D(v)

over the words m and the heads h that come after v, the root symbol among these. With a single root
its arcs are not in D(v), except for the last word, which has no others.

Matrices are `[word, word]`, filled up with zeros to a multiple of LANES; the arcs of the root
symbol stand apart, `[word]`. A vector that is loaded serves a whole block and two words m, so that
multiplications bound the time, not memory; what is done inside of blocks is done for LANES words m
at once.
"""

import math

import numpy as np

from treecrf.ops.nonprojective.widefloat import Floats
from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numba.lanes import LANES, load, splat, store, transpose


@compiled
def eliminate(
    weights: Floats, root: Floats, inverses: Floats, words: int, root_share: float
) -> float:
    """log Z, -inf where some D(v) is 0; fills `inverses`, which holds zeros, with 1 / D(v).

    In place: row v stays as it was when v was eliminated, and column v becomes w(m, v) / D(v).
    """
    padded = len(root)
    sums = np.empty(LANES)
    log_partition = 0.0
    for first in range(0, padded, LANES):
        _sum_rows(weights, first, sums)
        for v in range(first, min(first + LANES, words)):
            # D(v) = sum_h w(v, h)
            D = sums[v - first] + root[v] * (root_share if v < words - 1 else 1.0)
            for h in range(v + 1, first + LANES):
                D += weights[v, h]
            if not 0.0 < D < np.inf:
                return -np.inf
            log_partition += math.log(D)
            inverses[v] = 1.0 / D
            for m in range(v + 1, first + LANES):
                # w(m, h) += w(m, v) w(v, h) / D(v)
                factor = weights[m, v] * inverses[v]
                weights[m, v] = factor
                root[m] += factor * root[v]
                sums[m - first] += factor * sums[v - first]
                for h in range(v + 1, first + LANES):
                    weights[m, h] += factor * weights[v, h]
                weights[m, m] = 0.0
        _update_block(weights, first)
        _update_others(weights, root, inverses, first)
    return log_partition


@compiled
def _sum_rows(weights: Floats, first: int, sums: Floats) -> None:
    """Sums over the rows of a block, past it; clears the diagonal."""
    width = weights.shape[1] // LANES
    a = b = c = d = splat(0.0)
    for column in range(first // LANES + 1, width):
        row = first * width + column
        a = a + load(weights, row)
        b = b + load(weights, row + width)
        c = c + load(weights, row + 2 * width)
        d = d + load(weights, row + 3 * width)
    a, b, c, d = transpose(a, b, c, d)
    store(sums, 0, (a + b) + (c + d))
    for v in range(first, first + LANES):
        weights[v, v] = 0.0


@compiled
def _update_block(weights: Floats, first: int) -> None:
    """w(m, h) += w(m, v) w(v, h) / D(v) for the words m and v of a block, past it."""
    width = weights.shape[1] // LANES
    ab, ac, bc = (
        splat(weights[first + 1, first]),
        splat(weights[first + 2, first]),
        splat(weights[first + 2, first + 1]),
    )
    ad, bd, cd = (
        splat(weights[first + 3, first]),
        splat(weights[first + 3, first + 1]),
        splat(weights[first + 3, first + 2]),
    )
    for column in range(first // LANES + 1, width):
        row = first * width + column
        a = load(weights, row)
        b = load(weights, row + width) + ab * a
        c = load(weights, row + 2 * width) + ac * a + bc * b
        d = load(weights, row + 3 * width) + ad * a + bd * b + cd * c
        store(weights, row + width, b)
        store(weights, row + 2 * width, c)
        store(weights, row + 3 * width, d)


@compiled
def _update_others(weights: Floats, root: Floats, inverses: Floats, first: int) -> None:
    """w(m, h) += w(m, v) w(v, h) / D(v) for the words v of a block and those m past it."""
    width, block = weights.shape[1] // LANES, first // LANES
    a_scale, b_scale = splat(inverses[first]), splat(inverses[first + 1])
    c_scale, d_scale = splat(inverses[first + 2]), splat(inverses[first + 3])
    ab, ac = splat(weights[first, first + 1]), splat(weights[first, first + 2])
    ad = splat(weights[first, first + 3])
    bc, bd = splat(weights[first + 1, first + 2]), splat(weights[first + 1, first + 3])
    cd = splat(weights[first + 2, first + 3])
    for m in range(first + LANES, len(root), LANES):
        cell = m * width + block
        a, b, c, d = transpose(
            load(weights, cell),
            load(weights, cell + width),
            load(weights, cell + 2 * width),
            load(weights, cell + 3 * width),
        )
        a = a * a_scale
        b = (b + a * ab) * b_scale
        c = (c + a * ac + b * bc) * c_scale
        d = (d + a * ad + b * bd + c * cd) * d_scale
        added = a * splat(root[first]) + b * splat(root[first + 1])
        added = added + c * splat(root[first + 2]) + d * splat(root[first + 3])
        store(root, m // LANES, load(root, m // LANES) + added)
        a, b, c, d = transpose(a, b, c, d)
        store(weights, cell, a)
        store(weights, cell + width, b)
        store(weights, cell + 2 * width, c)
        store(weights, cell + 3 * width, d)
        _add_multiples(weights, m, first)
        _add_multiples(weights, m + 2, first)


@compiled
def _add_multiples(weights: Floats, m: int, first: int) -> None:
    """Add multiples of the rows of a block to rows m and m + 1, past the block."""
    width = weights.shape[1] // LANES
    am, bm = splat(weights[m, first]), splat(weights[m, first + 1])
    cm, dm = splat(weights[m, first + 2]), splat(weights[m, first + 3])
    an, bn = splat(weights[m + 1, first]), splat(weights[m + 1, first + 1])
    cn, dn = splat(weights[m + 1, first + 2]), splat(weights[m + 1, first + 3])
    for column in range(first // LANES + 1, width):
        row = first * width + column
        a, b = load(weights, row), load(weights, row + width)
        c, d = load(weights, row + 2 * width), load(weights, row + 3 * width)
        target = m * width + column
        new = load(weights, target) + am * a + bm * b + cm * c + dm * d
        store(weights, target, new)
        target += width
        new = load(weights, target) + an * a + bn * b + cn * c + dn * d
        store(weights, target, new)
