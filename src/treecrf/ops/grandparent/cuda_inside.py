"""The inside pass with grandparents as one fused Triton kernel.

The letters are those of `reference`. A chart is `[sentence, head, end, grandparent]`, S by its left
and its right end. A position is a span from i to j with a grandparent g outside of it; of the root
symbol, i = 0, there is one, with g = 0 for none. A tile is `[split, position]`: neighbouring
positions have neighbouring grandparents, which lie side by side in memory. SIBLINGS are scored in
Model 1; without them `sibling_scores` is None.
"""

import triton
import triton.language as tl

from treecrf.ops.triton.fused import SIZES, add_term, next_width, store_sum, total

# Charts: the values of C and I, then the two numbers (see `add_rows`) of the sums C and I.
CHARTS = tl.constexpr(6)
# With siblings also: the values of S and the two numbers of its sums.
SIBLING_CHARTS = tl.constexpr(3)


@triton.jit
def add_rows(largest, extra, terms):
    """Add terms `[split, position]` to log sums `[position]`.

    A sum is kept as its largest term and the sum of exp(term - largest) in `extra`.
    """
    grown = tl.maximum(largest, tl.max(terms, 0))
    origin = tl.where(grown == float("-inf"), 0.0, grown)
    extra = extra * tl.exp(largest - origin) + tl.sum(tl.exp(terms - origin[None, :]), 0)
    return grown, extra


@triton.jit
def positions(p, width, length):
    """Ends and grandparents of the spans of a width, and which positions p exist."""
    beside = tl.maximum(length - width, 1)  # grandparents of a span, and spans but the root's
    count = (length - width) * (length - width) + 1
    at_root = p == count - 1
    i = tl.where(at_root, 0, 1 + p // beside)
    place = p % beside
    g = place + tl.where(place >= i, width + 1, 0)
    return i, i + width, tl.where(at_root, 0, g), p < count


@triton.jit
def arc_terms(arc_scores, grandparent_scores, tokens, head, dependent, g, here):
    """Scores of arcs with their grandparents, -inf where there is no such pair of arcs."""
    low = float("-inf")
    arc = dependent * tokens + head
    score = tl.load(arc_scores + arc, here, low)
    above = tl.load(arc_scores + head * tokens + g, here & (head > 0), low)
    both = here & (head > 0) & (score > low) & (above > low)
    pair = tl.load(grandparent_scores + arc * tokens + g, both, low)
    return score + tl.where(head > 0, pair, 0.0)


@triton.jit
def sibling_rows(I, S_cells, scores, mask, CACHE: tl.constexpr):
    """The terms I^g[i->r] S^i[r,j] s(i,r,j) of a tile; scores that no tree uses are not read."""
    low = float("-inf")
    both = mask & (low < I)
    terms = I + tl.load(S_cells, both, low, cache_modifier=CACHE)
    return terms + tl.load(scores, both, low)


@triton.jit(do_not_specialize=SIZES)
def inside(
    arc_scores, grandparent_scores, sibling_scores, lengths, charts, log_partition, counters,
    tokens, first_width, last_width, team,
    SIBLINGS: tl.constexpr, MULTIROOT: tl.constexpr,
    WAIT: tl.constexpr, CACHE: tl.constexpr,
    BLOCK_I: tl.constexpr, BLOCK_R: tl.constexpr,
):  # fmt: skip
    """Fill the charts and `log_partition [sentence]`."""
    sentence, member = tl.program_id(0).to(tl.int64) // team, tl.program_id(0) % team
    length = tl.load(lengths + sentence).to(tl.int32)
    area, volume = tokens * tokens, tokens * tokens * tokens
    arc_scores += sentence * area
    grandparent_scores += sentence * volume
    C = charts + sentence * (CHARTS + SIBLINGS * SIBLING_CHARTS) * volume
    I, C_sum, I_sum = C + volume, C + 2 * volume, C + 4 * volume
    if SIBLINGS:
        sibling_scores += sentence * volume
        S, S_sum = C + 6 * volume, C + 7 * volume
    dtype: tl.constexpr = arc_scores.dtype.element_ty
    low = float("-inf")

    if length == 0:
        tl.store(log_partition + sentence, 0.0)
    # C^g[i->i] = 1
    if first_width == 0:
        for block in range(member, tl.cdiv((length + 1) * tokens, BLOCK_I), team):
            p = block * BLOCK_I + tl.arange(0, BLOCK_I)
            tl.store(C + p + (p // tokens) * area, 0.0, p < (length + 1) * tokens)
        next_width(counters + sentence, 1, team, WAIT)

    for width in range(tl.maximum(first_width, 1), tl.minimum(last_width, length) + 1):
        count = (length - width) * (length - width) + 1
        for block in range(member, tl.cdiv(count, BLOCK_I), team):
            i, j, g, here = positions(block * BLOCK_I + tl.arange(0, BLOCK_I), width, length)
            inner_word = here & (i > 0)  # no arc leads to the root symbol
            ii, jj = i * area + g, j * area + g  # cells [i, 0, g] and [j, 0, g]
            arc_right = arc_terms(arc_scores, grandparent_scores, tokens, i, j, g, here)
            arc_left = arc_terms(arc_scores, grandparent_scores, tokens, j, i, g, inner_word)
            lowest = tl.full([BLOCK_I], float("-inf"), dtype)
            nothing = tl.zeros([BLOCK_I], dtype)
            to_right, to_right_extra, to_left, to_left_extra = lowest, nothing, lowest, nothing
            right, right_extra, left, left_extra = lowest, nothing, lowest, nothing
            if SIBLINGS:
                meeting, meeting_extra = lowest, nothing
                paired = here if MULTIROOT else inner_word
                pair_right, pair_left = (j * tokens + i) * tokens, (i * tokens + j) * tokens
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
                if SIBLINGS:
                    # S^h[i,j] = sum_{i <= r < j} C^h[i->r] C^h[j->r+1]
                    terms = tl.where(words, C_right + C_left, low)
                    meeting, meeting_extra = add_rows(meeting, meeting_extra, terms)
                    # I^g[i->j]: I^g[i->r] S^i[r,j] s(i,r,j), i < r < j; alone after the loop
                    cells, scores = S + below_i + j[None, :] * tokens, sibling_scores + r
                    mask = paired[None, :] & split & (arc_right > low)[None, :]
                    terms = sibling_rows(I_right, cells, scores + pair_right[None, :], mask, CACHE)
                    to_right, to_right_extra = add_rows(to_right, to_right_extra, terms)
                    # I^g[j->i]: I^g[j->r] S^j[i,r] s(j,r,i), i < r < j; alone after the loop
                    cells = S + (i * area + j)[None, :] + r * tokens
                    mask = words & (arc_left > low)[None, :]
                    terms = sibling_rows(I_left, cells, scores + pair_left[None, :], mask, CACHE)
                    to_left, to_left_extra = add_rows(to_left, to_left_extra, terms)
                else:
                    # I^g[i->j] = (sum_{i <= r < j} C^g[i->r] C^i[j->r+1]) s(i,j) s(g,i,j)
                    cells = C + (j * area + i + tokens)[None, :] + r * tokens
                    terms = C_right + tl.load(cells, split, low, cache_modifier=CACHE)
                    to_right, to_right_extra = add_rows(to_right, to_right_extra, terms)
                    # I^g[j->i] = (sum_{i <= r < j} C^g[j->r+1] C^j[i->r]) s(j,i) s(g,j,i)
                    cells = C + (i * area + j)[None, :] + r * tokens
                    terms = C_left + tl.load(cells, words, low, cache_modifier=CACHE)
                    to_left, to_left_extra = add_rows(to_left, to_left_extra, terms)
                # C^g[i->j] = sum_{i < r <= j} I^g[i->r] C^i[r->j], its last term after the loop
                cells = C + below_i + j[None, :] * tokens
                terms = I_right + tl.load(cells, split & (d > 0), low, cache_modifier=CACHE)
                right, right_extra = add_rows(right, right_extra, terms)
                # C^g[j->i] = sum_{i <= r < j} I^g[j->r] C^j[r->i], its first term after the loop
                cells = C + below_j + i[None, :] * tokens
                terms = I_left + tl.load(cells, words & (d > 0), low, cache_modifier=CACHE)
                left, left_extra = add_rows(left, left_extra, terms)
            if SIBLINGS:
                cells = C + j * area + (i + 1) * tokens + i  # C^i[j->i+1]
                alone = tl.load(cells, here, low, cache_modifier=CACHE)
                to_right, to_right_extra = add_term(to_right, to_right_extra, alone, 0, False)
                cells = C + i * area + (j - 1) * tokens + j  # C^j[i->j-1]
                alone = tl.load(cells, inner_word, low, cache_modifier=CACHE)
                to_left, to_left_extra = add_term(to_left, to_left_extra, alone, 0, False)
            arc_right += total(to_right, to_right_extra, False)
            arc_left += total(to_left, to_left_extra, False)
            right, right_extra = add_term(right, right_extra, arc_right, 0, False)
            left, left_extra = add_term(left, left_extra, arc_left, 0, False)
            if not MULTIROOT:  # C[0->j] exists for the whole sentence alone
                right = tl.where((i == 0) & (j < length), low, right)
                right_extra = tl.where((i == 0) & (j < length), 0.0, right_extra)
            complete = total(right, right_extra, False)
            ij, ji = ii + j * tokens, jj + i * tokens
            tl.store(I + ij, arc_right, here)
            tl.store(I + ji, arc_left, inner_word)
            tl.store(C + ij, complete, here)
            tl.store(C + ji, total(left, left_extra, False), inner_word)
            store_sum(C_sum, volume, ij, right, right_extra, here)
            store_sum(C_sum, volume, ji, left, left_extra, inner_word)
            store_sum(I_sum, volume, ij, to_right, to_right_extra, here)
            store_sum(I_sum, volume, ji, to_left, to_left_extra, inner_word)
            if SIBLINGS:
                tl.store(S + ij, total(meeting, meeting_extra, False), inner_word)
                store_sum(S_sum, volume, ij, meeting, meeting_extra, inner_word)
            tl.store(log_partition + sentence + i, complete, here & (i == 0) & (j == length))
        next_width(counters + sentence, 1 + width, team, WAIT)
