"""Non-projective trees on the CPU: compiled kernels, one sentence a task, in threads.

NumPy converts: the threads of torch would spin on the cores that the kernels are about to use.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.nonprojective import kbest, matrix_tree, moderate, mst, sampling
from treecrf.ops.nonprojective.widefloat import Flags, Floats, Integers
from treecrf.ops.numba.threads import run_in_threads

_NONE = np.empty((0, 0, 0))  # marginals that nobody asked for


def log_partition(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    arcs, words = _arrays(scores, lengths)
    return _tensor(_log_partitions(arcs, words, multiroot, _NONE), scores)


def marginals(scores: Scores, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    arcs, words = _arrays(scores, lengths)
    probabilities = np.zeros(arcs.shape)
    values = _log_partitions(arcs, words, multiroot, probabilities)
    return _tensor(values, scores), _tensor(probabilities, scores)


def argmax(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    arcs, words = _arrays(scores, lengths)
    heads = np.zeros(arcs.shape[:2], np.int64)
    _run(mst.best_trees, None, 10 * words**2, arcs, words, multiroot, heads)
    return torch.from_numpy(heads)


def topk(scores: Scores, lengths: Tensor, k: int, *, multiroot: bool) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, best first."""
    arcs, words = _arrays(scores, lengths)
    heads = np.zeros((len(words), k, arcs.shape[1]), np.int64)
    _run(kbest.k_best_trees, None, 10 * k * words**3, arcs, words, multiroot, heads)
    return torch.from_numpy(heads)


def sample(
    scores: Scores, lengths: Tensor, k: int, *, multiroot: bool, generator: torch.Generator | None
) -> Tensor:
    """Heads `[k, batch, N]` of k trees drawn from the distribution."""
    arcs, words = _arrays(scores, lengths)
    batch, tokens, _ = arcs.shape
    device = None if generator is None else generator.device
    seeds = torch.randint(-(1 << 63), (1 << 63) - 1, (k, batch), device=device, generator=generator)
    probabilities = _NONE if multiroot else np.zeros(arcs.shape)
    values = _log_partitions(arcs, words, multiroot, probabilities)
    # Several roots are drawn with the other heads.
    root_marginals = np.zeros((batch, tokens)) if multiroot else probabilities[:, :, 0].copy()
    exists = values > -np.inf
    heads = np.zeros((k, batch, tokens), np.int64)
    heads[:, ~exists] = -1
    costs = words**2 + 100 * k * words
    arguments = (words, multiroot, root_marginals, seeds.cpu().numpy(), heads)
    _run(sampling.draw_trees, exists, costs, arcs, *arguments)
    return torch.from_numpy(heads)


def _log_partitions(scores: Floats, words: Integers, multiroot: bool, marginals: Floats) -> Floats:
    """log Z `[batch]`; fills `marginals [batch, N, N]`, which holds zeros, unless it is empty."""
    values, solved = np.empty(len(words)), np.empty(len(words), np.bool_)
    cost, square_cost, wide_cost = (0.03, 4.0, 4.0) if marginals.size else (0.012, 2.5, 1.0)
    costs = cost * words**3 + square_cost * words**2
    arguments = (scores, words, multiroot, values, marginals)
    _run(moderate.log_partitions, None, costs, *arguments, solved)
    if not solved.all():
        _run(matrix_tree.log_partitions, ~solved, wide_cost * words**3, *arguments)
    return values


def _arrays(scores: Scores, lengths: Tensor) -> tuple[Floats, Integers]:
    arcs = np.ascontiguousarray(scores[0].detach().numpy(), dtype=np.float64)
    return arcs, np.ascontiguousarray(lengths.numpy(), dtype=np.int64)


def _tensor(values: Floats, scores: Scores) -> Tensor:
    """Convert a result to a tensor in the dtype of the scores."""
    return torch.from_numpy(values.astype(scores[0].detach().numpy().dtype, copy=False))


def _run(
    kernel: Callable[..., None],
    chosen: Flags | None,
    costs: npt.NDArray[Any],
    *arguments: npt.NDArray[Any] | bool,
) -> None:
    """Run a kernel over the chosen sentences; `costs [batch]` are in about nanoseconds."""
    indices = np.arange(len(costs)) if chosen is None else np.flatnonzero(chosen)
    run_in_threads(lambda part: kernel(indices[part], *arguments), costs[indices].tolist())
