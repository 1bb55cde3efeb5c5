"""The first-order projective family on CUDA: launches of the fused kernels, one a pass."""

import torch
from torch import Tensor

from treecrf.ops.first_order.kernels import CHARTS, FLOWS, MARKS, backtrack, inside, outside
from treecrf.ops.triton import host
from treecrf.ops.triton.fused import backtrack_block, barrier_counters, launches, options
from treecrf.ops.triton.shapes import work_shape


def log_partition(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    return _run_inside(arc_scores, lengths, multiroot=multiroot, best=False)[0]


def marginals(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    batch, tokens, _ = arc_scores.shape
    value, charts = _run_inside(arc_scores, lengths, multiroot=multiroot, best=False)
    result = torch.zeros_like(arc_scores)
    flows = arc_scores.new_zeros(batch, FLOWS.value, tokens, tokens)
    shape = work_shape(batch, tokens, arc_scores.device)
    counters = barrier_counters(lengths, shape)
    with torch.cuda.device_of(arc_scores):
        for first, last in reversed(launches(batch, tokens, shape)):
            outside[(batch * shape.team,)](
                lengths, charts, flows, result, counters, tokens, first, last, shape.team,
                **options(shape),
            )  # fmt: skip
    return value, result


def argmax(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    batch, tokens, _ = arc_scores.shape
    value, charts = _run_inside(arc_scores, lengths, multiroot=multiroot, best=True)
    heads = lengths.new_empty(batch, tokens)
    marks = lengths.new_zeros(batch, MARKS.value, tokens, tokens, dtype=torch.int8)
    with torch.cuda.device_of(arc_scores):
        if batch:
            backtrack[(batch,)](
                lengths, charts, marks, value, heads, tokens, BLOCK_I=backtrack_block(tokens)
            )
    return heads


def topk(arc_scores: Tensor, lengths: Tensor, k: int, *, multiroot: bool) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, best first; computed on the host."""
    return host.topk("first_order", (arc_scores,), lengths, k, multiroot=multiroot)


def sample(
    arc_scores: Tensor,
    lengths: Tensor,
    k: int,
    *,
    multiroot: bool,
    generator: torch.Generator | None,
) -> Tensor:
    """Heads `[k, batch, N]` of k trees drawn from the distribution; computed on the host."""
    return host.sample(
        "first_order", (arc_scores,), lengths, k, multiroot=multiroot, generator=generator
    )


def _run_inside(
    arc_scores: Tensor, lengths: Tensor, *, multiroot: bool, best: bool
) -> tuple[Tensor, Tensor]:
    """log Z, or the best score, `[batch]`, and the charts."""
    batch, tokens, _ = arc_scores.shape
    value = arc_scores.new_empty(batch) if tokens > 1 else arc_scores.new_zeros(batch)
    charts = arc_scores.new_empty(batch, CHARTS.value, tokens, tokens)
    shape = work_shape(batch, tokens, arc_scores.device)
    counters = barrier_counters(lengths, shape)
    with torch.cuda.device_of(arc_scores):
        for first, last in launches(batch, tokens, shape):
            inside[(batch * shape.team,)](
                arc_scores, lengths, charts, value, counters, tokens, first, last, shape.team,
                MULTIROOT=multiroot, MAX=best, **options(shape),
            )  # fmt: skip
    return value, charts
