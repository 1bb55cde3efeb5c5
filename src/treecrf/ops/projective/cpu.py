"""Projective trees on the CPU: compiled kernels, several sentences at once.

The scores are those of arcs and, in the second order, of siblings.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.numba.lanes import Floats, Integers
from treecrf.ops.numba.packing import PackedBatch
from treecrf.ops.projective.decoding import best_trees, random_trees
from treecrf.ops.projective.inside import inside_outside
from treecrf.ops.projective.kbest import best_lists


def log_partition(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    return _inside_outside(PackedBatch(scores, lengths, multiroot=multiroot), arcs=np.empty(0))


def marginals(scores: Scores, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    batch, arcs = PackedBatch(scores, lengths, multiroot=multiroot), np.zeros(scores[0].shape)
    value = _inside_outside(batch, arcs)
    return value, batch.tensor(arcs)


def part_marginals(
    scores: Scores, lengths: Tensor, *, multiroot: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """log Z, arc marginals, and sibling marginals `[batch, dependent, head, sibling]`."""
    batch, arcs = PackedBatch(scores, lengths, multiroot=multiroot), np.zeros(scores[0].shape)
    siblings = scores[1].detach().numpy()
    pairs = np.zeros(siblings.shape, siblings.dtype)
    value = _inside_outside(batch, arcs, pairs)
    return value, batch.tensor(arcs), torch.from_numpy(pairs)


def argmax(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    batch = PackedBatch(scores, lengths, multiroot=multiroot)
    chance = np.zeros(_decisions(batch, 1))
    return _trees(best_trees, batch, chance, cost=0.5 if batch.siblings is None else 2.0)[0]


def topk(scores: Scores, lengths: Tensor, k: int, *, multiroot: bool) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, best first."""
    batch = PackedBatch(scores, lengths, multiroot=multiroot)
    heads = np.full((batch.sentences, k, batch.tokens), -1)
    cost, siblings = 5.0, batch.siblings
    if siblings is not None:
        # The copy is cheap beside the kernel, which is compiled for float64 only.
        cost, siblings = 10.0, siblings.astype(np.float64, copy=False)
    batch.run_single(
        lambda sentences: best_lists(batch.scores, siblings, None, sentences, heads), cost=k + cost
    )
    return torch.from_numpy(heads)


def sample(
    scores: Scores, lengths: Tensor, k: int, *, multiroot: bool, generator: torch.Generator | None
) -> Tensor:
    """Heads `[k, batch, N]` of k trees drawn from the distribution."""
    batch = PackedBatch(scores, lengths, multiroot=multiroot)
    device = generator.device if generator is not None else "cpu"
    shape = _decisions(batch, k)
    chance = torch.rand(shape, dtype=torch.float64, generator=generator, device=device)
    cost = k + (2.0 if batch.siblings is None else 5.0)
    return _trees(random_trees, batch, chance.cpu().numpy(), cost=cost)


def _inside_outside(batch: PackedBatch, arcs: Floats, pairs: Floats | None = None) -> Tensor:
    """log Z; fills the marginals of arcs, unless empty, and of pairs of siblings, if given."""
    value, siblings = np.empty(batch.sentences), batch.siblings
    if siblings is not None:
        pairs = siblings[:0] if pairs is None else pairs.reshape(-1)
    batch.run(
        lambda groups: inside_outside(
            batch.scores, siblings, groups, value, arcs.reshape(-1), pairs
        ),
        cost=2.5 if siblings is None else 10.0,
    )
    return batch.tensor(value)


def _trees(
    kernel: Callable[..., None], batch: PackedBatch, chance: Floats, *, cost: float
) -> Tensor:
    """Heads `[draw, batch, N]` of a tree for each draw."""
    heads: Integers = np.full((len(chance), batch.sentences, batch.tokens), -1)
    batch.run(lambda groups: kernel(batch.scores, batch.siblings, groups, chance, heads), cost=cost)
    return torch.from_numpy(heads)


def _decisions(batch: PackedBatch, draws: int) -> tuple[int, int, int]:
    """Draws, sentences, and the most decisions that make a tree."""
    return draws, batch.sentences, batch.tokens * (2 if batch.siblings is None else 3)
