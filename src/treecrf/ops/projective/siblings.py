"""Adjacent siblings: those that some tree may have, and those of given trees."""

import torch
from torch import Tensor


def usable_siblings(arc_scores: Tensor, *, multiroot: bool) -> Tensor:
    """Cells `[batch, dependent, head, sibling]` that some tree could use, by masked arc scores.

    The sibling lies strictly between head and dependent, and both are allowed children of the head;
    the root symbol has two children only with several roots.
    """
    token = torch.arange(arc_scores.shape[1], device=arc_scores.device)
    dependent, head, sibling = token[:, None, None], token[:, None], token
    rightwards = (head < sibling) & (sibling < dependent)
    leftwards = (dependent < sibling) & (sibling < head)
    possible = arc_scores > float("-inf")  # [batch, dependent, head]
    if not multiroot:
        possible = possible & (token > 0)
    return (
        (rightwards | leftwards)
        & possible[:, :, :, None]
        & possible.transpose(1, 2)[:, None]  # [batch, 1, head, sibling]
    )


def adjacent_siblings(heads: Tensor) -> Tensor:
    """Nearest sibling towards the head of each token of `heads [..., N]`; 0 for none."""
    tokens = heads.shape[-1]
    token = torch.arange(tokens, device=heads.device)
    dependent, sibling, head = token[:, None], token, heads.unsqueeze(-1)
    siblings = heads.unsqueeze(-2) == head  # [..., dependent, sibling]
    before = siblings & (head < sibling) & (sibling < dependent)
    after = siblings & (dependent < sibling) & (sibling < head)
    nearest_before = torch.where(before, sibling, 0).amax(-1)
    nearest_after = torch.where(after, sibling, tokens).amin(-1)
    return torch.where(nearest_after < tokens, nearest_after, nearest_before)
