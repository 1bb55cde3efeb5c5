"""Work of the fused LSTM: sentences and units of a program, programs of a team."""

from dataclasses import dataclass, replace

import torch

# For Triton's interpreter: few, so that small tests run through every loop.
_PROCESSORS_WITHOUT_GPU = 4


@dataclass(frozen=True)
class Tile:
    """Tile of a program at a step: powers of two; the first three are at least 16."""

    sentences: int
    units: int
    depth: int  # of a piece of a product
    warps: int
    stages: int  # pieces of a product in flight


@dataclass(frozen=True)
class Share:
    """Programs in a team, which shares the units of some sentences, and teams in a direction."""

    team: int
    teams: int


# Few sentences first: the first tile whose programs all get a multiprocessor is used, or the last.
_FORWARD = (Tile(32, 16, 64, 4, 4), Tile(64, 32, 64, 8, 3), Tile(128, 32, 32, 8, 4))
_BACKWARD = (Tile(32, 16, 64, 4, 4), Tile(64, 32, 64, 8, 4))
# All units in one program, which needs no barrier.
_NARROW = Tile(16, 64, 64, 8, 2)


def chosen_tiles(sentences: int, size: int, device: torch.device) -> tuple[Tile, Tile]:
    """Tiles of the forward and the backward pass; few, as a kernel is compiled for each."""
    forward, backward = tiles_for(sentences, size, processors=_processors(device))
    if device.type != "cuda":
        return forward, backward
    properties = torch.cuda.get_device_properties(device)
    # torch before 2.7 lacks this; every GPU has 48 KiB.
    memory = getattr(properties, "shared_memory_per_block_optin", 48 << 10)
    return fit_memory(forward, 4, memory), fit_memory(backward, 1, memory)


def tiles_for(sentences: int, size: int, *, processors: int) -> tuple[Tile, Tile]:
    """Tiles of both passes on a device with this number of multiprocessors."""

    def first_fitting(tiles: tuple[Tile, ...]) -> Tile:
        if size <= _NARROW.units:
            return _NARROW
        for tile in tiles[:-1]:
            programs = 2 * -(-size // tile.units) * -(-sentences // tile.sentences)
            if programs <= processors:
                return tile
        return tiles[-1]

    return first_fitting(_FORWARD), first_fitting(_BACKWARD)


def fit_memory(tile: Tile, products: int, memory: int) -> Tile:
    """Reduce the stages of a tile until its pieces fit into shared memory.

    A piece is a part of the state and of the weights of `products` products.
    """
    piece = 4 * tile.depth * (tile.sentences + products * tile.units)
    return replace(tile, stages=max(1, min(tile.stages, memory // piece)))


def share_out(tile: Tile, sentences: int, size: int, device: torch.device) -> Share:
    """Make teams as large as there are units, and as many as can run at once, as a team must."""
    most = max(_processors(device) // 2, 1)
    team = min(-(-size // tile.units), most)
    groups = -(-sentences // tile.sentences)
    return Share(team=team, teams=groups if team == 1 else min(groups, most // team))


def _processors(device: torch.device) -> int:
    if device.type != "cuda":
        return _PROCESSORS_WITHOUT_GPU
    processors: int = torch.cuda.get_device_properties(device).multi_processor_count
    return processors
