"""log Z and marginals in ordinary floats, one Triton program a sentence, in its registers.

    D(v) = sum_h w(v, h)    w(m, h) += w(m, v) w(v, h) / D(v)    Z = product of the D(v)
    V(m, v) = sum_h V(m, h) w(v, h) / D(v)
    V(v, h) = sum_m V(m, h) w(m, v) / D(v) + (1 - sum_m w(m, v) V(m, v)) / D(v)

over the words m and the heads h that come after v; V(m, h) = d log Z / d w(m, h). The arcs of the
root symbol are in D(v) with several roots, else only in that of the last word. Sentences that do
not pass the checks of `limits` are left to `wide`.

Matrices are tiles `[place, place]` of dependents and heads. The last place of a sentence has the
word with the best arc from the root symbol: there a walk from word to head gets soonest.
"""

import triton
import triton.language as tl

from treecrf.ops.nonprojective import limits

LIMIT = tl.constexpr(limits.LIMIT)
SMALLEST = tl.constexpr(limits.SMALLEST)
TOLERANCE = tl.constexpr(limits.TOLERANCE)
TINY = tl.constexpr(1e-300)


@triton.jit
def at(vector, place, v):
    """Element v of a vector."""
    return tl.sum(tl.where(place == v, vector, 0.0), 0)


@triton.jit
def chosen_last(root_scores, length, tokens, PLACES: tl.constexpr):
    """The word, counted from 0, with the best arc from the root symbol."""
    place = tl.arange(0, PLACES)
    score = tl.load(root_scores + (place + 1) * tokens, place < length, float("-inf"))
    is_best = (place < length) & (score == tl.max(score, 0))
    return tl.minimum(tl.min(tl.where(is_best, place, PLACES), 0), length - 1)


@triton.jit
def token_at(place, last, length):
    """The token at a place: that of the word, but `last` and the last word trade places."""
    return 1 + tl.where(place == length - 1, last, tl.where(place == last, length - 1, place))


@triton.jit
def weights(scores):
    """e^score, and a flag: 1 for NaN and for finite scores too far off, which have no weight here.

    Far below 0 a weight would be less than SMALLEST, which the check of all numbers finds.
    """
    scores = scores.to(tl.float64)
    allowed = ((scores <= LIMIT) & (scores >= -3 * LIMIT)) | (scores == float("-inf"))
    return tl.exp(tl.where(allowed, scores, 0.0)), tl.where(allowed, 0, 1)


@triton.jit
def smallest(numbers):
    """The numbers, to find the smallest: 1 in the place of 0, 0 in that of infinity and NaN."""
    finite = tl.where(numbers < float("inf"), numbers, 0.0)  # `tl.min` would pass over NaN
    return tl.where(numbers == 0.0, 1.0, finite)


@triton.jit(do_not_specialize=["tokens", "root_share"])
def solve(
    scores, lengths, values, marginals, solved, graphs, tokens, root_share,
    MARGINALS: tl.constexpr, PLACES: tl.constexpr,
):  # fmt: skip
    """Fill `values [sentence]`, `marginals [sentence, dependent, head]`, of zeros, and `solved`.

    `root_share` is 1 with several roots, else 0. Threads exchange rows and columns in
    `graphs [sentence, place, place]`.
    """
    sentence = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + sentence).to(tl.int32)
    scores += sentence * tokens * tokens
    marginals += sentence * tokens * tokens
    graphs += sentence * PLACES * PLACES
    place = tl.arange(0, PLACES)
    is_word = place < length
    token = token_at(place, chosen_last(scores, length, tokens, PLACES), length)
    arcs = token[:, None] * tokens + token[None, :]
    is_arc = is_word[:, None] & is_word[None, :] & (place[:, None] != place[None, :])

    W, beyond = weights(tl.load(scores + arcs, is_arc, float("-inf")))
    root, root_beyond = weights(tl.load(scores + token * tokens, is_word, float("-inf")))
    count = tl.sum(tl.sum(beyond, 1), 0) + tl.sum(root_beyond, 0)
    D = tl.zeros([PLACES], tl.float64) + 1.0
    for v in range(0, length):
        # Row and column v stay as they are now.
        cells = graphs + place[:, None] * PLACES + place[None, :]
        tl.store(cells, W, (place[:, None] == v) | (place[None, :] == v))
        tl.debug_barrier()
        out = tl.load(graphs + v * PLACES + place, place > v, 0.0)
        into = tl.load(graphs + place * PLACES + v, place > v, 0.0)
        root_out = at(root, place, v)
        # D(v) = sum_h w(v, h)
        total = tl.sum(out, 0) + root_out * tl.where(v == length - 1, 1, root_share)
        D = tl.where(place == v, total, D)
        # w(m, h) += w(m, v) w(v, h) / D(v)
        factor = into * (1.0 / tl.where(total > 0, total, 1.0))
        W += factor[:, None] * out[None, :]
        root += factor * root_out
    least = tl.where(place[:, None] == place[None, :], 1.0, smallest(W))
    least = tl.minimum(tl.min(tl.min(least, 1), 0), tl.min(smallest(root), 0))
    finite = tl.min(tl.where(float("inf") > D, D, 0.0), 0)
    passes = (count == 0) & (finite > 0) & (least > SMALLEST)
    D = tl.where(D > 0, D, 1.0)
    tl.store(values + sentence, tl.sum(tl.log(D), 0))

    if MARGINALS:
        inverses = 1.0 / D
        V = tl.zeros([PLACES, PLACES], tl.float64)
        V_root = tl.zeros([PLACES], tl.float64)
        for step in range(0, tl.where(passes, length, 0)):
            v = length - 1 - step
            out = tl.load(graphs + v * PLACES + place, place > v, 0.0)
            into = tl.load(graphs + place * PLACES + v, place > v, 0.0)
            inverse = at(inverses, place, v)
            # V(m, v) = sum_h V(m, h) w(v, h) / D(v)
            to_v = (tl.sum(V * out[None, :], 1) + V_root * at(root, place, v)) * inverse
            # V(v, h) = sum_m V(m, h) w(m, v) / D(v) + (1 - sum_m w(m, v) V(m, v)) / D(v)
            rest = (1.0 - tl.sum(into * to_v, 0)) * inverse
            factor = into * inverse
            target = tl.where(place > v, tl.sum(V * factor[:, None], 0) + rest, 0.0)
            root_target = tl.sum(V_root * factor, 0)
            root_target += rest * tl.where(v == length - 1, 1, root_share)
            V_root = tl.where(place == v, root_target, V_root)
            V = tl.where(place[:, None] == v, target[None, :], V)
            V = tl.where(place[None, :] == v, to_v[:, None], V)
        # p(h -> m) = w(m, h) V(m, h), divided by their sum
        weight, _ = weights(tl.load(scores + arcs, is_arc, float("-inf")))
        root_weight, _ = weights(tl.load(scores + token * tokens, is_word, float("-inf")))
        V, V_root = tl.maximum(weight * V, 0.0), tl.maximum(root_weight * V_root, 0.0)
        share = tl.sum(V, 1) + V_root
        fits = tl.abs(tl.where(is_word, share, 1.0) - 1.0) < TOLERANCE
        passes &= tl.sum(tl.where(fits, 0, 1), 0) == 0
        scale = 1.0 / tl.maximum(share, TINY)
        tl.store(marginals + arcs, V * scale[:, None], is_arc)
        tl.store(marginals + token * tokens, V_root * scale, is_word)
    tl.store(solved + sentence, passes.to(tl.int32))
