"""Projective trees with grandparents on the CPU: compiled kernels, one sentence after the other.

The scores are those of arcs, of grandparents and, in Model 1, of siblings.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.grandparent.decoding import best_trees, random_trees
from treecrf.ops.grandparent.inside import Batch
from treecrf.ops.grandparent.memory import check_memory
from treecrf.ops.grandparent.outside import inside_outside
from treecrf.ops.grandparent.spans.outside import inside_outside as fast_inside_outside
from treecrf.ops.numba.lanes import Floats, Integers
from treecrf.ops.numba.packing import Siblings
from treecrf.ops.numba.threads import run_in_threads
from treecrf.ops.projective.kbest import best_lists


def log_partition(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Log of the summed weight of all trees, `[batch]`."""
    batch = _Batch(scores, lengths, multiroot=multiroot)
    return batch.inside_outside(np.empty(0), np.empty(0), None)


def marginals(scores: Scores, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """log Z `[batch]` and arc marginals `[batch, dependent, head]`."""
    batch, arcs = _Batch(scores, lengths, multiroot=multiroot), np.zeros(scores[0].shape)
    value = batch.inside_outside(arcs.reshape(-1), np.empty(0), None)
    return value, batch.tensor(arcs)


def part_marginals(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Scores:
    """log Z, and the marginals of every kind of part, each in the shape of its scores."""
    batch = _Batch(scores, lengths, multiroot=multiroot)
    parts = [np.zeros(part.shape) for part in scores]
    arcs, grandparents, *siblings = (part.reshape(-1) for part in parts)
    value = batch.inside_outside(arcs, grandparents, siblings[0] if siblings else None)
    return value, *(batch.tensor(part) for part in parts)


def argmax(scores: Scores, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Heads `[batch, N]` of the best tree."""
    batch = _Batch(scores, lengths, multiroot=multiroot)
    return batch.trees(best_trees, np.zeros(batch.decisions(1)), floats=1, cost=0.2)[0]


def topk(scores: Scores, lengths: Tensor, k: int, *, multiroot: bool) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, best first."""
    batch = _Batch(scores, lengths, multiroot=multiroot)
    heads = np.full((len(batch.lengths), k, batch.tokens), -1)
    arcs, grandparents, *_ = batch.scores
    own = arcs, batch.lengths, batch.tokens, multiroot
    batch.run(
        lambda sentences: best_lists(own, batch.siblings, grandparents, sentences, heads),
        cost=5.0,
        floats=2 * k,
    )
    return torch.from_numpy(heads)


def sample(
    scores: Scores, lengths: Tensor, k: int, *, multiroot: bool, generator: torch.Generator | None
) -> Tensor:
    """Heads `[k, batch, N]` of k trees drawn from the distribution."""
    batch = _Batch(scores, lengths, multiroot=multiroot)
    device = generator.device if generator is not None else "cpu"
    shape = batch.decisions(k)
    chance = torch.rand(shape, dtype=torch.float64, generator=generator, device=device)
    return batch.trees(random_trees, chance.cpu().numpy(), floats=2, cost=0.5)


class _Batch:
    """Scores of a call as flat float64 arrays: kernels compile once."""

    def __init__(self, scores: Scores, lengths: Tensor, *, multiroot: bool) -> None:
        # NumPy converts: torch's threads would spin on the cores that the kernels are about to use.
        arcs, grandparents, *siblings = (part.detach().numpy() for part in scores)
        self.dtype = arcs.dtype
        self.tokens = arcs.shape[1]
        self.lengths: Integers = np.ascontiguousarray(lengths.numpy(), dtype=np.int64)
        flat = [
            part.astype(np.float64, copy=False).reshape(-1)
            for part in (arcs, grandparents, *siblings)
        ]
        self.scores: Batch = flat[0], flat[1], self.lengths, self.tokens, multiroot
        self.siblings: Siblings = flat[2] if siblings else None

    def inside_outside(self, arcs: Floats, grandparents: Floats, siblings: Siblings) -> Tensor:
        """log Z; fills flat marginals, unless they are empty."""
        value = np.empty(len(self.lengths))
        if self.siblings is not None and siblings is None:
            siblings = np.empty(0)
        outputs = value, arcs, grandparents, siblings
        floats = (2 if arcs.size == 0 else 3) + (self.siblings is None)
        self.run(
            lambda sentences: fast_inside_outside(self.scores, self.siblings, sentences, *outputs),
            cost=0.2 if arcs.size == 0 else 0.5,
            floats=floats,
        )
        lost = np.flatnonzero(np.isnan(value))
        if lost.size > 0:  # weights of grandparents too far apart for one exponent a span
            self.run(
                lambda sentences: inside_outside(self.scores, self.siblings, sentences, *outputs),
                cost=0.5 if arcs.size == 0 else 1.5,
                floats=floats,
                among=lost,
            )
        return self.tensor(value)

    def trees(
        self, kernel: Callable[..., None], chance: Floats, *, floats: int, cost: float
    ) -> Tensor:
        """Heads `[draw, batch, N]` of a tree for each draw."""
        heads: Integers = np.full((len(chance), len(self.lengths), self.tokens), -1)
        self.run(
            lambda sentences: kernel(self.scores, self.siblings, sentences, chance, heads),
            cost=cost,
            floats=floats,
        )
        return torch.from_numpy(heads)

    def decisions(self, draws: int) -> tuple[int, int, int]:
        """Draws, sentences, and the most decisions that make a tree."""
        most = self.tokens * (2 if self.siblings is None else 3)
        return draws, len(self.lengths), most

    def run(
        self,
        kernel: Callable[[Integers], None],
        *,
        cost: float,
        floats: int,
        among: Integers | None = None,
    ) -> None:
        """Call the kernel on parts of the sentences, or of those given, in threads where that pays.

        `cost` is the time of a sentence in nanoseconds over the fourth power of its tokens;
        `floats` the numbers that a kernel keeps for each cell of a chart with one grandparent.
        """
        if len(self.lengths) == 0:
            return
        chosen = np.arange(len(self.lengths)) if among is None else among
        lengths = self.lengths[chosen]
        check_memory(
            int(lengths.max()),
            count=min(len(lengths), torch.get_num_threads()),
            bytes_a_cell=8 * floats * (2 if self.siblings is None else 3),
            device=torch.device("cpu"),
        )
        run_in_threads(
            lambda indices: kernel(chosen[indices]), (cost * (lengths + 1.0) ** 4).tolist()
        )

    def tensor(self, values: Floats) -> Tensor:
        """Convert a result to a tensor in the dtype of the scores."""
        return torch.from_numpy(values.astype(self.dtype, copy=False))
