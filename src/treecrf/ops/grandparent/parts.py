"""Grandparents: those that some tree may have, and those of given trees."""

import torch
from torch import Tensor


def usable_grandparents(arc_scores: Tensor) -> Tensor:
    """Cells `[batch, dependent, head, grandparent]` that some tree could use, by masked arc scores.

    Both arcs are allowed, and the grandparent lies outside of the span from head to dependent: an
    arc from within would cross the other. The root symbol has no head, so as a head it has no
    cells.
    """
    token = torch.arange(arc_scores.shape[1], device=arc_scores.device)
    dependent, head, grandparent = token[:, None, None], token[:, None], token
    left, right = torch.minimum(dependent, head), torch.maximum(dependent, head)
    outside = (grandparent < left) | (grandparent > right)
    possible = arc_scores > float("-inf")  # [batch, dependent, head]
    # possible[:, None] is [batch, 1, head, grandparent]; no arc leads to the root symbol
    return outside & possible[:, :, :, None] & possible[:, None]


def grandparents_of(heads: Tensor) -> Tensor:
    """Head of the head of each token of `heads [..., N]`; 0 also where the head is the root."""
    return heads.gather(-1, heads)
