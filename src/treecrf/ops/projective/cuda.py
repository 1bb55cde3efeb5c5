"""Projective trees on CUDA: launches of the fused kernels, one a pass."""

import torch
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.projective.kernels import (
    CHARTS,
    FLOWS,
    MARKS,
    SIBLING_CHARTS,
    SIBLING_FLOWS,
    SIBLING_MARKS,
    backtrack,
    inside,
    outside,
)
from treecrf.ops.triton.fused import (
    backtrack_block,
    barrier_counters,
    launches,
    on_host,
    options,
)
from treecrf.ops.triton.shapes import work_shape


def log_partition(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    return _run_inside(scores, lengths, multiroot=multiroot, best=False)[0]


def marginals(scores: Scores, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    return _run_outside(scores, lengths, None, multiroot=multiroot)


def part_marginals(
    scores: Scores, lengths: Tensor, *, multiroot: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """log Z, arc marginals, and sibling marginals `[batch, dependent, head, sibling]`."""
    pairs = torch.zeros_like(scores[1])
    return *_run_outside(scores, lengths, pairs, multiroot=multiroot), pairs


def argmax(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    batch, tokens, _ = scores[0].shape
    value, charts = _run_inside(scores, lengths, multiroot=multiroot, best=True)
    siblings = len(scores) > 1
    heads = lengths.new_empty(batch, tokens)
    count = MARKS.value + siblings * SIBLING_MARKS.value
    marks = lengths.new_zeros(batch, count, tokens, tokens, dtype=torch.int8)
    with torch.cuda.device_of(heads):
        if batch:
            backtrack[(batch,)](
                lengths, charts, marks, value, heads, tokens,
                SIBLINGS=siblings, BLOCK_I=backtrack_block(tokens),
            )  # fmt: skip
    return heads


topk = on_host("projective", "topk")
sample = on_host("projective", "sample")


def _run_inside(
    scores: Scores, lengths: Tensor, *, multiroot: bool, best: bool
) -> tuple[Tensor, Tensor]:
    """log Z, or the best score, `[batch]`, and the charts."""
    arc_scores, sibling_scores = scores[0], scores[1] if len(scores) > 1 else None
    batch, tokens, _ = arc_scores.shape
    siblings = sibling_scores is not None
    value = arc_scores.new_empty(batch) if tokens > 1 else arc_scores.new_zeros(batch)
    count = CHARTS.value + siblings * SIBLING_CHARTS.value
    charts = arc_scores.new_empty(batch, count, tokens, tokens)
    shape = work_shape(batch, tokens, arc_scores.device, siblings=siblings)
    widths = tokens if batch and tokens > 1 else 0
    counters = barrier_counters(lengths, batch, shape.team)
    with torch.cuda.device_of(arc_scores):
        for first, last in launches(widths, shape.team):
            inside[(batch * shape.team,)](
                arc_scores, sibling_scores, lengths, charts, value, counters,
                tokens, first, last, shape.team,
                SIBLINGS=siblings, MULTIROOT=multiroot, MAX=best, **options(shape),
            )  # fmt: skip
    return value, charts


def _run_outside(
    scores: Scores, lengths: Tensor, pairs: Tensor | None, *, multiroot: bool
) -> tuple[Tensor, Tensor]:
    """log Z and arc marginals; sibling marginals go into `pairs` when it is given."""
    arc_scores, sibling_scores = scores[0], scores[1] if len(scores) > 1 else None
    batch, tokens, _ = arc_scores.shape
    siblings = sibling_scores is not None
    value, charts = _run_inside(scores, lengths, multiroot=multiroot, best=False)
    result = torch.zeros_like(arc_scores)
    count = FLOWS.value + siblings * SIBLING_FLOWS.value
    flows = arc_scores.new_zeros(batch, count, tokens, tokens)
    shape = work_shape(batch, tokens, arc_scores.device, siblings=siblings)
    widths = tokens if batch and tokens > 1 else 0
    counters = barrier_counters(lengths, batch, shape.team)
    with torch.cuda.device_of(arc_scores):
        for first, last in reversed(launches(widths, shape.team)):
            outside[(batch * shape.team,)](
                sibling_scores, lengths, charts, flows, result, pairs, counters,
                tokens, first, last, shape.team,
                # The flows of the first order are the same either way: one kernel is enough.
                SIBLINGS=siblings, PAIRS=pairs is not None, MULTIROOT=multiroot or not siblings,
                **options(shape),
            )  # fmt: skip
    return value, result
