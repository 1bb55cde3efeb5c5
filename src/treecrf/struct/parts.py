"""Parts of trees beyond single arcs: which of them trees may use, and the scores of given trees."""

from typing import Literal

import torch
from torch import Tensor

from treecrf.ops.grandparent.parts import grandparents_of, usable_grandparents
from treecrf.ops.projective.siblings import adjacent_siblings, usable_siblings

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
        others = grandparents_of(heads)
        counted = counted & (heads > 0)
    tokens = heads.shape[2]
    dependent = torch.arange(tokens, device=heads.device)
    # By one number a cell: the gradient of that is scattered, without sorting.
    cell = (dependent * tokens + heads) * tokens + others
    chosen = scores.flatten(1).gather(1, cell.flatten(1)).view(cell.shape)
    return torch.where(counted, chosen, 0)
