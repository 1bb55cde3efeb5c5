"""Projective trees with grandparents on CUDA: launches of the fused kernels, one a pass.

Best trees, k-best lists and draws are computed on the host.
"""

import torch
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.grandparent.cuda_inside import CHARTS, SIBLING_CHARTS, inside
from treecrf.ops.grandparent.cuda_outside import FLOWS, SIBLING_FLOWS, outside
from treecrf.ops.grandparent.memory import check_memory
from treecrf.ops.triton.fused import barrier_counters, launches, on_host, options
from treecrf.ops.triton.shapes import grandparent_shape


def log_partition(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    return _run_inside(scores, lengths, multiroot=multiroot)[0]


def marginals(scores: Scores, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    value, arcs, _ = _run_outside(scores, lengths, None, multiroot=multiroot)
    return value, arcs.sum(3)


def part_marginals(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Scores:
    """log Z, and the marginals of every kind of part, each in the shape of its scores."""
    pairs = torch.zeros_like(scores[2]) if len(scores) > 2 else None
    value, arcs, _ = _run_outside(scores, lengths, pairs, multiroot=multiroot)
    grandparents = arcs.clone()
    grandparents[:, :, 0] = 0  # the root symbol has no head
    parts = value, arcs.sum(3), grandparents
    return parts if pairs is None else (*parts, pairs)


argmax = on_host("grandparent", "argmax")
topk = on_host("grandparent", "topk")
sample = on_host("grandparent", "sample")


def _run_inside(scores: Scores, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and the charts."""
    arc_scores, sibling_scores = scores[0], scores[2] if len(scores) > 2 else None
    batch, tokens, _ = arc_scores.shape
    siblings = sibling_scores is not None
    count = CHARTS.value + siblings * SIBLING_CHARTS.value
    value = arc_scores.new_empty(batch) if tokens > 1 else arc_scores.new_zeros(batch)
    charts = _charts(arc_scores, count, flows=FLOWS.value + siblings * SIBLING_FLOWS.value)
    shape = grandparent_shape(batch, tokens, arc_scores.device)
    counters = barrier_counters(lengths, batch, shape.team)
    with torch.cuda.device_of(arc_scores):
        for first, last in launches(tokens if batch and tokens > 1 else 0, shape.team):
            inside[(batch * shape.team,)](
                arc_scores, scores[1], sibling_scores, lengths, charts, value, counters,
                tokens, first, last, shape.team,
                SIBLINGS=siblings, MULTIROOT=multiroot, **options(shape),
            )  # fmt: skip
    return value, charts


def _run_outside(
    scores: Scores, lengths: Tensor, pairs: Tensor | None, *, multiroot: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """log Z, marginals `[batch, dependent, head, grandparent]` of arcs, and all flows.

    An arc of the root symbol has the grandparent 0; sibling marginals go into `pairs` if given.
    """
    arc_scores, sibling_scores = scores[0], scores[2] if len(scores) > 2 else None
    batch, tokens, _ = arc_scores.shape
    siblings = sibling_scores is not None
    value, charts = _run_inside(scores, lengths, multiroot=multiroot)
    count = FLOWS.value + siblings * SIBLING_FLOWS.value
    flows = arc_scores.new_zeros(batch, count, tokens, tokens, tokens)
    shape = grandparent_shape(batch, tokens, arc_scores.device)
    counters = barrier_counters(lengths, batch, shape.team)
    rounds = 2 * (tokens - 1) if batch else 0
    with torch.cuda.device_of(arc_scores):
        for first, last in launches(rounds, shape.team):
            outside[(batch * shape.team,)](
                arc_scores, sibling_scores, lengths, charts, flows, pairs, counters,
                tokens, first, last, shape.team,
                SIBLINGS=siblings, PAIRS=pairs is not None, MULTIROOT=multiroot,
                **options(shape),
            )  # fmt: skip
    return value, flows[:, 2].transpose(1, 2), flows


def _charts(like: Tensor, count: int, *, flows: int) -> Tensor:
    """Allocate charts, if they and the flows into them fit."""
    batch, tokens, _ = like.shape
    check_memory(
        tokens - 1,
        count=batch,
        bytes_a_cell=(count + flows) * like.element_size(),
        device=like.device,
    )
    return like.new_empty(batch, count, tokens, tokens, tokens)
