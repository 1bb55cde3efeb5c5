"""Packing of a batch into groups of LANES sentences, and kernels over groups in threads."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from treecrf.ops.numba.compiling import compiled
from treecrf.ops.numba.lanes import LANES, Floats, Integers, Vector, load, load_offsets, scatter
from treecrf.ops.numba.threads import run_in_threads

Groups = npt.NDArray[np.int64]  # [group, lane]: which sentence of the batch
Siblings = Floats | None
"""Flat scores or marginals `[batch * dependent * head * sibling]`; None in the first order."""

Batch = tuple[Floats, Integers, int, bool]
"""Flat arc scores `[batch * dependent * head]`, lengths, tokens, whether there are many roots."""


class PackedBatch:
    """Sentences of one call, longest first, LANES of them in a group.

    Spare lanes of the last group repeat its last sentence: they compute the same numbers and write
    them to the same place.
    """

    def __init__(self, scores: tuple[Tensor, ...], lengths: Tensor, *, multiroot: bool) -> None:
        # NumPy converts: torch's threads would spin on the cores that the kernels are about to use.
        arcs, *siblings = (part.detach().numpy() for part in scores)
        self.dtype = arcs.dtype
        self.sentences, self.tokens = arcs.shape[:2]
        self.lengths: Integers = np.ascontiguousarray(lengths.numpy(), dtype=np.int64)
        order = np.argsort(-self.lengths, kind="stable")
        order = np.append(order, np.repeat(order[-1:], -len(order) % LANES))
        self.groups: Groups = order.reshape(-1, LANES)
        flat = arcs.astype(np.float64, copy=False).reshape(-1)  # one type: kernels compile once
        self.scores: Batch = flat, self.lengths, self.tokens, multiroot
        self.siblings: Siblings = siblings[0].reshape(-1) if siblings else None

    def run(self, kernel: Callable[[Groups], None], cost: float) -> None:
        """Call the kernel on parts of the groups, in threads where that pays.

        `cost` is the time of a group in nanoseconds over the cube of its tokens.
        """
        costs = cost * (self.lengths[self.groups[:, 0]] + 1.0) ** 3
        run_in_threads(lambda indices: kernel(self.groups[indices]), costs.tolist())

    def run_single(self, kernel: Callable[[Integers], None], cost: float) -> None:
        """Call like `run` a kernel that takes sentences one by one."""
        run_in_threads(kernel, (cost * (self.lengths + 1.0) ** 3).tolist())

    def tensor(self, values: Floats) -> Tensor:
        """Convert a result to a tensor in the dtype of the scores."""
        return torch.from_numpy(values.astype(self.dtype, copy=False))


@compiled
def most_words(lengths: Integers, groups: Groups) -> int:
    """Length of the longest sentence; the first of each group is its longest."""
    most = 0
    for group in range(len(groups)):
        most = max(most, lengths[groups[group, 0]])
    return most


@compiled
def lane_offsets(members: Integers, stride: int) -> Vector:
    """Start of each lane's sentence in a flat array of `stride` elements a sentence."""
    offsets = np.empty(LANES, np.int64)
    for lane in range(LANES):
        offsets[lane] = members[lane] * stride
    return load_offsets(offsets, 0)


@compiled
def lane_lengths(members: Integers, lengths: Integers) -> Vector:
    """Length of each lane's sentence, as floats."""
    words = np.empty(LANES)
    for lane in range(LANES):
        words[lane] = lengths[members[lane]]
    return load(words, 0)


@compiled
def write_marginals(
    n: int, members: Integers, tokens: int, flows: Floats, marginals: Floats
) -> None:
    """Write the flows of the incomplete spans, which are the probabilities of their arcs."""
    offsets = lane_offsets(members, tokens * tokens)
    for dependent in range(1, n + 1):
        for head in range(n + 1):
            flow = load(flows, head * (n + 1) + dependent)
            scatter(marginals, offsets, dependent * tokens + head, flow)
