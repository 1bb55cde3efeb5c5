"""Speed of the fused LSTM beside cuDNN's or torch's, and in other tiles.

First layers as a parser has them: outputs and gradients of both must agree, then both are timed.
Then the kernels alone, in the tiles that are chosen for a batch and in others; a tile is timed
after a check that it gives what the chosen one gives. Without a GPU this runs in Triton's
interpreter, on toy sizes, and the times mean nothing.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

import torch
from torch import Tensor, nn

from benchmarks.lstm_tiles import (
    BACKWARD,
    FORWARD,
    NARROW,
    TOLERANCE,
    Batch,
    Timing,
    compile_tiles,
    difference,
    forms,
    sentences,
    time_tiles,
)
from benchmarks.report import add_json, print_facts, print_table, write_json
from benchmarks.timing import add_workers, machine, median_ms, refuse_device, triton_device
from treecrf.nn.bilstm import BiLSTM
from treecrf.nn.embedding import CharLSTM
from treecrf.nn.lstm.fused import can_fuse, use_fused_lstm
from treecrf.parser.device import fast_products

BATCHES = ["60x25", "200x25", "30x50", "800x25", "20x100"]


@dataclass
class Comparison:
    """Median milliseconds of the library and of the kernels; none where the two differ."""

    what: str
    difference: float
    forward: dict[str, float] = field(default_factory=dict)
    training: dict[str, float] = field(default_factory=dict)  # forward and backward


def main() -> None:
    arguments = _arguments()
    device = triton_device()
    with use_fused_lstm(True):
        if not can_fuse(torch.ones(1, 1, device=device), arguments.size):
            refuse_device("the fused LSTM needs")
    facts = machine(device)
    print_facts(facts)
    print(f"{arguments.size} units a direction, {arguments.layers} layers, TF32 products\n")
    batches = [sentences(name) for name in arguments.batches]
    words = forms(arguments.forms)
    with fast_products():
        comparisons = [
            compare(batch, _bilstm(arguments, batch, device), device, seconds=arguments.seconds)
            for batch in batches
        ]
        characters = _char_lstm(arguments, words, device)
        comparisons.append(compare(words, characters, device, seconds=arguments.seconds))
        _print_comparisons(comparisons)
        timings = []
        tried = [(arguments.size, FORWARD, BACKWARD, batches)]
        tried.append((arguments.char_size, NARROW, NARROW, [words]))
        for size, forward, backward, shapes in tried:
            if device.type == "cpu":
                forward, backward = forward[:1], backward[:1]
            else:
                compile_tiles(size, forward + backward, workers=arguments.workers)
            for batch in shapes:
                timings += time_tiles(batch, size, device, (forward, backward))
    _print_timings(timings)
    if arguments.json:
        rows = {"layers": [asdict(row) for row in comparisons]}
        rows["tiles"] = [asdict(row) for row in timings]
        write_json(arguments.json, {"machine": facts, **rows})
    if not all(row.difference <= TOLERANCE for row in comparisons):
        sys.exit("the fused LSTM is not the library's")


def compare(
    batch: Batch, call: tuple[nn.Module, Callable[[], Tensor]], device: torch.device, *,
    seconds: float,
) -> Comparison:  # fmt: skip
    """Check that both give the same outputs and gradients, then time both."""
    print(f"{batch.what} ...", file=sys.stderr, flush=True)
    module, run = call

    def train() -> list[Tensor]:
        module.train()
        output = run()
        return [output, *torch.autograd.grad(output.square().sum(), list(module.parameters()))]

    def infer() -> None:
        module.eval()
        with torch.inference_mode():
            run()

    results = []
    for fused in (False, True):
        with use_fused_lstm(fused):
            results.append([result.detach() for result in train()])
    row = Comparison(batch.what, difference(*results))
    if not row.difference <= TOLERANCE:
        print(f"  the two differ by {row.difference:.1e}, so no times are given", file=sys.stderr)
        return row
    for name, fused in (("library", False), ("fused", True)):
        with use_fused_lstm(fused):
            row.forward[name] = median_ms(infer, device, seconds=seconds)
            row.training[name] = median_ms(train, device, seconds=seconds)
    return row


def _bilstm(
    arguments: argparse.Namespace, batch: Batch, device: torch.device
) -> tuple[nn.Module, Callable[[], Tensor]]:
    torch.manual_seed(1)
    size, layers = arguments.size, arguments.layers
    module = BiLSTM(2 * size, size, layers=layers, dropout=0.0, recurrent_dropout=0.0).to(device)
    tokens = torch.randn(batch.tokens, 2 * size, device=device)
    sentence = torch.cat([torch.arange(int(alive)) for alive in batch.sizes]).to(device)
    return module, lambda: module(tokens, batch.sizes, sentence)


def _char_lstm(
    arguments: argparse.Namespace, batch: Batch, device: torch.device
) -> tuple[nn.Module, Callable[[], Tensor]]:
    torch.manual_seed(1)
    module = CharLSTM(200, arguments.char_size, 2 * arguments.char_size).to(device)
    characters = torch.randint(200, (batch.tokens,), device=device)
    return module, lambda: module(characters, batch.sizes)


def _print_comparisons(rows: list[Comparison]) -> None:
    print("whole layers; times are medians in ms of a call, the host's part with it")
    columns = ["batch"]
    for what in ("forward", "training"):
        columns += [f"{what}, library", "fused", "ratio"]
    lines = []
    for row in rows:
        line = [row.what]
        for times in (row.forward, row.training):
            if not times:
                line += ["", "", ""]
                continue
            line += [f"{times['library']:.3f}", f"{times['fused']:.3f}"]
            line.append(f"{times['library'] / times['fused']:.1f}x")
        lines.append([*line, f"{row.difference:.0e}"])
    print_table([*columns, "difference"], lines)


def _print_timings(rows: list[Timing]) -> None:
    for row in rows:
        print(f"\n{row.what}, {row.direction}: µs a step of the kernel alone")
        fastest = sorted(row.microseconds.items(), key=lambda item: item[1])
        lines = [
            [tile, f"{time:.2f}", "chosen" if tile == row.chosen else ""] for tile, time in fastest
        ]
        print_table(["tile", "µs", ""], lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", nargs="+", metavar="BxL", default=BATCHES)
    parser.add_argument("--size", type=int, default=400, help="units of a direction")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--forms", type=int, default=1500, help="that the CharLSTM reads")
    parser.add_argument("--char-size", type=int, default=50, help="its units of a direction")
    parser.add_argument("--seconds", type=float, default=0.5, help="timing budget of each figure")
    add_workers(parser)
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
