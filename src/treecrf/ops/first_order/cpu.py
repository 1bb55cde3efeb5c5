"""First-order projective trees on the CPU: compiled kernels, several sentences at once."""

import numpy as np
import torch
from torch import Tensor

from treecrf.ops.first_order.decoding import best_trees, random_trees
from treecrf.ops.first_order.inside import inside_outside
from treecrf.ops.first_order.kbest import best_lists
from treecrf.ops.numba.lanes import Floats
from treecrf.ops.numba.packing import PackedBatch, uniform_numbers

__all__ = ["argmax", "log_partition", "marginals", "sample", "topk"]


def log_partition(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    batch = PackedBatch(arc_scores, lengths)
    value = np.empty(batch.sentences)
    _inside_outside(batch, multiroot=multiroot, log_partition=value, arc_marginals=np.empty(0))
    return batch.tensor(value)


def marginals(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    batch = PackedBatch(arc_scores, lengths)
    value, arc_marginals = np.empty(batch.sentences), np.zeros(arc_scores.shape)
    _inside_outside(batch, multiroot=multiroot, log_partition=value, arc_marginals=arc_marginals)
    return batch.tensor(value), batch.tensor(arc_marginals)


def argmax(arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    batch = PackedBatch(arc_scores, lengths)
    heads = np.full((batch.sentences, batch.tokens), -1)
    arcs, words, tokens = batch.arc_scores, batch.lengths, batch.tokens
    batch.run(lambda groups: best_trees(arcs, words, groups, tokens, multiroot, heads), cost=0.5)
    return torch.from_numpy(heads)


def topk(arc_scores: Tensor, lengths: Tensor, k: int, *, multiroot: bool) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, best first."""
    batch = PackedBatch(arc_scores, lengths)
    heads = np.full((batch.sentences, k, batch.tokens), -1)
    arcs, words = batch.arc_scores.reshape(arc_scores.shape), batch.lengths
    batch.run_single(
        lambda sentences: best_lists(arcs, words, sentences, multiroot, heads), cost=5.0 + k
    )
    return torch.from_numpy(heads)


def sample(
    arc_scores: Tensor,
    lengths: Tensor,
    k: int,
    *,
    multiroot: bool,
    generator: torch.Generator | None,
) -> Tensor:
    """Heads `[k, batch, N]` of k trees drawn from the distribution."""
    batch = PackedBatch(arc_scores, lengths)
    heads = np.full((k, batch.sentences, batch.tokens), -1)
    chance = uniform_numbers((k, batch.sentences, 2 * batch.tokens), generator)
    arcs, words, tokens = batch.arc_scores, batch.lengths, batch.tokens
    batch.run(
        lambda groups: random_trees(arcs, words, groups, tokens, multiroot, chance, heads),
        cost=2.0 + k,
    )
    return torch.from_numpy(heads)


def _inside_outside(
    batch: PackedBatch, *, multiroot: bool, log_partition: Floats, arc_marginals: Floats
) -> None:
    """Fills the arrays; empty marginals are not asked for."""
    batch.run(
        lambda groups: inside_outside(
            batch.arc_scores,
            batch.lengths,
            groups,
            batch.tokens,
            multiroot,
            log_partition,
            arc_marginals.reshape(-1),
        ),
        cost=2.5,
    )
