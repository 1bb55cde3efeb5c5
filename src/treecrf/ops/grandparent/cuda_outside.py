"""The outside pass with grandparents, the derivative of `cuda_inside`, as one Triton kernel.

A width has two rounds. In the first, a position is a span and a grandparent, and flows go to those
parts of its terms that have this grandparent. In the second, a position is a span and a split, and
flows go to the parts below, whose grandparent is the head of the span: sums over its grandparents.
"""

import triton
import triton.language as tl

from treecrf.ops.grandparent.cuda_inside import CHARTS, SIBLING_CHARTS, positions, sibling_rows
from treecrf.ops.triton.fused import SIZES, load_sum, next_width, pour, share

# Charts: flows into C by the two rounds, into I and, with siblings, into S.
FLOWS, SIBLING_FLOWS = tl.constexpr(3), tl.constexpr(1)


@triton.jit
def complete_share(C_sum, to_C, volume, cells, whole, mask, CACHE: tl.constexpr):
    """Origin and scale of complete spans; all flow starts at the whole sentence."""
    flow = tl.load(to_C + cells, mask, 0.0, cache_modifier=CACHE)
    flow += tl.load(to_C + volume + cells, mask, 0.0, cache_modifier=CACHE)
    largest, extra = load_sum(C_sum, volume, cells, mask, CACHE)
    return share(tl.where(whole, 1.0, flow), largest, extra)


@triton.jit
def arc_share(I_sum, to_I, volume, cells, mask, CACHE: tl.constexpr):
    """Origin and scale of incomplete spans."""
    flow = tl.load(to_I + cells, mask, 0.0, cache_modifier=CACHE)
    largest, extra = load_sum(I_sum, volume, cells, mask, CACHE)
    return share(flow, largest, extra)


@triton.jit
def both_arcs(arc_scores, tokens, head, dependent, sibling, mask):
    """Whether a head may have both children; scores of other pairs are not read."""
    low = float("-inf")
    one = tl.load(arc_scores + dependent * tokens + head, mask, low)
    return (one > low) & (tl.load(arc_scores + sibling * tokens + head, mask, low) > low)


@triton.jit
def amounts(terms, origin, scale):
    """Parts of a flow."""
    return tl.exp(terms - origin) * scale


@triton.jit(do_not_specialize=SIZES)
def outside(
    arc_scores, sibling_scores, lengths, charts, flows, sibling_marginals, counters,
    tokens, first_width, last_width, team,
    SIBLINGS: tl.constexpr, PAIRS: tl.constexpr, MULTIROOT: tl.constexpr,
    WAIT: tl.constexpr, CACHE: tl.constexpr,
    BLOCK_I: tl.constexpr, BLOCK_R: tl.constexpr,
):  # fmt: skip
    """Fill the flows and, with PAIRS, `sibling_marginals`; both hold zeros.

    `first_width` and `last_width` are numbers of rounds, from the widest span downwards.
    """
    sentence, member = tl.program_id(0).to(tl.int64) // team, tl.program_id(0) % team
    length = tl.load(lengths + sentence).to(tl.int32)
    area, volume = tokens * tokens, tokens * tokens * tokens
    arc_scores += sentence * area
    C = charts + sentence * (CHARTS + SIBLINGS * SIBLING_CHARTS) * volume
    I, C_sum, I_sum = C + volume, C + 2 * volume, C + 4 * volume
    to_C = flows + sentence * (FLOWS + SIBLINGS * SIBLING_FLOWS) * volume
    to_C_below, to_I = to_C + volume, to_C + 2 * volume
    if SIBLINGS:
        sibling_scores += sentence * volume
        S, S_sum, to_S = C + 6 * volume, C + 7 * volume, to_C + 3 * volume
    if PAIRS:
        sibling_marginals += sentence * volume
    low = float("-inf")

    for number in range(first_width, last_width + 1):
        width = tokens - 1 - number // 2
        # One of the two loops is empty in each round. As branches of one loop they could not share
        # names: in Triton a name has one type.
        span_blocks, part_blocks = 0, 0
        if width <= length:
            if number % 2 == 0:
                span_blocks = tl.cdiv((length - width) * (length - width) + 1, BLOCK_I)
            else:
                part_blocks = tl.cdiv((length - width + 1) * width, BLOCK_R)
        for block in range(member, span_blocks, team):
            i, j, g, here = positions(block * BLOCK_I + tl.arange(0, BLOCK_I), width, length)
            inner_word = here & (i > 0)
            ii, jj = i * area + g, j * area + g
            ij, ji = ii + j * tokens, jj + i * tokens
            whole = here & (i == 0) & (j == length)
            right, right_scale = complete_share(C_sum, to_C, volume, ij, whole, here, CACHE)
            left, left_scale = complete_share(
                C_sum, to_C, volume, ji, whole & (i > 0), inner_word, CACHE
            )
            own_right = tl.load(I + ij, here, low, cache_modifier=CACHE)
            own_left = tl.load(I + ji, inner_word, low, cache_modifier=CACHE)
            pour(to_I + ij, amounts(own_right, right, right_scale), here, CACHE)
            pour(to_I + ji, amounts(own_left, left, left_scale), inner_word, CACHE)
            tl.debug_barrier()  # other threads may load what these stored
            to_right, to_right_scale = arc_share(I_sum, to_I, volume, ij, here, CACHE)
            to_left, to_left_scale = arc_share(I_sum, to_I, volume, ji, inner_word, CACHE)
            if SIBLINGS:
                paired = here if MULTIROOT else inner_word
                pair_right, pair_left = (j * tokens + i) * tokens, (i * tokens + j) * tokens
                meeting, meeting_scale = arc_share(S_sum, to_S, volume, ij, inner_word, CACHE)
            for start in range(0, width, BLOCK_R):
                d = (start + tl.arange(0, BLOCK_R))[:, None]
                r = i[None, :] + d
                split = here[None, :] & (d < width)
                words = inner_word[None, :] & (d < width)
                row_i, row_j = ii[None, :] + r * tokens, jj[None, :] + r * tokens
                below_i, below_j = r * area + i[None, :], r * area + j[None, :]
                I_right = tl.load(I + row_i, split & (d > 0), low, cache_modifier=CACHE)
                I_left = tl.load(I + row_j, words & (d > 0), low, cache_modifier=CACHE)
                C_right = tl.load(C + row_i, split, low, cache_modifier=CACHE)
                C_left = tl.load(C + row_j + tokens, words, low, cache_modifier=CACHE)
                # C^g[i->j] = sum_{i < r <= j} I^g[i->r] C^i[r->j]
                cells = C + below_i + j[None, :] * tokens
                terms = I_right + tl.load(cells, split & (d > 0), low, cache_modifier=CACHE)
                to_I_right = amounts(terms, right[None, :], right_scale[None, :])
                # C^g[j->i] = sum_{i <= r < j} I^g[j->r] C^j[r->i]
                cells = C + below_j + i[None, :] * tokens
                terms = I_left + tl.load(cells, words & (d > 0), low, cache_modifier=CACHE)
                to_I_left = amounts(terms, left[None, :], left_scale[None, :])
                if SIBLINGS:
                    # S^h[i,j] = sum_{i <= r < j} C^h[i->r] C^h[j->r+1]
                    terms = tl.where(words, C_right + C_left, low)
                    amount = amounts(terms, meeting[None, :], meeting_scale[None, :])
                    pour(to_C + row_i, amount, words, CACHE)
                    pour(to_C + row_j + tokens, amount, words, CACHE)
                    # I^g[i->j]: I^g[i->r] S^i[r,j] s(i,r,j), and leftwards
                    cells, scores = S + below_i + j[None, :] * tokens, sibling_scores + r
                    mask = paired[None, :] & split & (own_right > low)[None, :]
                    scores = scores + pair_right[None, :]
                    terms = sibling_rows(I_right, cells, scores, mask, CACHE)
                    to_I_right += amounts(terms, to_right[None, :], to_right_scale[None, :])
                    cells = S + (i * area + j)[None, :] + r * tokens
                    scores = sibling_scores + r + pair_left[None, :]
                    mask = words & (own_left > low)[None, :]
                    terms = sibling_rows(I_left, cells, scores, mask, CACHE)
                    to_I_left += amounts(terms, to_left[None, :], to_left_scale[None, :])
                else:
                    # I^g[i->j]: C^g[i->r] C^i[j->r+1];  I^g[j->i]: C^g[j->r+1] C^j[i->r]
                    cells = C + (j * area + i + tokens)[None, :] + r * tokens
                    terms = C_right + tl.load(cells, split, low, cache_modifier=CACHE)
                    amount = amounts(terms, to_right[None, :], to_right_scale[None, :])
                    pour(to_C + row_i, amount, split, CACHE)
                    cells = C + (i * area + j)[None, :] + r * tokens
                    terms = C_left + tl.load(cells, words, low, cache_modifier=CACHE)
                    amount = amounts(terms, to_left[None, :], to_left_scale[None, :])
                    pour(to_C + row_j + tokens, amount, words, CACHE)
                pour(to_I + row_i, to_I_right, split & (d > 0), CACHE)
                pour(to_I + row_j, to_I_left, words & (d > 0), CACHE)
        for block in range(member, part_blocks, team):
            p = block * BLOCK_R + tl.arange(0, BLOCK_R)
            i, d = p // width, p % width
            j, r = i + width, i + d
            here = p < (length - width + 1) * width
            inner = here & (d > 0)
            # The parts below, whose grandparent is the head: of C, then of I.
            C_right_cells, C_left_cells = (
                (r * tokens + j) * tokens + i,
                ((r * tokens + i) * tokens + j),
            )
            C_right = tl.load(C + C_right_cells, inner, low, cache_modifier=CACHE)
            C_left = tl.load(C + C_left_cells, inner & (i > 0), low, cache_modifier=CACHE)
            next_right, next_left = (
                (j * tokens + r + 1) * tokens + i,
                ((i * tokens + r) * tokens + j),
            )
            if SIBLINGS:
                next_left = (i * tokens + j - 1) * tokens + j
                S_right, S_left = C_right_cells, (i * tokens + r) * tokens + j
                pair_right, pair_left = (
                    (j * tokens + i) * tokens + r,
                    ((i * tokens + j) * tokens + r),
                )
                alone = here & (d == 0)
                beside = inner if MULTIROOT else inner & (i > 0)
                right_below = tl.load(C + next_right, alone, low, cache_modifier=CACHE)
                left_below = tl.load(C + next_left, alone & (i > 0), low, cache_modifier=CACHE)
                # Scores of pairs stay apart: terms have to round as they do in the inside pass.
                S_cells = tl.load(S + S_right, beside, low, cache_modifier=CACHE)
                paired = beside & (S_cells > low)
                paired &= both_arcs(arc_scores, tokens, i, j, r, paired)
                right_below = tl.where(alone, right_below, S_cells)
                right_pair = tl.load(sibling_scores + pair_right, paired, low)
                right_pair = tl.where(alone, 0.0, right_pair)
                S_cells = tl.load(S + S_left, inner & (i > 0), low, cache_modifier=CACHE)
                paired = inner & (i > 0) & (S_cells > low)
                paired &= both_arcs(arc_scores, tokens, j, i, r, paired)
                left_below = tl.where(alone, left_below, S_cells)
                left_pair = tl.load(sibling_scores + pair_left, paired, low)
                left_pair = tl.where(alone, 0.0, left_pair)
            else:
                right_below = tl.load(C + next_right, here, low, cache_modifier=CACHE)
                left_below = tl.load(C + next_left, here & (i > 0), low, cache_modifier=CACHE)
            flow_C_right = tl.zeros([BLOCK_R], C.dtype.element_ty)
            flow_C_left, flow_right, flow_left = flow_C_right, flow_C_right, flow_C_right
            for start in range(0, length + 1, BLOCK_I):
                g = (start + tl.arange(0, BLOCK_I))[None, :]
                outer = (g < i[:, None]) | ((g > j[:, None]) & (i > 0)[:, None])
                outer = here[:, None] & (g <= length) & (outer | ((i == 0)[:, None] & (g == 0)))
                words = outer & (i > 0)[:, None]
                ij = ((i * tokens + j) * tokens)[:, None] + g
                ji = ((j * tokens + i) * tokens)[:, None] + g
                ir = ((i * tokens + r) * tokens)[:, None] + g
                jr = ((j * tokens + r) * tokens)[:, None] + g
                later = (d > 0)[:, None]
                whole = outer & ((i == 0) & (j == length))[:, None]
                right, scale = complete_share(C_sum, to_C, volume, ij, whole, outer, CACHE)
                I_right = tl.load(I + ir, outer & later, low, cache_modifier=CACHE)
                flow_C_right += tl.sum(amounts(I_right + C_right[:, None], right, scale), 1)
                left, scale = complete_share(C_sum, to_C, volume, ji, whole & words, words, CACHE)
                I_left = tl.load(I + jr, words & later, low, cache_modifier=CACHE)
                flow_C_left += tl.sum(amounts(I_left + C_left[:, None], left, scale), 1)
                if SIBLINGS:
                    beside_right = tl.where(later, I_right, 0.0)
                    beside_left = tl.where(later, I_left, 0.0)
                else:
                    beside_right = tl.load(C + ir, outer, low, cache_modifier=CACHE)
                    beside_left = tl.load(C + jr + tokens, words, low, cache_modifier=CACHE)
                right, scale = arc_share(I_sum, to_I, volume, ij, outer, CACHE)
                terms = beside_right + right_below[:, None]
                if SIBLINGS:
                    terms += right_pair[:, None]
                flow_right += tl.sum(amounts(terms, right, scale), 1)
                left, scale = arc_share(I_sum, to_I, volume, ji, words, CACHE)
                terms = beside_left + left_below[:, None]
                if SIBLINGS:
                    terms += left_pair[:, None]
                flow_left += tl.sum(amounts(terms, left, scale), 1)
            pour(to_C_below + C_right_cells, flow_C_right, inner, CACHE)
            pour(to_C_below + C_left_cells, flow_C_left, inner & (i > 0), CACHE)
            if SIBLINGS:
                pour(to_C_below + next_right, flow_right, alone, CACHE)
                pour(to_C_below + next_left, flow_left, alone & (i > 0), CACHE)
                pour(to_S + S_right, flow_right, beside, CACHE)
                pour(to_S + S_left, flow_left, inner & (i > 0), CACHE)
                if PAIRS:
                    tl.store(sibling_marginals + pair_right, flow_right, beside)
                    tl.store(sibling_marginals + pair_left, flow_left, inner & (i > 0))
            else:
                pour(to_C_below + next_right, flow_right, here, CACHE)
                pour(to_C_below + next_left, flow_left, here & (i > 0), CACHE)
        next_width(counters + sentence, 1 + number, team, WAIT)
