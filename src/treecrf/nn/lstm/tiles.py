"""How the fused LSTM shares out its work: sentences and units a program, and programs a team."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import torch

__all__ = ["Share", "Tile", "chosen_tiles", "fit_memory", "share_out", "use_tiles"]

# In Triton's interpreter, which has none: few, so that small tests run through every loop.
_PROCESSORS_WITHOUT_GPU = 4


@dataclass(frozen=True)
class Tile:
    """What a program works on at a step: all powers of two, of at least 16 but for the last two."""

    sentences: int
    units: int
    depth: int  # of a product, a piece at a time
    warps: int
    stages: int  # pieces of a product that are on their way


@dataclass(frozen=True)
class Share:
    """Programs that share the units of some sentences, and how many such teams a direction has."""

    team: int
    teams: int


# For few sentences first: the first whose programs all find a multiprocessor, or the last.
_FORWARD = (Tile(32, 16, 64, 4, 4), Tile(64, 32, 64, 8, 3), Tile(128, 32, 32, 8, 4))
_BACKWARD = (Tile(32, 16, 64, 4, 4), Tile(64, 32, 64, 8, 4))
# All units in one program, which then waits for no other.
_NARROW = Tile(16, 64, 64, 8, 2)

_chosen: ContextVar[tuple[Tile, Tile] | None] = ContextVar("treecrf_lstm_tiles", default=None)


@contextmanager
def use_tiles(forward: Tile, backward: Tile) -> Iterator[None]:
    """Work in these tiles inside the `with` block, whatever the batch would suggest."""
    token = _chosen.set((forward, backward))
    try:
        yield
    finally:
        _chosen.reset(token)


def chosen_tiles(sentences: int, size: int, device: torch.device) -> tuple[Tile, Tile]:
    """The tiles of the forward and the backward pass. A kernel is compiled for each: be few."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    most = _processors(device)

    def first_fitting(tiles: tuple[Tile, ...]) -> Tile:
        if size <= _NARROW.units:
            return _NARROW
        for tile in tiles[:-1]:
            programs = 2 * -(-size // tile.units) * -(-sentences // tile.sentences)
            if programs <= most:
                return tile
        return tiles[-1]

    forward, backward = first_fitting(_FORWARD), first_fitting(_BACKWARD)
    if device.type != "cuda":
        return forward, backward
    properties = torch.cuda.get_device_properties(device)
    # A torch before 2.7 does not tell; every GPU has the smaller number.
    memory = getattr(properties, "shared_memory_per_block_optin", 48 << 10)
    return fit_memory(forward, 4, memory), fit_memory(backward, 1, memory)


def fit_memory(tile: Tile, products: int, memory: int) -> Tile:
    """The tile with fewer pieces on their way, if a multiprocessor has no more memory for them.

    A piece is one of the state and of the weights of so many products.
    """
    piece = 4 * tile.depth * (tile.sentences + products * tile.units)
    return replace(tile, stages=max(1, min(tile.stages, memory // piece)))


def share_out(tile: Tile, sentences: int, size: int, device: torch.device) -> Share:
    """Teams as large as there are units to share, and as many as can run at once.

    All programs of a launch must run at once, or a team would wait for ever; a program that is
    alone waits for nobody.
    """
    most = max(_processors(device) // 2, 1)
    team = min(-(-size // tile.units), most)
    groups = -(-sentences // tile.sentences)
    return Share(team=team, teams=groups if team == 1 else min(groups, most // team))


def _processors(device: torch.device) -> int:
    if device.type != "cuda":
        return _PROCESSORS_WITHOUT_GPU
    processors: int = torch.cuda.get_device_properties(device).multi_processor_count
    return processors
