"""Shared parts of the fused CUDA kernels: launches, a barrier between widths, safe sums.

A kernel does a whole pass in one launch. Each sentence gets one program or, when sentences are long
and few, a team of them. At each span width the programs of a team share out the positions; a
barrier stands between widths. A tile is `[position, split]`, the splits being contiguous in memory.
"""

from collections.abc import Callable
from typing import Any, cast

import torch
import triton
import triton.language as tl

from treecrf.ops.backend import Family, Scores, host_module
from treecrf.ops.triton.shapes import WorkShape

INTERPRETED: bool = triton.knobs.runtime.interpret

# Arguments whose value a kernel is not compiled for: it would be compiled again for sizes that 16
# divides, and a training would wait for that at one length after the other.
SIZES = ["tokens", "first_width", "last_width", "team"]


def barrier_counters(like: torch.Tensor, count: int, team: int) -> torch.Tensor:
    """Counters of zero for barriers; a program that is alone does not use them."""
    return like.new_zeros(count, dtype=torch.int32) if team > 1 else like


def launches(rounds: int, team: int) -> list[tuple[int, int]]:
    """First and last round, a span width or a step, of each launch: one, but in the interpreter.

    It runs programs one after the other, so there each round is a launch instead of a barrier.
    """
    if INTERPRETED and team > 1:
        return [(number, number) for number in range(rounds)]
    return [(0, rounds - 1)] if rounds else []


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
    """Number of positions that back-tracking reads at once."""
    return min(max(triton.next_power_of_2(tokens), 32), 512)


def on_host(family: Family, operation: str) -> Callable[..., torch.Tensor]:
    """Make an operation that copies its tensors to the host, and the heads it finds there back."""

    def compute(scores: Scores, *arguments: Any, **options: Any) -> torch.Tensor:
        on_cpu = (one.cpu() if isinstance(one, torch.Tensor) else one for one in arguments)
        host_scores = tuple(part.cpu() for part in scores)
        found = getattr(host_module(family), operation)(host_scores, *on_cpu, **options)
        return cast(torch.Tensor, found).to(scores[0].device)

    return compute


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
    """Read the counter with acquire order: writes before its increments are visible afterwards."""
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
    """Store the two numbers of running sums, in a chart and in the next."""
    tl.store(chart + cells, largest, mask)
    tl.store(chart + area + cells, extra, mask)


@triton.jit
def load_sum(chart, area, cells, mask, CACHE: tl.constexpr):
    """Load the two numbers of `store_sum`."""
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
