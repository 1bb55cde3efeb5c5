"""The first-order projective family as fused Triton kernels, each a whole pass.

I, S and C are the paper's incomplete, sibling and complete spans, i < j a span's ends, r a split.
Charts are `[sentence, chart, row, column]`. C is kept by head (row i of C[i->r]) and by tail (row j
of C[r->j]), so that a loop over splits always walks along a row.
"""

import triton
import triton.language as tl

from treecrf.ops.triton.fused import SIZES, add_term, add_terms, next_width, pour, share, total

# Charts of the inside pass: C[i->j] by head and by tail in both directions, I in both directions;
# then the two numbers (see `add_terms`) of the sums S[i,j], C[i->j] and C[j->i].
CHARTS = tl.constexpr(12)
# Charts of the outside pass: flows into C by head and by tail, and into I, in both directions.
FLOWS = tl.constexpr(6)
# Charts of back-tracking: which C and I the best tree uses, in both directions.
MARKS = tl.constexpr(4)


@triton.jit(do_not_specialize=SIZES)
def inside(
    arc_scores, lengths, charts, log_partition, counters, tokens, first_width, last_width, team,
    MULTIROOT: tl.constexpr, MAX: tl.constexpr,
    WAIT: tl.constexpr, CACHE: tl.constexpr,
    BLOCK_I: tl.constexpr, BLOCK_R: tl.constexpr,
):  # fmt: skip
    """Fills the charts and `log_partition [sentence]`, or with MAX the best scores and splits."""
    sentence, member = tl.program_id(0).to(tl.int64) // team, tl.program_id(0) % team
    length = tl.load(lengths + sentence).to(tl.int32)
    area = tokens * tokens
    arc_scores += sentence * area
    C_right = charts + sentence * CHARTS * area
    C_right_tail, C_left, C_left_tail = C_right + area, C_right + 2 * area, C_right + 3 * area
    I_right, I_left = C_right + 4 * area, C_right + 5 * area
    S_sum, C_right_sum, C_left_sum = C_right + 6 * area, C_right + 8 * area, C_right + 10 * area
    dtype: tl.constexpr = arc_scores.dtype.element_ty

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
            right, right_extra = lowest, nothing
            left, left_extra = lowest, nothing
            row_i, row_j = (i * tokens)[:, None], (j * tokens)[:, None]
            for start in range(0, width, BLOCK_R):
                d = start + tl.arange(0, BLOCK_R)
                r = i[:, None] + d[None, :]
                split = here[:, None] & (d < width)[None, :]
                inner = split & (d > 0)[None, :]
                low = float("-inf")
                # S[i,j] = sum_{i <= r < j} C[i->r] C[j->r+1]
                terms = tl.load(C_right + row_i + r, split, low, cache_modifier=CACHE) + tl.load(
                    C_left + row_j + r + 1, split, low, cache_modifier=CACHE
                )
                S, S_extra = add_terms(S, S_extra, terms, d, MAX)
                # C[i->j] = sum_{i < r <= j} I[i->r] C[r->j], its last term after the loop
                terms = tl.load(I_right + row_i + r, inner, low, cache_modifier=CACHE) + tl.load(
                    C_right_tail + row_j + r, inner, low, cache_modifier=CACHE
                )
                right, right_extra = add_terms(right, right_extra, terms, d, MAX)
                # C[j->i] = sum_{i <= r < j} I[j->r] C[r->i], its first term after the loop
                terms = tl.load(I_left + row_j + r, inner, low, cache_modifier=CACHE) + tl.load(
                    C_left_tail + row_i + r, inner, low, cache_modifier=CACHE
                )
                left, left_extra = add_terms(left, left_extra, terms, d, MAX)
            ij, ji = i * tokens + j, j * tokens + i
            # I[i->j] = S[i,j] s(i,j)  and  I[j->i] = S[i,j] s(j,i)
            value = total(S, S_extra, MAX)
            to_right = value + tl.load(arc_scores + ji, here, float("-inf"))
            to_left = value + tl.load(arc_scores + ij, here, float("-inf"))
            right, right_extra = add_term(right, right_extra, to_right, width, MAX)
            left, left_extra = add_term(left, left_extra, to_left, 0, MAX)
            if not MULTIROOT:  # C[0->j] exists for the whole sentence alone
                right = tl.where((i == 0) & (j < length), float("-inf"), right)
                right_extra = tl.where((i == 0) & (j < length), 0.0, right_extra)
            complete_right = total(right, right_extra, MAX)
            complete_left = total(left, left_extra, MAX)
            tl.store(I_right + ij, to_right, here)
            tl.store(I_left + ji, to_left, here)
            tl.store(C_right + ij, complete_right, here)
            tl.store(C_right_tail + ji, complete_right, here)
            tl.store(C_left + ji, complete_left, here)
            tl.store(C_left_tail + ij, complete_left, here)
            tl.store(S_sum + ij, S, here)
            tl.store(S_sum + area + ij, S_extra, here)
            tl.store(C_right_sum + ij, right, here)
            tl.store(C_right_sum + area + ij, right_extra, here)
            tl.store(C_left_sum + ij, left, here)
            tl.store(C_left_sum + area + ij, left_extra, here)
            tl.store(log_partition + sentence + i, complete_right, (i == 0) & (j == length))
        next_width(counters + sentence, 1 + width, team, WAIT)


@triton.jit(do_not_specialize=SIZES)
def outside(
    lengths, charts, flows, marginals, counters, tokens, first_width, last_width, team,
    WAIT: tl.constexpr, CACHE: tl.constexpr,
    BLOCK_I: tl.constexpr, BLOCK_R: tl.constexpr,
):  # fmt: skip
    """Fills `marginals [sentence, dependent, head]` by the flows from the sentence downwards.

    Both hold zeros; the charts are those that `inside` leaves.
    """
    sentence, member = tl.program_id(0).to(tl.int64) // team, tl.program_id(0) % team
    length = tl.load(lengths + sentence).to(tl.int32)
    area = tokens * tokens
    marginals += sentence * area
    C_right = charts + sentence * CHARTS * area
    C_right_tail, C_left, C_left_tail = C_right + area, C_right + 2 * area, C_right + 3 * area
    I_right, I_left = C_right + 4 * area, C_right + 5 * area
    S_sum, C_right_sum, C_left_sum = C_right + 6 * area, C_right + 8 * area, C_right + 10 * area
    to_C_right = flows + sentence * FLOWS * area
    to_C_right_tail, to_C_left = to_C_right + area, to_C_right + 2 * area
    to_C_left_tail, to_I_right = to_C_right + 3 * area, to_C_right + 4 * area
    to_I_left = to_C_right + 5 * area

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
            flow_right = tl.load(to_C_right + ij, here, 0.0, cache_modifier=CACHE)
            flow_right += tl.load(to_C_right_tail + ji, here, 0.0, cache_modifier=CACHE)
            flow_left = tl.load(to_C_left + ji, here, 0.0, cache_modifier=CACHE)
            flow_left += tl.load(to_C_left_tail + ij, here, 0.0, cache_modifier=CACHE)
            right = tl.load(C_right_sum + ij, here, 0.0, cache_modifier=CACHE)
            right_extra = tl.load(C_right_sum + area + ij, here, 0.0, cache_modifier=CACHE)
            left = tl.load(C_left_sum + ij, here, 0.0, cache_modifier=CACHE)
            left_extra = tl.load(C_left_sum + area + ij, here, 0.0, cache_modifier=CACHE)
            flow_right = tl.where((i == 0) & (j == length), 1.0, flow_right)
            right, right_scale = share(flow_right, right, right_extra)
            left, left_scale = share(flow_left, left, left_extra)

            arc_right = tl.load(to_I_right + ij, here, 0.0, cache_modifier=CACHE)
            arc_left = tl.load(to_I_left + ji, here, 0.0, cache_modifier=CACHE)
            low = float("-inf")
            own = tl.load(I_right + ij, here, low, cache_modifier=CACHE)
            arc_right += tl.exp(own - right) * right_scale
            own = tl.load(I_left + ji, here, low, cache_modifier=CACHE)
            arc_left += tl.exp(own - left) * left_scale
            tl.store(marginals + ji, arc_right, here)
            tl.store(marginals + ij, arc_left, here)

            S = tl.load(S_sum + ij, here, 0.0, cache_modifier=CACHE)
            S_extra = tl.load(S_sum + area + ij, here, 0.0, cache_modifier=CACHE)
            S, S_scale = share(arc_right + arc_left, S, S_extra)

            for start in range(0, width, BLOCK_R):
                d = start + tl.arange(0, BLOCK_R)
                r = i[:, None] + d[None, :]
                split = here[:, None] & (d < width)[None, :]
                inner = split & (d > 0)[None, :]
                # S[i,j] = sum_{i <= r < j} C[i->r] C[j->r+1]
                term = tl.load(C_right + row_i + r, split, low, cache_modifier=CACHE) + tl.load(
                    C_left + row_j + r + 1, split, low, cache_modifier=CACHE
                )
                amount = tl.exp(term - S[:, None]) * S_scale[:, None]
                pour(to_C_right + row_i + r, amount, split, CACHE)
                pour(to_C_left + row_j + r + 1, amount, split, CACHE)
                # C[i->j] = sum_{i < r <= j} I[i->r] C[r->j]
                term = tl.load(I_right + row_i + r, inner, low, cache_modifier=CACHE) + tl.load(
                    C_right_tail + row_j + r, inner, low, cache_modifier=CACHE
                )
                amount = tl.exp(term - right[:, None]) * right_scale[:, None]
                pour(to_I_right + row_i + r, amount, inner, CACHE)
                pour(to_C_right_tail + row_j + r, amount, inner, CACHE)
                # C[j->i] = sum_{i <= r < j} I[j->r] C[r->i]
                term = tl.load(I_left + row_j + r, inner, low, cache_modifier=CACHE) + tl.load(
                    C_left_tail + row_i + r, inner, low, cache_modifier=CACHE
                )
                amount = tl.exp(term - left[:, None]) * left_scale[:, None]
                pour(to_I_left + row_j + r, amount, inner, CACHE)
                pour(to_C_left_tail + row_i + r, amount, inner, CACHE)
        next_width(counters + sentence, 1 + step, team, WAIT)


@triton.jit(do_not_specialize=["tokens"])
def backtrack(lengths, charts, marks, best, heads, tokens, BLOCK_I: tl.constexpr):
    """Fills `heads [sentence, token]`, -1 where there is no tree, by the splits of `inside`."""
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
    S_split = charts + sentence * CHARTS * area + 7 * area
    C_right_split, C_left_split = S_split + 2 * area, S_split + 4 * area
    C_right = marks + sentence * MARKS * area
    C_left, I_right, I_left = C_right + area, C_right + 2 * area, C_right + 3 * area

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
            # S[i,j] = C[i->r] C[j->r+1]
            arc = arc_right | arc_left
            r = i + tl.load(S_split + ij, arc, 0.0).to(tl.int32)
            tl.store(C_right + i * tokens + r, 1, arc & (r > i))
            tl.store(C_left + j * tokens + r + 1, 1, arc & (r + 1 < j))
        tl.debug_barrier()
