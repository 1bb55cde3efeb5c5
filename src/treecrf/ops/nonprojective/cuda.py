"""Non-projective trees on CUDA: log Z and marginals.

Ordinary floats, in one tile a sentence or in blocks of words, solve the sentences whose scores
allow it; wide numbers solve the others. Which ones these are stays on the device. Spanning trees
are found and drawn on the CPU.
"""

import torch
import triton
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.nonprojective.triton import blocks, tile, wide
from treecrf.ops.triton.fused import on_host

# Words of the longest sentence that fits into the registers of one program.
WHOLE = 64


def log_partition(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    (arc_scores,) = scores
    return _solve(arc_scores, lengths, multiroot=multiroot, marginals=None)


def marginals(scores: Scores, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    (arc_scores,) = scores
    probabilities = torch.zeros_like(arc_scores, memory_format=torch.contiguous_format)
    value = _solve(arc_scores, lengths, multiroot=multiroot, marginals=probabilities)
    return value, probabilities


argmax = on_host("nonprojective", "argmax")
topk = on_host("nonprojective", "topk")
sample = on_host("nonprojective", "sample")


def _solve(
    arc_scores: Tensor, lengths: Tensor, *, multiroot: bool, marginals: Tensor | None
) -> Tensor:
    """log Z `[batch]`; fills `marginals`, which holds zeros."""
    values = arc_scores.new_zeros(len(lengths))
    if arc_scores.shape[1] > 1 and len(lengths):
        arc_scores = arc_scores.contiguous()
        solved = in_ordinary_floats(
            arc_scores, lengths, values, multiroot=multiroot, marginals=marginals
        )
        in_wide_numbers(
            arc_scores, lengths, values, solved, multiroot=multiroot, marginals=marginals
        )
    return values


def in_ordinary_floats(
    arc_scores: Tensor,
    lengths: Tensor,
    values: Tensor,
    *,
    multiroot: bool,
    marginals: Tensor | None,
) -> Tensor:
    """Fill `values [batch]` and `marginals`; returns where the checks let both pass, `[batch]`."""
    batch, tokens, _ = arc_scores.shape
    with torch.cuda.device_of(arc_scores):
        if tokens - 1 > WHOLE:
            return blocks.solve(
                arc_scores, lengths, values, root_share=int(multiroot), marginals=marginals
            )
        places = max(32, triton.next_power_of_2(tokens - 1))
        graphs = arc_scores.new_empty(batch, places, places, dtype=torch.float64)
        solved = lengths.new_empty(batch, dtype=torch.int32)
        tile.solve[(batch,)](
            arc_scores, lengths, values, values if marginals is None else marginals, solved,
            graphs, tokens, int(multiroot),
            MARGINALS=marginals is not None, PLACES=places, num_warps=8,
        )  # fmt: skip
    return solved


def in_wide_numbers(
    arc_scores: Tensor,
    lengths: Tensor,
    values: Tensor,
    solved: Tensor,
    *,
    multiroot: bool,
    marginals: Tensor | None,
    rows: int | None = None,
) -> None:
    """Fill `values [batch]` and `marginals` of sentences that are not solved, by so many rows."""
    batch, tokens, _ = arc_scores.shape
    words = tokens - 1
    columns = max(32, triton.next_power_of_2(tokens))
    size = words + words * tokens * (1 if marginals is None else 2)
    numbers = arc_scores.new_empty(batch, size, dtype=torch.float64)
    integers = lengths.new_empty(batch, size, dtype=torch.int64)
    with torch.cuda.device_of(arc_scores):
        wide.solve[(batch,)](
            arc_scores, lengths, values, values if marginals is None else marginals, solved,
            numbers, integers, words, int(multiroot),
            MARGINALS=marginals is not None, ROWS=rows or max(1, min(columns, 2048 // columns)),
            COLUMNS=columns, num_warps=4 if columns <= 32 else 8,
        )  # fmt: skip
