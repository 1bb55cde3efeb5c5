"""The projective trees as fused Triton kernels, each a whole pass.

I, S and C are the paper's incomplete, sibling and complete spans, i < j a span's ends, r a split.
Charts are `[sentence, chart, row, column]`. C is kept by head (row i of C[i->r]) and by tail (row j
of C[r->j]), S by either end, so that a loop over splits always walks along a row. SIBLINGS are
scored in trees of the second order; without them `sibling_scores` is None.
"""

import triton
import triton.language as tl

from treecrf.ops.triton.fused import (
    SIZES,
    add_term,
    add_terms,
    load_sum,
    next_width,
    pour,
    share,
    store_sum,
    total,
)

# Charts of the inside pass: C[i->j] by head and by tail in both directions, I in both directions;
# then the two numbers (see `add_terms`) of the sums S[i,j], C[i->j] and C[j->i].
CHARTS = tl.constexpr(12)
# With siblings also: S by left and by right end, and the two numbers of I[i->j] and I[j->i].
SIBLING_CHARTS = tl.constexpr(6)
# Charts of the outside pass: flows into C and I as above, and with siblings into S by either end.
FLOWS, SIBLING_FLOWS = tl.constexpr(6), tl.constexpr(2)
# Charts of back-tracking: which C and I, in both directions, and which S the best tree uses.
MARKS, SIBLING_MARKS = tl.constexpr(4), tl.constexpr(1)


@triton.jit
def sibling_terms(I, S_cells, scores, inner, paired, CACHE: tl.constexpr):
    """The terms I[i->r] S[r,j] s(i,r,j) of a tile, and which of them some tree has."""
    low = float("-inf")
    both = inner & paired[:, None] & (low < I)
    terms = I + tl.load(S_cells, both, low, cache_modifier=CACHE)
    return terms + tl.load(scores, both, low), both


@triton.jit
def joined_flows(cells, others, mask, CACHE: tl.constexpr):
    """The flow into cells that are kept twice."""
    flow = tl.load(cells, mask, 0.0, cache_modifier=CACHE)
    return flow + tl.load(others, mask, 0.0, cache_modifier=CACHE)


@triton.jit(do_not_specialize=SIZES)
def inside(
    arc_scores, sibling_scores, lengths, charts, log_partition, counters,
    tokens, first_width, last_width, team,
    SIBLINGS: tl.constexpr, MULTIROOT: tl.constexpr, MAX: tl.constexpr,
    WAIT: tl.constexpr, CACHE: tl.constexpr,
    BLOCK_I: tl.constexpr, BLOCK_R: tl.constexpr,
):  # fmt: skip
    """Fill the charts and `log_partition [sentence]`, or with MAX the best scores and splits."""
    sentence, member = tl.program_id(0).to(tl.int64) // team, tl.program_id(0) % team
    length = tl.load(lengths + sentence).to(tl.int32)
    area = tokens * tokens
    arc_scores += sentence * area
    C_right = charts + sentence * (CHARTS + SIBLINGS * SIBLING_CHARTS) * area
    C_right_tail, C_left, C_left_tail = C_right + area, C_right + 2 * area, C_right + 3 * area
    I_right, I_left = C_right + 4 * area, C_right + 5 * area
    S_sum, C_right_sum, C_left_sum = C_right + 6 * area, C_right + 8 * area, C_right + 10 * area
    if SIBLINGS:
        sibling_scores += sentence * area * tokens
        S_left, S_right = C_right + 12 * area, C_right + 13 * area
        I_right_sum, I_left_sum = C_right + 14 * area, C_right + 16 * area
    dtype: tl.constexpr = arc_scores.dtype.element_ty
    low = float("-inf")

    if length == 0:
        tl.store(log_partition + sentence, 0.0)
    # C[i->i] = 1
    if first_width == 0:
        for block in range(member, tl.cdiv(length + 1, BLOCK_I), team):
            i = block * BLOCK_I + tl.arange(0, BLOCK_I)
            for chart in tl.static_range(4):
                tl.store(C_right + chart * area + i * (tokens + 1), 0.0, i <= length)
        next_width(counters + sentence, 1, team, WAIT)

    for width in range(tl.maximum(first_width, 1), tl.minimum(last_width, length) + 1):
        for block in range(member, tl.cdiv(length + 1 - width, BLOCK_I), team):
            i = block * BLOCK_I + tl.arange(0, BLOCK_I)
            j = i + width
            here = j <= length
            lowest = tl.full([BLOCK_I], float("-inf"), dtype)
            nothing = tl.zeros([BLOCK_I], dtype)
            S, S_extra = lowest, nothing
            right, right_extra, left, left_extra = lowest, nothing, lowest, nothing
            row_i, row_j = (i * tokens)[:, None], (j * tokens)[:, None]
            if SIBLINGS:
                ij, ji = i * tokens + j, j * tokens + i
                arc_right = tl.load(arc_scores + ji, here, low)
                arc_left = tl.load(arc_scores + ij, here, low)
                paired_right, paired_left = arc_right > low, arc_left > low
                if not MULTIROOT:
                    paired_right &= i > 0
                to_right, to_right_extra, to_left, to_left_extra = lowest, nothing, lowest, nothing
                pair_right = (ji.to(tl.int64) * tokens)[:, None]
                pair_left = (ij.to(tl.int64) * tokens)[:, None]
            for start in range(0, width, BLOCK_R):
                d = start + tl.arange(0, BLOCK_R)
                r = i[:, None] + d[None, :]
                split = here[:, None] & (d < width)[None, :]
                inner = split & (d > 0)[None, :]
                # S[i,j] = sum_{i <= r < j} C[i->r] C[j->r+1]
                terms = tl.load(C_right + row_i + r, split, low, cache_modifier=CACHE)
                terms += tl.load(C_left + row_j + r + 1, split, low, cache_modifier=CACHE)
                S, S_extra = add_terms(S, S_extra, terms, d, MAX)
                # C[i->j] = sum_{i < r <= j} I[i->r] C[r->j], its last term after the loop
                I = tl.load(I_right + row_i + r, inner, low, cache_modifier=CACHE)
                terms = I + tl.load(C_right_tail + row_j + r, inner, low, cache_modifier=CACHE)
                right, right_extra = add_terms(right, right_extra, terms, d, MAX)
                if SIBLINGS:
                    # I[i->j] = (C[i->i] C[j->i+1] + sum_{i < r < j} I[i->r] S[r,j] s(i,r,j)) s(i,j)
                    S_cells, scores = S_right + row_j + r, sibling_scores + pair_right + r
                    terms, _ = sibling_terms(I, S_cells, scores, inner, paired_right, CACHE)
                    to_right, to_right_extra = add_terms(to_right, to_right_extra, terms, d, MAX)
                # C[j->i] = sum_{i <= r < j} I[j->r] C[r->i], its first term after the loop
                I = tl.load(I_left + row_j + r, inner, low, cache_modifier=CACHE)
                terms = I + tl.load(C_left_tail + row_i + r, inner, low, cache_modifier=CACHE)
                left, left_extra = add_terms(left, left_extra, terms, d, MAX)
                if SIBLINGS:
                    # I[j->i] = (C[j->j] C[i->j-1] + sum_{i < r < j} I[j->r] S[i,r] s(j,r,i)) s(j,i)
                    S_cells, scores = S_left + row_i + r, sibling_scores + pair_left + r
                    terms, _ = sibling_terms(I, S_cells, scores, inner, paired_left, CACHE)
                    to_left, to_left_extra = add_terms(to_left, to_left_extra, terms, d, MAX)
            ij, ji = i * tokens + j, j * tokens + i  # here, so that the loop needs fewer registers
            sibling_span = total(S, S_extra, MAX)
            if SIBLINGS:
                alone = tl.load(C_left + ji + 1, here, low, cache_modifier=CACHE)
                to_right, to_right_extra = add_term(to_right, to_right_extra, alone, 0, MAX)
                alone = tl.load(C_right + ij - 1, here, low, cache_modifier=CACHE)
                to_left, to_left_extra = add_term(to_left, to_left_extra, alone, 0, MAX)
                arc_right += total(to_right, to_right_extra, MAX)
                arc_left += total(to_left, to_left_extra, MAX)
            else:
                # I[i->j] = S[i,j] s(i,j)  and  I[j->i] = S[i,j] s(j,i)
                arc_right = sibling_span + tl.load(arc_scores + ji, here, low)
                arc_left = sibling_span + tl.load(arc_scores + ij, here, low)
            right, right_extra = add_term(right, right_extra, arc_right, width, MAX)
            left, left_extra = add_term(left, left_extra, arc_left, 0, MAX)
            if not MULTIROOT:  # C[0->j] exists for the whole sentence alone
                right = tl.where((i == 0) & (j < length), low, right)
                right_extra = tl.where((i == 0) & (j < length), 0.0, right_extra)
            complete_right = total(right, right_extra, MAX)
            complete_left = total(left, left_extra, MAX)
            tl.store(I_right + ij, arc_right, here)
            tl.store(I_left + ji, arc_left, here)
            tl.store(C_right + ij, complete_right, here)
            tl.store(C_right_tail + ji, complete_right, here)
            tl.store(C_left + ji, complete_left, here)
            tl.store(C_left_tail + ij, complete_left, here)
            store_sum(S_sum, area, ij, S, S_extra, here)
            store_sum(C_right_sum, area, ij, right, right_extra, here)
            store_sum(C_left_sum, area, ij, left, left_extra, here)
            if SIBLINGS:
                tl.store(S_left + ij, sibling_span, here)
                tl.store(S_right + ji, sibling_span, here)
                store_sum(I_right_sum, area, ij, to_right, to_right_extra, here)
                store_sum(I_left_sum, area, ij, to_left, to_left_extra, here)
            tl.store(log_partition + sentence + i, complete_right, (i == 0) & (j == length))
        next_width(counters + sentence, 1 + width, team, WAIT)


@triton.jit(do_not_specialize=SIZES)
def outside(
    sibling_scores, lengths, charts, flows, marginals, sibling_marginals, counters,
    tokens, first_width, last_width, team,
    SIBLINGS: tl.constexpr, PAIRS: tl.constexpr, MULTIROOT: tl.constexpr,
    WAIT: tl.constexpr, CACHE: tl.constexpr,
    BLOCK_I: tl.constexpr, BLOCK_R: tl.constexpr,
):  # fmt: skip
    """Fill `marginals`, with PAIRS `sibling_marginals` too, by the flows downwards.

    These and the flows hold zeros; the charts are those that `inside` leaves.
    """
    sentence, member = tl.program_id(0).to(tl.int64) // team, tl.program_id(0) % team
    length = tl.load(lengths + sentence).to(tl.int32)
    area = tokens * tokens
    marginals += sentence * area
    C_right = charts + sentence * (CHARTS + SIBLINGS * SIBLING_CHARTS) * area
    C_right_tail, C_left, C_left_tail = C_right + area, C_right + 2 * area, C_right + 3 * area
    I_right, I_left = C_right + 4 * area, C_right + 5 * area
    S_sum, C_right_sum, C_left_sum = C_right + 6 * area, C_right + 8 * area, C_right + 10 * area
    to_C_right = flows + sentence * (FLOWS + SIBLINGS * SIBLING_FLOWS) * area
    to_C_right_tail, to_C_left = to_C_right + area, to_C_right + 2 * area
    to_C_left_tail, to_I_right = to_C_right + 3 * area, to_C_right + 4 * area
    to_I_left = to_C_right + 5 * area
    if SIBLINGS:
        sibling_scores += sentence * area * tokens
        S_left, S_right = C_right + 12 * area, C_right + 13 * area
        I_right_sum, I_left_sum = C_right + 14 * area, C_right + 16 * area
        to_S_left, to_S_right = to_C_right + 6 * area, to_C_right + 7 * area
    if PAIRS:
        sibling_marginals += sentence * area * tokens
    low = float("-inf")

    top = tl.minimum(last_width, length)
    for step in range(0, top - tl.maximum(first_width, 1) + 1):
        width = top - step
        for block in range(member, tl.cdiv(length + 1 - width, BLOCK_I), team):
            i = block * BLOCK_I + tl.arange(0, BLOCK_I)
            j = i + width
            here = j <= length
            ij, ji = i * tokens + j, j * tokens + i
            row_i, row_j = (i * tokens)[:, None], (j * tokens)[:, None]

            # The flow of a cell is the probability that it is used; all of it starts at C[0->n].
            flow_right = joined_flows(to_C_right + ij, to_C_right_tail + ji, here, CACHE)
            flow_left = joined_flows(to_C_left + ji, to_C_left_tail + ij, here, CACHE)
            right, right_extra = load_sum(C_right_sum, area, ij, here, CACHE)
            left, left_extra = load_sum(C_left_sum, area, ij, here, CACHE)
            flow_right = tl.where((i == 0) & (j == length), 1.0, flow_right)
            right, right_scale = share(flow_right, right, right_extra)
            left, left_scale = share(flow_left, left, left_extra)

            arc_right = tl.load(to_I_right + ij, here, 0.0, cache_modifier=CACHE)
            arc_left = tl.load(to_I_left + ji, here, 0.0, cache_modifier=CACHE)
            own_right = tl.load(I_right + ij, here, low, cache_modifier=CACHE)
            own_left = tl.load(I_left + ji, here, low, cache_modifier=CACHE)
            arc_right += tl.exp(own_right - right) * right_scale
            arc_left += tl.exp(own_left - left) * left_scale
            tl.store(marginals + ji, arc_right, here)
            tl.store(marginals + ij, arc_left, here)

            if SIBLINGS:
                pair_right = (ji.to(tl.int64) * tokens)[:, None]
                pair_left = (ij.to(tl.int64) * tokens)[:, None]
                paired_right, paired_left = own_right > low, own_left > low
                if not MULTIROOT:
                    paired_right &= i > 0
                to_right, to_right_extra = load_sum(I_right_sum, area, ij, here, CACHE)
                to_right, to_right_scale = share(arc_right, to_right, to_right_extra)
                to_left, to_left_extra = load_sum(I_left_sum, area, ij, here, CACHE)
                to_left, to_left_scale = share(arc_left, to_left, to_left_extra)
                alone_right = tl.load(C_left + ji + 1, here, low, cache_modifier=CACHE)
                alone_right = tl.exp(alone_right - to_right) * to_right_scale
                alone_left = tl.load(C_right + ij - 1, here, low, cache_modifier=CACHE)
                alone_left = tl.exp(alone_left - to_left) * to_left_scale
                flow = joined_flows(to_S_left + ij, to_S_right + ji, here, CACHE)
            else:
                flow = arc_right + arc_left
            S, S_extra = load_sum(S_sum, area, ij, here, CACHE)
            S, S_scale = share(flow, S, S_extra)

            for start in range(0, width, BLOCK_R):
                d = start + tl.arange(0, BLOCK_R)
                r = i[:, None] + d[None, :]
                split = here[:, None] & (d < width)[None, :]
                inner = split & (d > 0)[None, :]
                # S[i,j] = sum_{i <= r < j} C[i->r] C[j->r+1], and the arcs that have no sibling
                term = tl.load(C_right + row_i + r, split, low, cache_modifier=CACHE)
                term += tl.load(C_left + row_j + r + 1, split, low, cache_modifier=CACHE)
                amount = tl.exp(term - S[:, None]) * S_scale[:, None]
                extra = amount
                if SIBLINGS:
                    extra += tl.where((d == width - 1)[None, :], alone_left[:, None], 0.0)
                pour(to_C_right + row_i + r, extra, split, CACHE)
                if SIBLINGS:
                    amount += tl.where((d == 0)[None, :], alone_right[:, None], 0.0)
                pour(to_C_left + row_j + r + 1, amount, split, CACHE)
                # C[i->j] = sum_{i < r <= j} I[i->r] C[r->j]
                I = tl.load(I_right + row_i + r, inner, low, cache_modifier=CACHE)
                term = I + tl.load(C_right_tail + row_j + r, inner, low, cache_modifier=CACHE)
                amount = tl.exp(term - right[:, None]) * right_scale[:, None]
                pour(to_C_right_tail + row_j + r, amount, inner, CACHE)
                if SIBLINGS:
                    # I[i->j] = (C[i->i] C[j->i+1] + sum_{i < r < j} I[i->r] S[r,j] s(i,r,j)) s(i,j)
                    S_cells, scores = S_right + row_j + r, sibling_scores + pair_right + r
                    term, both = sibling_terms(I, S_cells, scores, inner, paired_right, CACHE)
                    paired = tl.exp(term - to_right[:, None]) * to_right_scale[:, None]
                    pour(to_S_right + row_j + r, paired, inner, CACHE)
                    amount += paired
                    if PAIRS:
                        tl.store(sibling_marginals + pair_right + r, paired, both)
                pour(to_I_right + row_i + r, amount, inner, CACHE)
                # C[j->i] = sum_{i <= r < j} I[j->r] C[r->i]
                I = tl.load(I_left + row_j + r, inner, low, cache_modifier=CACHE)
                term = I + tl.load(C_left_tail + row_i + r, inner, low, cache_modifier=CACHE)
                amount = tl.exp(term - left[:, None]) * left_scale[:, None]
                pour(to_C_left_tail + row_i + r, amount, inner, CACHE)
                if SIBLINGS:
                    # I[j->i] = (C[j->j] C[i->j-1] + sum_{i < r < j} I[j->r] S[i,r] s(j,r,i)) s(j,i)
                    S_cells, scores = S_left + row_i + r, sibling_scores + pair_left + r
                    term, both = sibling_terms(I, S_cells, scores, inner, paired_left, CACHE)
                    paired = tl.exp(term - to_left[:, None]) * to_left_scale[:, None]
                    pour(to_S_left + row_i + r, paired, inner, CACHE)
                    amount += paired
                    if PAIRS:
                        tl.store(sibling_marginals + pair_left + r, paired, both)
                pour(to_I_left + row_j + r, amount, inner, CACHE)
        next_width(counters + sentence, 1 + step, team, WAIT)


@triton.jit(do_not_specialize=["tokens"])
def backtrack(
    lengths, charts, marks, best, heads, tokens, SIBLINGS: tl.constexpr, BLOCK_I: tl.constexpr
):
    """Fill `heads [sentence, token]`, -1 where there is no tree, by the splits of `inside`."""
    sentence = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + sentence).to(tl.int32)
    exists = tl.load(best + sentence) > float("-inf")
    area = tokens * tokens
    heads += sentence * tokens
    for start in range(0, tokens, BLOCK_I):
        token = start + tl.arange(0, BLOCK_I)
        tl.store(heads + token, tl.where(exists, 0, -1), token < tokens)
    if not exists:
        length = 0
    tl.debug_barrier()
    S_split = charts + sentence * (CHARTS + SIBLINGS * SIBLING_CHARTS) * area + 7 * area
    C_right_split, C_left_split = S_split + 2 * area, S_split + 4 * area
    C_right = marks + sentence * (MARKS + SIBLINGS * SIBLING_MARKS) * area
    C_left, I_right, I_left = C_right + area, C_right + 2 * area, C_right + 3 * area
    if SIBLINGS:
        I_right_split, I_left_split = S_split + 8 * area, S_split + 10 * area
        S = C_right + 4 * area

    for step in range(0, length):
        width = length - step
        for start in range(0, length + 1 - width, BLOCK_I):
            i = start + tl.arange(0, BLOCK_I)
            j = i + width
            here = j <= length
            ij, ji = i * tokens + j, j * tokens + i
            right = (tl.load(C_right + ij, here, 0) > 0) | ((i == 0) & (j == length))
            left = tl.load(C_left + ji, here, 0) > 0
            r = i + tl.load(C_right_split + ij, right, 0.0).to(tl.int32)
            q = i + tl.load(C_left_split + ij, left, 0.0).to(tl.int32)
            arc_right = (tl.load(I_right + ij, here, 0) > 0) | (right & (r == j))
            arc_left = (tl.load(I_left + ji, here, 0) > 0) | (left & (q == i))
            tl.store(heads + j, i, arc_right)
            tl.store(heads + i, j, arc_left)
            # C[i->j] = I[i->r] C[r->j]  and  C[j->i] = I[j->q] C[q->i]
            tl.store(I_right + i * tokens + r, 1, right & (r < j))
            tl.store(C_right + r * tokens + j, 1, right & (r < j))
            tl.store(I_left + j * tokens + q, 1, left & (q > i))
            tl.store(C_left + q * tokens + i, 1, left & (q > i))
            if SIBLINGS:
                # I[i->j] = C[i->i] C[j->i+1] s(i,j), or I[i->r] S[r,j] s(i,r,j) s(i,j)
                r = i + tl.load(I_right_split + ij, arc_right, 0.0).to(tl.int32)
                tl.store(C_left + ji + 1, 1, arc_right & (r == i) & (width > 1))
                tl.store(I_right + i * tokens + r, 1, arc_right & (r > i))
                tl.store(S + r * tokens + j, 1, arc_right & (r > i))
                # I[j->i] = C[j->j] C[i->j-1] s(j,i), or I[j->r] S[i,r] s(j,r,i) s(j,i)
                r = i + tl.load(I_left_split + ij, arc_left, 0.0).to(tl.int32)
                tl.store(C_right + ij - 1, 1, arc_left & (r == i) & (width > 1))
                tl.store(I_left + j * tokens + r, 1, arc_left & (r > i))
                tl.store(S + i * tokens + r, 1, arc_left & (r > i))
                meeting = tl.load(S + ij, here, 0) > 0
            else:
                meeting = arc_right | arc_left
            # S[i,j] = C[i->r] C[j->r+1]
            r = i + tl.load(S_split + ij, meeting, 0.0).to(tl.int32)
            tl.store(C_right + i * tokens + r, 1, meeting & (r > i))
            tl.store(C_left + j * tokens + r + 1, 1, meeting & (r + 1 < j))
        tl.debug_barrier()
