"""Projective trees on the CPU: compiled kernels, several sentences at once.

With sibling scores the trees are of the second order, without them of the first.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from treecrf.ops.numba.lanes import Floats, Integers
from treecrf.ops.numba.packing import PackedBatch, uniform_numbers
from treecrf.ops.projective.decoding import best_trees, random_trees
from treecrf.ops.projective.inside import inside_outside
from treecrf.ops.projective.kbest import best_lists

__all__ = ["argmax", "log_partition", "marginals", "sample", "sibling_marginals", "topk"]


def log_partition(
    arc_scores: Tensor, lengths: Tensor, sibling_scores: Tensor | None = None, *, multiroot: bool
) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    batch, siblings = PackedBatch(arc_scores, lengths), _array(sibling_scores)
    return _inside_outside(batch, siblings, multiroot=multiroot, arcs=np.empty(0))


def marginals(
    arc_scores: Tensor, lengths: Tensor, sibling_scores: Tensor | None = None, *, multiroot: bool
) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    batch, siblings = PackedBatch(arc_scores, lengths), _array(sibling_scores)
    arcs = np.zeros(arc_scores.shape)
    value = _inside_outside(batch, siblings, multiroot=multiroot, arcs=arcs)
    return value, batch.tensor(arcs)


def sibling_marginals(
    arc_scores: Tensor, lengths: Tensor, sibling_scores: Tensor, *, multiroot: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """log Z, arc marginals, and sibling marginals `[batch, dependent, head, sibling]`."""
    batch, siblings = PackedBatch(arc_scores, lengths), sibling_scores.detach().numpy()
    arcs, pairs = np.zeros(arc_scores.shape), np.zeros(siblings.shape, siblings.dtype)
    value = _inside_outside(batch, siblings, multiroot=multiroot, arcs=arcs, pairs=pairs)
    return value, batch.tensor(arcs), torch.from_numpy(pairs)


def argmax(
    arc_scores: Tensor, lengths: Tensor, sibling_scores: Tensor | None = None, *, multiroot: bool
) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    siblings = _array(sibling_scores)
    chance = np.zeros(_decisions(arc_scores, 1, siblings))
    cost = 0.5 if siblings is None else 2.0
    (heads,) = _trees(
        best_trees, arc_scores, lengths, siblings, multiroot=multiroot, chance=chance, cost=cost
    )
    return torch.from_numpy(heads)


def topk(
    arc_scores: Tensor,
    lengths: Tensor,
    k: int,
    sibling_scores: Tensor | None = None,
    *,
    multiroot: bool,
) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, best first."""
    batch = PackedBatch(arc_scores, lengths)
    heads = np.full((batch.sentences, k, batch.tokens), -1)
    arcs, words = batch.arc_scores.reshape(arc_scores.shape), batch.lengths
    siblings = _array(sibling_scores)
    if siblings is not None:
        # The copy is cheap beside the kernel, which is compiled for float64 only.
        siblings = siblings.astype(np.float64, copy=False)
    batch.run_single(
        lambda sentences: best_lists(arcs, siblings, words, sentences, multiroot, heads),
        cost=k + (5.0 if siblings is None else 10.0),
    )
    return torch.from_numpy(heads)


def sample(
    arc_scores: Tensor,
    lengths: Tensor,
    k: int,
    sibling_scores: Tensor | None = None,
    *,
    multiroot: bool,
    generator: torch.Generator | None,
) -> Tensor:
    """Heads `[k, batch, N]` of k trees drawn from the distribution."""
    siblings = _array(sibling_scores)
    chance = uniform_numbers(_decisions(arc_scores, k, siblings), generator)
    cost = k + (2.0 if siblings is None else 5.0)
    heads = _trees(
        random_trees, arc_scores, lengths, siblings, multiroot=multiroot, chance=chance, cost=cost
    )
    return torch.from_numpy(heads)


def _inside_outside(
    batch: PackedBatch,
    siblings: Floats | None,
    *,
    multiroot: bool,
    arcs: Floats,
    pairs: Floats | None = None,
) -> Tensor:
    """log Z; fills the marginals of arcs, unless empty, and of pairs of siblings, if given."""
    value = np.empty(batch.sentences)
    if pairs is None and siblings is not None:
        pairs = siblings[:0]
    batch.run(
        lambda groups: inside_outside(
            batch.arc_scores,
            _flat(siblings),
            batch.lengths,
            groups,
            batch.tokens,
            multiroot,
            value,
            arcs.reshape(-1),
            _flat(pairs),
        ),
        cost=2.5 if siblings is None else 10.0,
    )
    return batch.tensor(value)


def _trees(
    kernel: Callable[..., None],
    arc_scores: Tensor,
    lengths: Tensor,
    siblings: Floats | None,
    *,
    multiroot: bool,
    chance: Floats,
    cost: float,
) -> Integers:
    """Heads `[draw, batch, N]` of a tree for each draw."""
    batch = PackedBatch(arc_scores, lengths)
    heads: Integers = np.full((len(chance), batch.sentences, batch.tokens), -1)
    arcs, words, tokens, flat = batch.arc_scores, batch.lengths, batch.tokens, _flat(siblings)
    batch.run(
        lambda groups: kernel(arcs, flat, words, groups, tokens, multiroot, chance, heads),
        cost=cost,
    )
    return heads


def _decisions(arc_scores: Tensor, draws: int, siblings: Floats | None) -> tuple[int, int, int]:
    """Draws, sentences, and the most decisions that make a tree."""
    batch, tokens, _ = arc_scores.shape
    return draws, batch, tokens * (2 if siblings is None else 3)


def _array(scores: Tensor | None) -> Floats | None:
    return None if scores is None else scores.detach().numpy()


def _flat(scores: Floats | None) -> Floats | None:
    return None if scores is None else scores.reshape(-1)
