"""The non-projective family on the CPU: compiled kernels, one sentence a task, over threads."""

from collections.abc import Callable

import torch
from torch import Tensor

from treecrf.ops.nonprojective import kbest, matrix_tree, moderate, mst, sampling
from treecrf.ops.threads import run_in_threads


def log_partition(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    scores = _double(arc_scores)
    value = scores.new_empty(len(lengths))
    easy = _are_moderate(scores, lengths)
    arguments = (lengths, multiroot, value)
    _run(moderate.log_partitions, easy, 0.3 * lengths**3, scores.exp(), *arguments)
    _run(matrix_tree.log_partitions, ~easy, lengths**3, scores, *arguments)
    return value.to(arc_scores.dtype)


def marginals(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    scores = _double(arc_scores)
    value, probabilities = scores.new_empty(len(lengths)), torch.zeros_like(scores)
    easy = _are_moderate(scores, lengths)
    arguments = (lengths, multiroot, value, probabilities)
    _run(moderate.log_partitions_and_marginals, easy, 0.6 * lengths**3, scores.exp(), *arguments)
    _run(matrix_tree.log_partitions_and_marginals, ~easy, 4 * lengths**3, scores, *arguments)
    return value.to(arc_scores.dtype), probabilities.to(arc_scores.dtype)


def argmax(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    scores = _double(arc_scores)
    heads = torch.zeros(scores.shape[:2], dtype=torch.int64)
    _run(mst.best_trees, None, 10 * lengths**2, scores, lengths, multiroot, heads)
    return heads


def topk(arc_scores: Tensor, lengths: Tensor, k: int, *, multiroot: bool) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, best first."""
    scores = _double(arc_scores)
    batch, tokens, _ = scores.shape
    heads = torch.zeros((batch, k, tokens), dtype=torch.int64)
    _run(kbest.k_best_trees, None, 10 * k * lengths**3, scores, lengths, multiroot, heads)
    return heads


def sample(
    arc_scores: Tensor,
    lengths: Tensor,
    k: int,
    *,
    multiroot: bool,
    generator: torch.Generator | None,
) -> Tensor:
    """Heads `[k, batch, N]` of k trees drawn from the distribution."""
    scores = _double(arc_scores)
    batch, tokens, _ = scores.shape
    integers = torch.iinfo(torch.int64)
    seeds = torch.randint(
        integers.min,
        integers.max,
        (k, batch),
        device=None if generator is None else generator.device,
        generator=generator,
    ).cpu()
    if multiroot:
        value = log_partition(scores, lengths, multiroot=True)
        root_marginals = scores.new_zeros(batch, tokens)
    else:
        value, probabilities = marginals(scores, lengths, multiroot=False)
        root_marginals = probabilities[:, :, 0].contiguous()
    exists = value > -torch.inf
    heads = torch.where(exists[:, None], 0, -1).expand(k, batch, tokens).contiguous()
    costs = lengths**2 + 100 * k * lengths
    arguments = (lengths, multiroot, root_marginals, seeds, heads)
    _run(sampling.draw_trees, exists, costs, scores, *arguments)
    return heads


def _double(arc_scores: Tensor) -> Tensor:
    return arc_scores.detach().double().contiguous()


def _are_moderate(scores: Tensor, lengths: Tensor) -> Tensor:
    """Whether every arc of a sentence exists and none is extreme, `[batch]`."""
    return (scores.abs() <= moderate.LIMIT).sum((1, 2)) == lengths**2


def _run(
    kernel: Callable[..., None],
    chosen: Tensor | None,
    costs: Tensor,
    *arguments: Tensor | bool,
) -> None:
    """Runs a kernel over the chosen sentences; `costs [batch]` are in about nanoseconds."""
    sentences = torch.arange(len(costs)) if chosen is None else chosen.nonzero().squeeze(1)
    indices = sentences.numpy()
    arrays = [item if isinstance(item, bool) else item.contiguous().numpy() for item in arguments]
    run_in_threads(lambda part: kernel(indices[part], *arrays), costs[sentences].tolist())
