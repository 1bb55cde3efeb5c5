"""Work of the fused CUDA kernels: programs of a sentence, and the tile of each."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import torch

# Eight warps fit on a multiprocessor whatever their registers.
MOST_WARPS = 8


@dataclass(frozen=True)
class WorkShape:
    """Programs of a sentence, and the tile of each."""

    team: int
    block_positions: int
    block_splits: int
    warps: int


_chosen: ContextVar[WorkShape | None] = ContextVar("treecrf_shape", default=None)


@contextmanager
def use_shape(shape: WorkShape) -> Iterator[None]:
    """Use this shape inside the `with` block, whatever the batch."""
    token = _chosen.set(shape)
    try:
        yield
    finally:
        _chosen.reset(token)


def work_shape(
    batch: int, tokens: int, device: torch.device, *, siblings: bool = False
) -> WorkShape:
    """Shape for a batch, by `make bench-shapes`; few tiles, as a kernel is compiled for each."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    if tokens <= 32:
        return WorkShape(team=1, block_positions=16, block_splits=8, warps=4)
    if tokens <= 64:
        return WorkShape(team=1, block_positions=16, block_splits=32, warps=8)
    if tokens <= 256:
        positions = 8 if siblings else 16
        shape = WorkShape(team=1, block_positions=positions, block_splits=32, warps=4)
    else:
        shape = WorkShape(team=1, block_positions=8, block_splits=128, warps=8)
    if device.type != "cuda":
        return shape
    return replace(shape, team=largest_team(shape, batch=batch, tokens=tokens, device=device))


def grandparent_shape(batch: int, tokens: int, device: torch.device) -> WorkShape:
    """Shape for charts with grandparents, whose positions are pairs of a span and a grandparent."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    shape = WorkShape(team=1, block_positions=32, block_splits=8, warps=2)
    if device.type != "cuda":
        return shape
    # The widths with the most work have a quarter of tokens^2 positions.
    team = largest_team(shape, batch=batch, tokens=max(1, tokens**2 // 4), device=device)
    return replace(shape, team=team)


def largest_team(shape: WorkShape, *, batch: int, tokens: int, device: torch.device) -> int:
    """Largest power of two of programs with this tile that can share a sentence of the batch."""
    useful = -(-tokens // shape.block_positions)
    if device.type == "cuda":
        # A team must run all at once, or its barrier would wait for ever.
        processors = torch.cuda.get_device_properties(device).multi_processor_count
        useful = min(useful, processors * (MOST_WARPS // shape.warps) // max(batch, 1))
    team = 1
    while 2 * team <= useful:
        team *= 2
    return team
