"""Parts of trees beyond single arcs: which of them trees may use, and the scores of given trees."""

from typing import Literal

import torch
from torch import Tensor

Kind = Literal["sibling", "grandparent"]


def usable_parts(kind: Kind, arc_scores: Tensor, *, multiroot: bool) -> Tensor:
    """Cells `[batch, dependent, head, other]` that some tree could use, by masked arc scores."""
    if kind == "sibling":
        return usable_siblings(arc_scores, multiroot=multiroot)
    return usable_grandparents(arc_scores)


def part_scores(
    kind: Kind, scores: Tensor, heads: Tensor, *, counted: Tensor, multiroot: bool
) -> Tensor:
    """Scores `[batch, k, dependent]` of the parts of trees `heads [batch, k, N]`, 0 for none.

    Only dependents that are `counted` have a part.
    """
    if kind == "sibling":
        others = adjacent_siblings(heads)  # 0 for none
        counted = counted & (others > 0)
        if not multiroot:
            counted = counted & (heads > 0)
    else:
        others = heads.gather(-1, heads)  # 0 also where the head is the root symbol
        counted = counted & (heads > 0)
    tokens = heads.shape[2]
    dependent = torch.arange(tokens, device=heads.device)
    # By one number a cell: the gradient of that is scattered, without sorting.
    cell = (dependent * tokens + heads) * tokens + others
    chosen = scores.flatten(1).gather(1, cell.flatten(1)).view(cell.shape)
    return torch.where(counted, chosen, 0)


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
