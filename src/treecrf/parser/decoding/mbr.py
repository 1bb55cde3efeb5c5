"""MBR heads of the CRFs, with a chart only where the most probable heads are no tree."""

import math

import torch
from torch import Tensor

from treecrf.ops.backend import backend_for
from treecrf.parser.decoding.long import LongTreeCRF
from treecrf.parser.network.loss import TreeCRF
from treecrf.struct import ProjectiveTreeCRF

__all__ = ["has_tree", "is_projective_tree", "mbr_heads"]


def mbr_heads(crf: TreeCRF | LongTreeCRF, allowed: Tensor | None = None) -> Tensor:
    """`crf.mbr`, with chart decoding only for sentences whose most probable heads are no tree."""
    marginals = crf.marginals
    heads, settled = _greedy_heads(marginals, crf.lengths, multiroot=crf.multiroot)
    rest = [row for row, fine in enumerate((settled & has_tree(crf)).tolist()) if not fine]
    if rest:
        heads[rest] = ProjectiveTreeCRF(
            marginals[rest],
            crf.lengths[rest],
            crf.multiroot,
            None if allowed is None else allowed[rest],
            validate=False,
        ).argmax
    return heads


def _greedy_heads(marginals: Tensor, lengths: Tensor, *, multiroot: bool) -> tuple[Tensor, Tensor]:
    """The most probable heads `[batch, N]`, and whether they are a projective tree, `[batch]`."""
    if backend_for(marginals.device) == "numba":
        from treecrf.ops.projective.greedy import greedy_heads

        heads = torch.empty(marginals.shape[:2], dtype=torch.int64)
        settled = torch.empty(len(heads), dtype=torch.bool)
        given = marginals.detach().numpy(), lengths.numpy()
        greedy_heads(*given, multiroot, heads.numpy(), settled.numpy())
        return heads, settled
    token = torch.arange(marginals.shape[1], device=marginals.device)
    is_word = (token > 0) & (token <= lengths[:, None])
    heads = torch.where(is_word, marginals.argmax(2), 0)
    return heads, is_projective_tree(heads, lengths, multiroot=multiroot)


def has_tree(crf: TreeCRF | LongTreeCRF) -> Tensor:
    """Whether some tree of the family is allowed, `[batch]`; without one marginals mean nothing."""
    return crf.log_partition > float("-inf")


def is_projective_tree(heads: Tensor, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Whether heads `[batch, N]`, zero past the last word, are a projective tree, `[batch]`."""
    width = heads.shape[1]
    token = torch.arange(width, device=heads.device)
    is_word = (token > 0) & (token <= lengths[:, None])
    roots = ((heads == 0) & is_word).sum(1)
    single = (roots >= 1) if multiroot else (roots == 1)
    ancestors = heads
    for _ in range(max(1, math.ceil(math.log2(max(width, 2))))):
        ancestors = ancestors.gather(1, ancestors)  # twice as far up each time
    reaches_root = (ancestors == 0).all(1)
    # No arc leads out from below another: the head of each word between is between, or an end.
    left, right = torch.minimum(heads, token), torch.maximum(heads, token)
    between = (left[:, :, None] < token) & (token < right[:, :, None])
    outside = (heads[:, None] < left[:, :, None]) | (heads[:, None] > right[:, :, None])
    crosses = (between & outside & is_word[:, :, None] & is_word[:, None]).flatten(1).any(1)
    return (single & reaches_root & ~crosses) | (lengths == 0)
