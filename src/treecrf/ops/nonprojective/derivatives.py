"""Derivatives V(m, h) = d log Z / d w(m, h), by the elimination of `blocked` backwards.

    V(m, v) = sum_h V(m, h) w(v, h) / D(v)
    V(v, h) = sum_m V(m, h) w(m, v) / D(v) + (1 - sum_m w(m, v) V(m, v)) / D(v)

over the words m and the heads h that come after v. The second sum is over the children of v.
"""

import numpy as np

from treecrf.ops.nonprojective.widefloat import Floats
from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numba.lanes import LANES, Vector, lane_total, load, splat, store, transpose


@compiled
def differentiate(
    graph: tuple[Floats, Floats], inverses: Floats, words: int, root_share: float
) -> tuple[Floats, Floats]:
    """V of the words `[word, word]` and of the root symbol `[word]`, after `eliminate`."""
    weights, root = graph
    padded = len(root)
    V, V_root, children = np.zeros((padded, padded)), np.zeros(padded), np.zeros(LANES)
    dots = np.empty(LANES * LANES * LANES)
    products, sums, rests = np.empty((LANES, LANES)), np.empty(LANES), np.zeros(LANES)
    for first in range(padded - LANES, -1, -LANES):
        _flow_from_others((weights, root), inverses, (V, V_root), first, children, dots)
        _multiply_rows(weights, V, first, products, sums)
        rests[:] = 0.0
        for v in range(min(first + LANES, words) - 1, first - 1, -1):
            i = v - first
            for m in range(v + 1, first + LANES):
                # V(m, v) = sum_h V(m, h) w(v, h) / D(v)
                factor = weights[m, v]
                dot = products[m - first, i] + V_root[m] * root[v]
                for h in range(v + 1, first + LANES):
                    dot += V[m, h] * weights[v, h]
                    V[v, h] += factor * V[m, h]
                V[m, v] = dot * inverses[v]
                V_root[v] += factor * V_root[m]
                children[i] += factor * dot
                for below in range(i):
                    products[i, below] += factor * products[m - first, below]
            rests[i] = (1.0 - children[i]) * inverses[v]
            for h in range(v + 1, first + LANES):
                V[v, h] += rests[i]
            V_root[v] += rests[i] * (root_share if v < words - 1 else 1.0)
            for below in range(i):
                products[i, below] += rests[i] * sums[below]
        _flow_within(weights, V, first, rests)
    return V, V_root


@compiled
def _flow_from_others(
    graph: tuple[Floats, Floats],
    inverses: Floats,
    derivatives: tuple[Floats, Floats],
    first: int,
    children: Floats,
    dots: Floats,
) -> None:
    """The words m past a block: all V(m, v), their parts of V(v, h), and the sums over children."""
    weights, root = graph
    V, V_root = derivatives
    width, block = weights.shape[1] // LANES, first // LANES
    a_scale, b_scale = splat(inverses[first]), splat(inverses[first + 1])
    c_scale, d_scale = splat(inverses[first + 2]), splat(inverses[first + 3])
    a_root, b_root = splat(root[first]), splat(root[first + 1])
    c_root, d_root = splat(root[first + 2]), splat(root[first + 3])
    ab, ac = splat(weights[first, first + 1]), splat(weights[first, first + 2])
    ad, bc = splat(weights[first, first + 3]), splat(weights[first + 1, first + 2])
    bd, cd = splat(weights[first + 1, first + 3]), splat(weights[first + 2, first + 3])
    a_children = b_children = c_children = d_children = splat(0.0)
    to_a = to_b = to_c = to_d = splat(0.0)
    to_ab = to_ac = to_ad = to_bc = to_bd = to_cd = splat(0.0)
    for m in range(first + LANES, len(root), LANES):
        _flow(weights, V, m, first, dots, 0)
        _flow(weights, V, m + 2, first, dots, 2 * LANES)
        cell = m * width + block
        fa, fb, fc, fd = transpose(
            load(weights, cell),
            load(weights, cell + width),
            load(weights, cell + 2 * width),
            load(weights, cell + 3 * width),
        )
        of_root = load(V_root, m // LANES)
        # V(m, v) = sum_h V(m, h) w(v, h) / D(v)
        dot = _totals(dots, 3) + of_root * d_root
        d_children, to_d = d_children + fd * dot, to_d + fd * of_root
        d = dot * d_scale
        dot = _totals(dots, 2) + of_root * c_root + d * cd
        c_children, to_c, to_cd = c_children + fc * dot, to_c + fc * of_root, to_cd + fc * d
        c = dot * c_scale
        dot = _totals(dots, 1) + of_root * b_root + d * bd + c * bc
        b_children, to_b = b_children + fb * dot, to_b + fb * of_root
        to_bc, to_bd = to_bc + fb * c, to_bd + fb * d
        b = dot * b_scale
        dot = _totals(dots, 0) + of_root * a_root + d * ad + c * ac + b * ab
        a_children, to_a = a_children + fa * dot, to_a + fa * of_root
        to_ab, to_ac, to_ad = to_ab + fa * b, to_ac + fa * c, to_ad + fa * d
        a = dot * a_scale
        a, b, c, d = transpose(a, b, c, d)
        store(V, cell, a)
        store(V, cell + width, b)
        store(V, cell + 2 * width, c)
        store(V, cell + 3 * width, d)
    children[0], children[1] = lane_total(a_children), lane_total(b_children)
    children[2], children[3] = lane_total(c_children), lane_total(d_children)
    V_root[first], V_root[first + 1] = lane_total(to_a), lane_total(to_b)
    V_root[first + 2], V_root[first + 3] = lane_total(to_c), lane_total(to_d)
    V[first, first + 1], V[first, first + 2] = lane_total(to_ab), lane_total(to_ac)
    V[first, first + 3], V[first + 1, first + 2] = lane_total(to_ad), lane_total(to_bc)
    V[first + 1, first + 3], V[first + 2, first + 3] = lane_total(to_bd), lane_total(to_cd)


@compiled
def _totals(dots: Floats, v: int) -> Vector:
    """The LANES products of rows m with row v, from their parts `[m, v, lane]`."""
    a, b, c, d = transpose(
        load(dots, v),
        load(dots, LANES + v),
        load(dots, 2 * LANES + v),
        load(dots, 3 * LANES + v),
    )
    return (a + b) + (c + d)


@compiled
def _flow(weights: Floats, V: Floats, m: int, first: int, dots: Floats, place: int) -> None:
    """The columns past a block, of rows m and m + 1 and the rows v of the block.

    dots[m, v] = sum_h V(m, h) w(v, h)    V(v, h) += V(m, h) w(m, v) / D(v)
    """
    width = weights.shape[1] // LANES
    am, bm = splat(weights[m, first]), splat(weights[m, first + 1])
    cm, dm = splat(weights[m, first + 2]), splat(weights[m, first + 3])
    an, bn = splat(weights[m + 1, first]), splat(weights[m + 1, first + 1])
    cn, dn = splat(weights[m + 1, first + 2]), splat(weights[m + 1, first + 3])
    to_am = to_bm = to_cm = to_dm = splat(0.0)
    to_an = to_bn = to_cn = to_dn = splat(0.0)
    for column in range(first // LANES + 1, width):
        of_m, of_n = load(V, m * width + column), load(V, (m + 1) * width + column)
        row = first * width + column
        out = load(weights, row)
        to_am, to_an = to_am + of_m * out, to_an + of_n * out
        store(V, row, load(V, row) + am * of_m + an * of_n)
        row += width
        out = load(weights, row)
        to_bm, to_bn = to_bm + of_m * out, to_bn + of_n * out
        store(V, row, load(V, row) + bm * of_m + bn * of_n)
        row += width
        out = load(weights, row)
        to_cm, to_cn = to_cm + of_m * out, to_cn + of_n * out
        store(V, row, load(V, row) + cm * of_m + cn * of_n)
        row += width
        out = load(weights, row)
        to_dm, to_dn = to_dm + of_m * out, to_dn + of_n * out
        store(V, row, load(V, row) + dm * of_m + dn * of_n)
    store(dots, place, to_am)
    store(dots, place + 1, to_bm)
    store(dots, place + 2, to_cm)
    store(dots, place + 3, to_dm)
    store(dots, place + 4, to_an)
    store(dots, place + 5, to_bn)
    store(dots, place + 6, to_cn)
    store(dots, place + 7, to_dn)


@compiled
def _multiply_rows(weights: Floats, V: Floats, first: int, products: Floats, sums: Floats) -> None:
    """products[m, v] = sum_h V(m, h) w(v, h) and sums[v] = sum_h w(v, h) of a block, past it."""
    width = weights.shape[1] // LANES
    ba = ca = cb = da = db = dc = splat(0.0)
    a_sum = b_sum = c_sum = splat(0.0)
    for column in range(first // LANES + 1, width):
        row = first * width + column
        b, c, d = load(V, row + width), load(V, row + 2 * width), load(V, row + 3 * width)
        out = load(weights, row)
        a_sum, ba, ca, da = a_sum + out, ba + b * out, ca + c * out, da + d * out
        out = load(weights, row + width)
        b_sum, cb, db = b_sum + out, cb + c * out, db + d * out
        out = load(weights, row + 2 * width)
        c_sum, dc = c_sum + out, dc + d * out
    products[1, 0], products[2, 0], products[2, 1] = lane_total(ba), lane_total(ca), lane_total(cb)
    products[3, 0], products[3, 1], products[3, 2] = lane_total(da), lane_total(db), lane_total(dc)
    sums[0], sums[1], sums[2] = lane_total(a_sum), lane_total(b_sum), lane_total(c_sum)


@compiled
def _flow_within(weights: Floats, V: Floats, first: int, rests: Floats) -> None:
    """V(v, h) += V(m, h) w(m, v) / D(v), and the rests, for the rows of a block, past it."""
    width = weights.shape[1] // LANES
    ab, ac = splat(weights[first + 1, first]), splat(weights[first + 2, first])
    ad, bc = splat(weights[first + 3, first]), splat(weights[first + 2, first + 1])
    bd, cd = splat(weights[first + 3, first + 1]), splat(weights[first + 3, first + 2])
    a_rest, b_rest = splat(rests[0]), splat(rests[1])
    c_rest, d_rest = splat(rests[2]), splat(rests[3])
    for column in range(first // LANES + 1, width):
        row = first * width + column
        d = load(V, row + 3 * width) + d_rest
        c = load(V, row + 2 * width) + cd * d + c_rest
        b = load(V, row + width) + bd * d + bc * c + b_rest
        a = load(V, row) + ad * d + ac * c + ab * b + a_rest
        store(V, row + 3 * width, d)
        store(V, row + 2 * width, c)
        store(V, row + width, b)
        store(V, row, a)
