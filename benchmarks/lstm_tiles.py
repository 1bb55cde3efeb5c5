"""Tiles of the fused LSTM's kernels, and the time of a step in each."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from benchmarks.timing import compile_all, finish, median_ms
from treecrf.nn.lstm.fused import PackedSteps, Pass, packed_steps
from treecrf.nn.lstm.tiles import Share, Tile, chosen_tiles, share_out

# Relative to the norm: products have 10 bits, and errors go through all steps and layers.
TOLERANCE = 1e-2
FORWARD = [
    Tile(16, 16, 128, 4, 4),
    Tile(32, 16, 64, 4, 4),
    Tile(32, 16, 128, 4, 4),
    Tile(32, 32, 64, 8, 3),
    Tile(64, 16, 64, 4, 3),
    Tile(64, 16, 64, 8, 4),
    Tile(64, 32, 64, 4, 3),
    Tile(64, 32, 64, 8, 3),
    Tile(64, 64, 32, 8, 3),
    Tile(128, 16, 64, 8, 3),
    Tile(128, 32, 32, 8, 4),
    Tile(128, 64, 32, 16, 3),
]
BACKWARD = [
    Tile(16, 16, 128, 4, 4),
    Tile(32, 16, 64, 4, 4),
    Tile(32, 16, 128, 4, 4),
    Tile(32, 32, 128, 4, 4),
    Tile(32, 64, 64, 8, 4),
    Tile(64, 16, 128, 8, 4),
    Tile(64, 32, 64, 8, 4),
    Tile(64, 32, 128, 8, 3),
    Tile(64, 64, 64, 8, 3),
    Tile(128, 16, 64, 8, 4),
    Tile(128, 32, 32, 8, 3),
    Tile(128, 32, 64, 16, 3),
]
NARROW = [
    Tile(32, 64, 64, 8, 2),
    Tile(16, 64, 64, 4, 2),
    Tile(16, 64, 64, 8, 2),
    Tile(64, 64, 64, 8, 2),
    Tile(64, 32, 64, 8, 2),
    Tile(32, 16, 64, 4, 2),
]


@dataclass
class Timing:
    """Microseconds that a step of one layer, in both directions, takes in a tile."""

    direction: str
    what: str
    chosen: str
    microseconds: dict[str, float]


@dataclass
class Batch:
    """Sentences, or forms, by the number of those alive at each step."""

    what: str
    sizes: Tensor

    @property
    def tokens(self) -> int:
        return int(self.sizes.sum())


def compile_tiles(size: int, tiles: list[Tile], *, workers: int) -> None:
    """Compile both passes of a layer of this size for each tile."""
    compile_all(partial(_compile, size), sorted(set(tiles), key=str), workers=workers)


def _compile(size: int, tile: Tile) -> None:
    with suppress(Exception):  # it comes again where the tile is timed, and is told there
        kernels = Kernels(sentences("2x2"), size, torch.device("cuda"))
        kernels.forward(tile)
        kernels.backward(tile)


class Kernels:
    """The kernels alone, of one layer, on random numbers."""

    def __init__(self, batch: Batch, size: int, device: torch.device) -> None:
        generator = torch.Generator(device).manual_seed(size)

        def draw(*shape: int) -> Tensor:
            return torch.randn(shape, generator=generator, device=device)

        self.size, self.device, self.tokens = size, device, batch.tokens
        self.steps: PackedSteps = packed_steps(batch.sizes, device)
        self.inputs = draw(2, self.tokens, 4 * size)
        self.recurrent = draw(2, 4 * size, size) / size**0.5
        self.transposed = self.recurrent.transpose(1, 2).contiguous()
        self.gates = self.inputs.clone()
        self.cells = draw(2, self.tokens, size)
        self.outputs = draw(self.tokens, 2 * size)
        self.output_gradients = draw(self.tokens, 2 * size)

    def share(self, tile: Tile) -> Share:
        return share_out(tile, self.steps.sentences, self.size, self.device)

    def forward(self, tile: Tile) -> list[Tensor]:
        """Run the forward kernel; it overwrites the gates, which does not change its time."""
        from treecrf.nn.lstm.kernels import run_forward

        run = Pass(self.outputs, self.gates, self.cells, self.recurrent, tile, "tf32")
        run_forward(run, self.steps, None, outputs=self.outputs, tile=tile, keep=True)
        return [self.outputs, self.cells]

    def backward(self, tile: Tile) -> list[Tensor]:
        from treecrf.nn.lstm.kernels import run_backward

        run = Pass(self.outputs, self.gates, self.cells, self.transposed, tile, "tf32")
        return list(run_backward(run, self.steps, None, self.output_gradients))


def time_tiles(
    batch: Batch, size: int, device: torch.device, tiles: tuple[list[Tile], list[Tile]]
) -> list[Timing]:
    """Check and time each tile, the one chosen for the batch first."""
    print(f"tiles for {batch.what} ...", file=sys.stderr, flush=True)
    kernels = Kernels(batch, size, device)
    chosen = chosen_tiles(kernels.steps.sentences, size, device)
    timings = []
    passes = zip(("forward", "backward"), (kernels.forward, kernels.backward), strict=True)
    for (name, run), first, others in zip(passes, chosen, tiles, strict=True):
        expected, times = None, {}
        for tile in dict.fromkeys((first, *others)):
            label = named(tile, kernels.share(tile))
            if name == "forward":
                kernels.gates.copy_(kernels.inputs)
            try:
                found = [result.clone() for result in run(tile)]
            except Exception as problem:
                print(f"  {name}, {label}: {type(problem).__name__}: {problem}", file=sys.stderr)
                continue
            expected = found if expected is None else expected
            if not difference(found, expected) <= TOLERANCE:
                print(f"  {name}, {label}: DIFFERENT, not timed", file=sys.stderr)
                continue
            times[label] = _microseconds(lambda run=run, tile=tile: run(tile), device)
            times[label] /= len(batch.sizes)
        timings.append(Timing(name, batch.what, named(first, kernels.share(first)), times))
        if name == "forward":  # what the backward pass starts from
            kernels.gates.copy_(kernels.inputs)
            kernels.forward(first)
    return timings


def named(tile: Tile, share: Share) -> str:
    shape = f"{tile.sentences} x {tile.units}, depth {tile.depth}"
    return f"{shape}, {tile.warps} warps, {tile.stages} stages, {share.teams} teams of {share.team}"


def _microseconds(call: Callable[[], object], device: torch.device, *, calls: int = 20) -> float:
    """Microseconds of a call, averaged over calls that the GPU runs back to back."""
    if device.type == "cpu":
        return 1000 * median_ms(call, device, seconds=0)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    call()
    finish(device)
    start.record()
    for _ in range(calls):
        call()
    end.record()
    finish(device)
    return 1000 * start.elapsed_time(end) / calls


def difference(ones: list[Tensor], others: list[Tensor]) -> float:
    """Largest norm of a difference, relative to the norm; NaN if a value is NaN."""
    pairs = zip(ones, others, strict=True)
    return float(torch.stack([(one - other).norm() / other.norm() for one, other in pairs]).max())


def sentences(name: str) -> Batch:
    """Batch of equally long sentences; the name 200x25 is 200 sentences of 25 words."""
    count, length = map(int, name.split("x"))
    return Batch(f"{count} x {length}", torch.full((length,), count))


def forms(count: int, longest: int = 20) -> Batch:
    """Batch of word forms of all lengths, equally many of each."""
    lengths = torch.arange(count) % longest + 1
    sizes = (lengths > torch.arange(longest)[:, None]).sum(1)
    return Batch(f"{count} forms", sizes[sizes > 0])
