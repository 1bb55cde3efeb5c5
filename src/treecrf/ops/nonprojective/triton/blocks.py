"""log Z and marginals of long sentences in ordinary floats: what `tile` does, in blocks.

A block of words is eliminated in one tile. Its rows past the block follow by substitution, then its
columns, then products of the library update all other weights:

    w(m, h) += sum_v l(m, v) w(v, h)    l(m, v) = w(m, v) / D(v)

over the words v of the block. Backwards, with r(v) = (1 - sum_m w(m, v) V(m, v)) / D(v),

    V(m, v) = sum_h V(m, h) w(v, h) / D(v)    V(v, h) = sum_m l(m, v) V(m, h) + r(v)

are sums over the words past the block, which come from products, and over those of the block. What
the tile needs of the rows past it are P(m, v), the sums of V(m, h) w(v, h) over the h past it.

Graphs are `[sentence, place, place + root]`, the places those of `tile`. Row v stays as it was
when v was eliminated; column v becomes l(m, v).
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from treecrf.ops.nonprojective.triton.tile import (
    SMALLEST,
    TINY,
    TOLERANCE,
    at,
    chosen_last,
    smallest,
    token_at,
    weights,
)

# Words of a block.
BLOCK = 32
# Columns of a graph past its places: that of the root symbol, and one for aligned rows.
EXTRA = 2
# Arguments whose value `substitute` is not compiled for.
SIZES = [
    *("first", "free", "places", "root_share", "source_sentence", "source_stride", "source_free"),
    *("target_sentence", "target_stride", "target_free", "block_sentence", "block_row"),
    "block_column",
]


@triton.jit
def load_scores(scores, place, length, tokens, PLACES: tl.constexpr):
    """Scores `[place, column]` and those of the root symbol, and where they lie."""
    last = chosen_last(scores, length, tokens, PLACES)
    column = tl.arange(0, PLACES)
    is_word = place < length
    row = token_at(place, last, length) * tokens
    arcs = row[:, None] + token_at(column, last, length)[None, :]
    is_arc = is_word[:, None] & (column < length)[None, :] & (place[:, None] != column[None, :])
    arc_scores = tl.load(scores + arcs, is_arc, float("-inf"))
    root_scores = tl.load(scores + row, is_word, float("-inf"))
    return arc_scores, root_scores, arcs, is_arc, row, is_word


@triton.jit(do_not_specialize=["tokens", "places"])
def load_graphs(
    scores, lengths, graphs, tokens, places,
    ROWS: tl.constexpr, PLACES: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Fill `graphs [sentence, place, place + root]` with weights."""
    sentence = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + sentence).to(tl.int32)
    scores += sentence * tokens * tokens
    graphs += sentence * places * (places + WIDTH)
    place = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, PLACES)
    arcs, roots, _, _, _, _ = load_scores(scores, place, length, tokens, PLACES)
    arcs, _ = weights(arcs)
    roots, _ = weights(roots)
    row = graphs + place * (places + WIDTH)
    inside = (place < places)[:, None] & (column < places)[None, :]
    tl.store(row[:, None] + column[None, :], arcs, inside)
    tl.store(row + places, roots, place < places)


@triton.jit(do_not_specialize=["first", "places", "root_share"])
def eliminate(
    graphs, lengths, pivots, sums, roots, first, places, root_share,
    BLOCK: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Eliminate a block within itself.

    Fills its part of `pivots [sentence, place]` with the D(v), of `sums` with those over the words
    past the block, and of `roots` with the arcs of the root symbol.
    """
    sentence = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + sentence).to(tl.int32)
    width = places + WIDTH
    graphs += (sentence * places + first) * width
    vectors = sentence * places + first
    index = tl.arange(0, BLOCK)
    end = tl.minimum(length - first, BLOCK)
    cells = index[:, None] * width + first + index[None, :]
    W = tl.load(graphs + cells)
    root = tl.load(graphs + index * width + places)
    past = tl.zeros([BLOCK], tl.float64)
    for start in range(first + BLOCK, length, BLOCK):
        column = start + index
        some = tl.load(graphs + index[:, None] * width + column[None, :])
        past += tl.sum(some, 1)
    D = tl.zeros([BLOCK], tl.float64) + 1.0
    for v in range(0, end):
        tl.store(graphs + cells, W, (index[:, None] == v) | (index[None, :] == v))
        tl.debug_barrier()
        out = tl.load(graphs + v * width + first + index, index > v, 0.0)
        into = tl.load(graphs + index * width + first + v, index > v, 0.0)
        root_out, past_out = at(root, index, v), at(past, index, v)
        # D(v) = sum_h w(v, h)
        total = tl.sum(out, 0) + past_out
        total += root_out * tl.where(first + v == length - 1, 1, root_share)
        D = tl.where(index == v, total, D)
        # w(m, h) += w(m, v) w(v, h) / D(v)
        factor = into * (1.0 / tl.where(total > 0, total, 1.0))
        W += factor[:, None] * out[None, :]
        root += factor * root_out
        past += factor * past_out
    tl.debug_barrier()
    inverses = 1.0 / tl.where(D > 0, D, 1.0)
    tl.store(graphs + cells, tl.where(index[:, None] > index[None, :], W * inverses[None, :], W))
    tl.store(pivots + vectors + index, D)
    tl.store(sums + vectors + index, past)
    tl.store(roots + vectors + index, root)


@triton.jit(do_not_specialize=SIZES)
def substitute(
    source, target, block, lengths, pivots, rests, first, free, places, root_share,
    source_sentence, source_stride, source_free, target_sentence, target_stride, target_free,
    block_sentence, block_row, block_column,
    DESCENDING: tl.constexpr, SCALED: tl.constexpr, WITH_RESTS: tl.constexpr,
    BLOCK: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """x(i) = source(i) [+ rest(i)] + sum_j block(i, j) x(j) [/ D(i)], j before i; in this order.

    With rests the last column is that of the root symbol.
    """
    sentence = tl.program_id(0).to(tl.int64)
    index = tl.arange(0, BLOCK)
    column = tl.program_id(1) * LANES + tl.arange(0, LANES)
    is_free = (column < free)[None, :]
    source += sentence * source_sentence
    target += sentence * target_sentence
    block += sentence * block_sentence
    vectors = sentence * places + first
    length = tl.load(lengths + sentence).to(tl.int32)
    X = tl.load(source + index[:, None] * source_stride + column[None, :] * source_free, is_free)
    for step in range(0, BLOCK):
        i = BLOCK - 1 - step if DESCENDING else step
        x = tl.sum(tl.where(index[:, None] == i, X, 0.0), 0)
        if WITH_RESTS:
            share = tl.where(first + i == length - 1, 1, root_share)
            rest = tl.load(rests + vectors + i)
            x += tl.where(column == free - 1, rest * share, rest)
        if SCALED:
            D = tl.load(pivots + vectors + i)
            x *= 1.0 / tl.where(D > 0, D, 1.0)
        after = index < i if DESCENDING else index > i
        into = tl.load(block + index * block_row + i * block_column, after, 0.0)
        X = tl.where(index[:, None] == i, x[None, :], X + into[:, None] * x[None, :])
    tl.store(target + index[:, None] * target_stride + column[None, :] * target_free, X, is_free)


@triton.jit(do_not_specialize=["first", "places", "root_share"])
def differentiate(
    graphs, lengths, pivots, sums, roots, flows, products, V, rests, first, places, root_share,
    BLOCK: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Fill a block of `V [sentence, place, place + root]` and its part of `rests`, the r(v).

    `flows [sentence, v, place + root]` are the sums over the words past the block, from the head
    `first` on. `products [sentence, m, v]` are P(m, v) with these sums in the place of V.
    """
    sentence = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + sentence).to(tl.int32)
    width = places + WIDTH
    graphs += sentence * places * width
    V += sentence * places * width
    vectors = sentence * places + first
    index = tl.arange(0, BLOCK)
    end = tl.minimum(length - first, BLOCK)
    D = tl.load(pivots + vectors + index)
    inverses = 1.0 / tl.where(D > 0, D, 1.0)
    root, past = tl.load(roots + vectors + index), tl.load(sums + vectors + index)
    flow_width = places + 1 - first
    flows += sentence * BLOCK * flow_width
    # sum_m l(m, v) V(m, v) past the block
    children = tl.load(flows + index * flow_width + index)
    P = tl.load(products + (sentence * BLOCK + index)[:, None] * BLOCK + index[None, :])
    graphs += first * width + first
    V += first * width + first
    inner = tl.zeros([BLOCK, BLOCK], tl.float64)
    rest = tl.zeros([BLOCK], tl.float64)
    for step in range(0, end):
        v = end - 1 - step
        out = tl.load(graphs + v * width + index, index > v, 0.0)
        into = tl.load(graphs + index * width + v, index > v, 0.0)
        inverse = at(inverses, index, v)
        # V(m, v) = sum_h V(m, h) w(v, h) / D(v)
        to_v = inner * out[None, :] + tl.where(index[None, :] == v, P, 0.0)
        to_v = tl.where(index > v, tl.sum(to_v, 1) * inverse, 0.0)
        rest_v = inverse - at(children, index, v) - tl.sum(into * to_v, 0)
        rest = tl.where(index == v, rest_v, rest)
        # V(v, h) = sum_m l(m, v) V(m, h) + r(v), and P of that
        target = tl.load(flows + v * flow_width + index, index > v, 0.0)
        target += tl.sum(inner * into[:, None], 0) + rest_v
        target = tl.where(index > v, target, 0.0)
        product = tl.sum(P * into[:, None], 0)
        product += rest_v * (past + root * tl.where(first + v == length - 1, 1, root_share))
        P = tl.where(index[:, None] == v, P + product[None, :], P)
        inner = tl.where(index[:, None] == v, target[None, :], inner)
        inner = tl.where(index[None, :] == v, to_v[:, None], inner)
    tl.store(V + index[:, None] * width + index[None, :], inner)
    tl.store(rests + vectors + index, rest)


@triton.jit(do_not_specialize=["tokens", "places"])
def finish(
    scores, lengths, graphs, pivots, V, marginals, solved, tokens, places,
    MARGINALS: tl.constexpr, ROWS: tl.constexpr, PLACES: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Fill `marginals [sentence, dependent, head]`; clear `solved` where a check fails."""
    sentence = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + sentence).to(tl.int32)
    scores += sentence * tokens * tokens
    marginals += sentence * tokens * tokens
    graphs += sentence * places * (places + WIDTH)
    place = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, PLACES)
    arc_scores, root_scores, arcs, is_arc, row, is_word = load_scores(
        scores, place, length, tokens, PLACES
    )
    weight, beyond = weights(arc_scores)
    root_weight, root_beyond = weights(root_scores)
    count = tl.sum(tl.sum(beyond, 1), 0) + tl.sum(root_beyond, 0)
    cells = (place * (places + WIDTH))[:, None] + column[None, :]
    least = tl.min(tl.min(smallest(tl.load(graphs + cells, is_arc, 0.0)), 1), 0)
    root_cells = place * (places + WIDTH) + places
    least = tl.minimum(least, tl.min(smallest(tl.load(graphs + root_cells, is_word, 0.0)), 0))
    D = tl.load(pivots + sentence * places + place, is_word, 1.0)
    finite = tl.min(tl.where(float("inf") > D, D, 0.0), 0)
    passes = (count == 0) & (finite > 0) & (least > SMALLEST)
    if MARGINALS:
        V += sentence * places * (places + WIDTH)
        # p(h -> m) = w(m, h) V(m, h), divided by their sum
        product = tl.maximum(weight * tl.load(V + cells, is_arc, 0.0), 0.0)
        root_product = tl.maximum(root_weight * tl.load(V + root_cells, is_word, 0.0), 0.0)
        share = tl.sum(product, 1) + root_product
        fits = tl.abs(tl.where(is_word, share, 1.0) - 1.0) < TOLERANCE
        passes &= tl.sum(tl.where(fits, 0, 1), 0) == 0
        scale = 1.0 / tl.maximum(share, TINY)
        tl.store(marginals + arcs, product * scale[:, None], is_arc)
        tl.store(marginals + row, root_product * scale, is_word)
    tl.store(solved + sentence, 0, passes == 0)


def solve(
    arc_scores: Tensor,
    lengths: Tensor,
    values: Tensor,
    *,
    root_share: int,
    marginals: Tensor | None,
    size: int = BLOCK,
) -> Tensor:
    """Fill `values [batch]` and `marginals`; returns where the checks let both pass, `[batch]`."""
    batch, tokens, _ = arc_scores.shape
    places = triton.cdiv(tokens - 1, size) * size
    columns = triton.next_power_of_2(places)
    rows = max(1, 2048 // columns)
    graphs = arc_scores.new_empty(batch, places, places + EXTRA, dtype=torch.float64)
    pivots, sums, roots, rests = graphs.new_empty(4, batch, places)
    solved = torch.ones_like(lengths, dtype=torch.int32)
    shape = {"ROWS": rows, "PLACES": columns, "WIDTH": EXTRA, "num_warps": 8}
    grid = batch, triton.cdiv(places, rows)
    vectors = pivots, sums, roots
    load_graphs[grid](arc_scores, lengths, graphs, tokens, places, **shape)
    tile = {"BLOCK": size, "WIDTH": EXTRA, "num_warps": 4}
    for first in range(0, places, size):
        end = first + size
        eliminate[(batch,)](graphs, lengths, *vectors, first, places, root_share, **tile)
        block, outward, inward = _parts(graphs, first, end, places)
        others = lengths, pivots, rests, first, root_share
        # w(v, h), then l(m, v), past the block
        _substitute(outward, outward, block, *others)
        _substitute(inward.mT, inward.mT, block.mT, *others, scaled=True)
        if end < places:
            graphs[:, end:places, end : places + 1].baddbmm_(inward, outward)
    values.copy_(pivots.log().sum(1))
    check = arc_scores, lengths, graphs, pivots
    if marginals is None:
        finish[grid](*check, graphs, values, solved, tokens, places, MARGINALS=False, **shape)
        return solved

    V = torch.empty_like(graphs)
    for first in range(places - size, -1, -size):
        end = first + size
        block, outward, inward = _parts(graphs, first, end, places)
        _, V_outward, V_inward = _parts(V, first, end, places)
        others = lengths, pivots, rests, first, root_share
        # V(m, v) = sum_h V(m, h) w(v, h) / D(v), the h past the block first
        if end < places:
            torch.bmm(V[:, end:places, end : places + 1], outward.mT, out=V_inward)
        _substitute(V_inward.mT, V_inward.mT, block, *others, scaled=True, descending=True)
        flow = torch.bmm(inward.mT, V[:, end:places, first : places + 1])
        past = flow[:, :, size:]
        differentiate[(batch,)](
            graphs, lengths, *vectors, flow, torch.bmm(past, outward.mT), V, rests, first, places,
            root_share, **tile,
        )  # fmt: skip
        # V(v, h) = sum_m l(m, v) V(m, h) + r(v)
        _substitute(past, V_outward, block.mT, *others, descending=True, with_rests=True)
    finish[grid](*check, V, marginals, solved, tokens, places, MARGINALS=True, **shape)
    return solved


def _parts(graphs: Tensor, first: int, end: int, places: int) -> tuple[Tensor, Tensor, Tensor]:
    """Views of a block of graphs, of its rows past it, and of its columns past it."""
    return (
        graphs[:, first:end, first:end],
        graphs[:, first:end, end : places + 1],
        graphs[:, end:places, first:end],
    )


def _substitute(
    source: Tensor,
    target: Tensor,
    block: Tensor,
    lengths: Tensor,
    pivots: Tensor,
    rests: Tensor,
    first: int,
    root_share: int,
    *,
    scaled: bool = False,
    descending: bool = False,
    with_rests: bool = False,
) -> None:
    """Fill `target [sentence, v, free]` by `substitute` from `source`, of the same shape."""
    batch, size, free = source.shape
    if free:
        lanes = 32
        substitute[(batch, triton.cdiv(free, lanes))](
            source, target, block, lengths, pivots, rests, first, free, pivots.shape[1], root_share,
            *source.stride(), *target.stride(), *block.stride(),
            DESCENDING=descending, SCALED=scaled, WITH_RESTS=with_rests,
            BLOCK=size, LANES=lanes, num_warps=1,
        )  # fmt: skip
