"""What the fused CUDA kernels share: how they are launched, a barrier between widths, safe sums.

A kernel does a whole pass in one launch. Each sentence gets one program or, when sentences are long
and few, a team of them. At each span width the programs of a team share out the positions; a
barrier stands between widths. A tile is `[position, split]`, the splits being contiguous in memory.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from treecrf.ops.triton.shapes import WorkShape

INTERPRETED: bool = triton.knobs.runtime.interpret

# Arguments whose value a kernel is not compiled for: it would be compiled again for sizes that 16
# divides, and a training would wait for that at one length after the other.
SIZES = ["tokens", "first_width", "last_width", "team"]


def barrier_counters(lengths: torch.Tensor, shape: WorkShape) -> torch.Tensor:
    """A counter a sentence for `next_width`, which a program that is alone does not use."""
    return torch.zeros_like(lengths, dtype=torch.int32) if shape.team > 1 else lengths


def launches(batch: int, tokens: int, shape: WorkShape) -> list[tuple[int, int]]:
    """The first and last span width of each launch: one launch for all, but in the interpreter.

    It runs the programs of a launch one after the other, so that a team cannot wait for its members
    there; a launch a width stands in for the barrier.
    """
    if batch == 0 or tokens < 2:
        return []
    if INTERPRETED and shape.team > 1:
        return [(width, width) for width in range(tokens)]
    return [(0, tokens - 1)]


def team_options(team: int) -> dict[str, Any]:
    """The compile-time arguments and launch options of programs that wait for one another."""
    together = team > 1 and not INTERPRETED
    return {
        "WAIT": together,
        # What another multiprocessor wrote is seen in the second-level cache, not in the first.
        "CACHE": ".cg" if together else "",
        "launch_cooperative_grid": together,
    }


def options(shape: WorkShape) -> dict[str, Any]:
    """The compile-time arguments and launch options of a kernel that works in this shape."""
    return team_options(shape.team) | {
        "BLOCK_I": shape.block_positions,
        "BLOCK_R": shape.block_splits,
        "num_warps": shape.warps,
    }


def backtrack_block(tokens: int) -> int:
    """How many positions back-tracking looks at together."""
    return min(max(triton.next_power_of_2(tokens), 32), 512)


@triton.jit
def next_width(counter, rounds, team, WAIT: tl.constexpr):
    """Wait until every program of the team has come here `rounds` times."""
    tl.debug_barrier()
    if WAIT:
        tl.atomic_add(counter, 1, sem="release", scope="gpu")
        # Reading while waiting, rather than adding 0, leaves the counter to those that still come.
        while read_counter(counter) < rounds * team:
            pass
        tl.debug_barrier()


@triton.jit
def read_counter(counter):
    """What the counter holds now; whatever was written before it was raised is seen after this."""
    return tl.inline_asm_elementwise(
        "ld.acquire.gpu.global.s32 $0, [$1];",
        "=r,l",
        [counter],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )


@triton.jit
def add_terms(largest, extra, terms, splits, MAX: tl.constexpr):
    """Add terms `[position, split]` to running sums `[position]`.

    A log sum is kept as its largest term and the sum of exp(term - largest) in `extra`; a maximum
    (MAX) as its value and the split that gave it in `extra`.
    """
    if MAX:
        top, place = tl.max(terms, 1, return_indices=True)
        # The first split of the tile tells which one the place is.
        split = tl.min(splits, 0) + place
        extra = tl.where(top > largest, split.to(extra.dtype), extra)
        largest = tl.maximum(largest, top)
    else:
        grown = tl.maximum(largest, tl.max(terms, 1))
        origin = tl.where(grown == float("-inf"), 0.0, grown)
        kept = extra * tl.exp(largest - origin)
        extra = kept + tl.sum(tl.exp(terms - origin[:, None]), 1)
        largest = grown
    return largest, extra


@triton.jit
def add_term(largest, extra, term, split, MAX: tl.constexpr):
    """Add one term a position to running sums `[position]`."""
    if MAX:
        extra = tl.where(term > largest, tl.zeros_like(extra) + split, extra)
        largest = tl.maximum(largest, term)
    else:
        grown = tl.maximum(largest, term)
        origin = tl.where(grown == float("-inf"), 0.0, grown)
        extra = extra * tl.exp(largest - origin) + tl.exp(term - origin)
        largest = grown
    return largest, extra


@triton.jit
def total(largest, extra, MAX: tl.constexpr):
    """The value of running sums."""
    return largest if MAX else largest + tl.log(tl.where(extra > 0, extra, 1.0))


@triton.jit
def store_sum(chart, area, cells, largest, extra, mask):
    """Keep the two numbers of running sums, in a chart and in the next."""
    tl.store(chart + cells, largest, mask)
    tl.store(chart + area + cells, extra, mask)


@triton.jit
def load_sum(chart, area, cells, mask, CACHE: tl.constexpr):
    """The two numbers that `store_sum` keeps."""
    largest = tl.load(chart + cells, mask, 0.0, cache_modifier=CACHE)
    extra = tl.load(chart + area + cells, mask, 0.0, cache_modifier=CACHE)
    return largest, extra


@triton.jit
def share(flow, largest, extra):
    """Origin and scale: a term's part of the flow is exp(term - origin) * scale."""
    scale = tl.where(extra > 0, flow / tl.where(extra > 0, extra, 1.0), 0.0)
    # Of no flow no term gets a part, not even one that would overflow.
    return tl.where(scale > 0, largest, float("inf")), scale


@triton.jit
def pour(cells, amount, mask, CACHE: tl.constexpr):
    """Add a tile of flows to cells that no other program touches at this width."""
    tl.store(cells, tl.load(cells, mask, 0.0, cache_modifier=CACHE) + amount, mask)
