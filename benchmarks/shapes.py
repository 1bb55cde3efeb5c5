"""Speed of the fused CUDA kernels in the chosen work shape and in its neighbours.

Beside the shape that is chosen for a batch stand those that have one of its numbers doubled or
halved. A shape is timed after a check that it gives the log Z and marginals of the chosen one.
Without a GPU this runs in Triton's interpreter, on toy sentences, and the times mean nothing.
"""

import argparse
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

import torch
from torch import Tensor

from benchmarks.report import add_json, print_facts, print_table, write_json
from benchmarks.timing import (
    add_workers,
    compile_all,
    machine,
    median_ms,
    refuse_device,
    triton_device,
)
from treecrf.ops.autograd import masked_and_shifted
from treecrf.ops.backend import BackendError, backend_for, module, use_backend
from treecrf.ops.triton.shapes import MOST_WARPS, WorkShape, largest_team, use_shape, work_shape

FAMILIES = ["first_order", "second_order"]
LENGTHS = {"cuda": [25, 40, 64, 100, 200, 300, 500], "cpu": [3]}
# About as many words and sibling scores in a batch at every length.
WORDS = 5_000
CELLS = 500_000_000
SENTENCES = {"cuda": 200, "cpu": 1}
TOLERANCE = 2e-3
# Kernels are the same for all lengths, so a short sentence does to compile them.
COMPILED_WORDS = 17


@dataclass(frozen=True)
class Case:
    """Kernel to compile: a pass in one tile, by single programs or teams of any size."""

    family: str
    shape: WorkShape


@dataclass
class Row:
    """Median milliseconds of log Z + marginals in each shape, the chosen one first."""

    family: str
    sentences: int
    words: int
    milliseconds: dict[str, float]


def main() -> None:
    arguments = _arguments()
    device = triton_device()
    try:
        with use_backend("triton"):
            backend_for(device)
    except BackendError:
        refuse_device("the fused kernels need")
    facts = machine(device)
    print_facts(facts)
    print("log Z + marginals; times are medians in ms, float32\n")

    lengths = arguments.lengths or LENGTHS[device.type]
    batches = [(family, words) for family in arguments.families for words in lengths]
    if device.type == "cuda":
        compile_all(
            _compile,
            {
                Case(family, replace(shape, team=min(shape.team, 2)))
                for family, words in batches
                for shape in candidates(family, words, device)
            },
            workers=arguments.workers,
        )
    rows = [measure(family, words, device, seconds=arguments.seconds) for family, words in batches]
    _print_rows(rows)
    if arguments.json:
        write_json(arguments.json, {"machine": facts, "rows": [asdict(row) for row in rows]})


def candidates(family: str, words: int, device: torch.device) -> list[WorkShape]:
    """The shape that is chosen for a batch of so many words, then its neighbours."""
    batch, tokens = _sentences(words, device), words + 1
    chosen = work_shape(batch, tokens, device, siblings=family == "second_order")
    shapes = [chosen]
    for name, number in asdict(chosen).items():
        for other in (number // 2, number * 2):
            shape = replace(chosen, **{name: other})
            if other == 0 or shape.warps > MOST_WARPS:
                continue
            most = largest_team(shape, batch=batch, tokens=tokens, device=device)
            if name != "team" and chosen.team > 1:
                shape = replace(shape, team=most)  # as would be chosen with this tile
            if shape.team <= most:
                shapes.append(shape)
    return shapes


def _compile(case: Case) -> None:
    device = torch.device("cuda")
    parts, lengths = _batch(case.family, 1, COMPILED_WORDS, device)
    with suppress(Exception):  # it comes again where the shape is timed, and is told there
        _marginals(parts, lengths, case.shape)


def measure(family: str, words: int, device: torch.device, *, seconds: float) -> Row:
    """Check and time one family on random scores in each shape."""
    sentences = _sentences(words, device)
    print(f"{family}: {sentences} sentences of {words} words ...", file=sys.stderr, flush=True)
    parts, lengths = _batch(family, sentences, words, device)
    chosen, *others = candidates(family, words, device)
    expected = _marginals(parts, lengths, chosen)
    milliseconds = {}
    for shape in (chosen, *others):
        try:
            found = _marginals(parts, lengths, shape)
        except Exception as problem:
            print(f"  {_named(shape)}: {type(problem).__name__}: {problem}", file=sys.stderr)
            continue
        for name, one, other in zip(("log Z", "marginals"), found, expected, strict=True):
            difference = (one - other).abs().max().item()
            if not difference <= TOLERANCE:
                sys.exit(
                    f"{family}, {words} words: {name} in the shape {_named(shape)} is off by "
                    f"{difference:.1e} from that in {_named(chosen)}, so no times are given"
                )
        milliseconds[_named(shape)] = median_ms(
            lambda shape=shape: _marginals(parts, lengths, shape), device, seconds=seconds
        )
    return Row(family, sentences, words, milliseconds)


def _sentences(words: int, device: torch.device) -> int:
    fitting = min(WORDS // words, CELLS // words**3, SENTENCES[device.type])
    return max(fitting, 1)


def _batch(
    family: str, sentences: int, words: int, device: torch.device
) -> tuple[tuple[Tensor, ...], Tensor]:
    """Random scores, ready for the kernels, and lengths."""
    generator = torch.Generator(device).manual_seed(words)
    tokens = words + 1

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, device=device)

    lengths = torch.full((sentences,), words, device=device)
    arcs, _ = masked_and_shifted(draw(sentences, tokens, tokens), lengths, allowed=None)
    if family == "first_order":
        return (arcs,), lengths
    return (arcs, draw(sentences, tokens, tokens, tokens)), lengths


def _marginals(
    parts: tuple[Tensor, ...], lengths: Tensor, shape: WorkShape
) -> tuple[Tensor, Tensor]:
    """log Z and marginals by the kernels, working in this shape."""
    with use_shape(shape):
        return module("projective", "triton").marginals(parts, lengths, multiroot=False)


def _named(shape: WorkShape) -> str:
    tile = f"{shape.block_positions} x {shape.block_splits}"
    return f"{tile}, {shape.warps} warps, team of {shape.team}"


def _print_rows(rows: list[Row]) -> None:
    lines = []
    for row in rows:
        (chosen, time), *_ = row.milliseconds.items()
        best, least = min(row.milliseconds.items(), key=lambda item: item[1])
        batch = f"{row.sentences} x {row.words}"
        figures = [chosen, f"{time:.3f}", best, f"{least:.3f}", f"{time / least:.2f}x"]
        lines.append([row.family, batch, *figures, str(len(row.milliseconds))])
    print_table(["family", "batch", "chosen", "ms", "best", "ms", "ratio", "timed"], lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--lengths", nargs="+", type=int, metavar="WORDS", help="of the sentences")
    parser.add_argument("--seconds", type=float, default=0.1, help="timing budget of each shape")
    add_workers(parser)
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
