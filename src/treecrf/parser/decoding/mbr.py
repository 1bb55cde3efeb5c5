"""MBR heads of the CRFs, with a chart only where the most probable heads are no tree."""

import math

import torch
from torch import Tensor

from treecrf.parser.decoding.long import LongTreeCRF
from treecrf.parser.network.loss import TreeCRF
from treecrf.struct import ProjectiveTreeCRF

__all__ = ["has_tree", "is_projective_tree", "mbr_heads"]


def mbr_heads(crf: TreeCRF | LongTreeCRF, allowed: Tensor | None = None) -> Tensor:
    """`crf.mbr`, with chart decoding only for sentences whose most probable heads are no tree."""
    marginals = crf.marginals
    token = torch.arange(marginals.shape[1], device=marginals.device)
    is_word = (token > 0) & (token <= crf.lengths[:, None])
    heads = torch.where(is_word, marginals.argmax(2), 0)
    settled = is_projective_tree(heads, crf.lengths, multiroot=crf.multiroot) & has_tree(crf)
    rest = (~settled).nonzero().squeeze(1)
    if len(rest):
        heads[rest] = ProjectiveTreeCRF(
            marginals[rest],
            crf.lengths[rest],
            crf.multiroot,
            None if allowed is None else allowed[rest],
            validate=False,
        ).argmax
    return heads


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
