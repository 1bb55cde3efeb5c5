"""Masking and shifting of arc scores: -inf where no tree may go, and each word's best head at 0.

A word has exactly one head, so subtracting its best score from all its arcs subtracts the same
number from every tree, and differences of large scores keep their digits.
"""

import torch
from torch import Tensor


def mask_and_shift(
    arc_scores: Tensor, lengths: Tensor, *, allowed: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Masked and shifted scores, and what was subtracted from them."""
    usable = usable_arcs(lengths, arc_scores.shape[1])
    if allowed is not None:
        usable = usable & allowed
    precise = arc_scores if arc_scores.dtype == torch.float64 else arc_scores.float()
    arcs = torch.where(usable, precise, float("-inf"))
    best = arcs.detach().amax(-1)  # the maximum of NaN and anything is NaN
    best = best.nan_to_num(nan=float("nan"), posinf=float("nan"), neginf=0.0)
    fits = lengths.clamp(0, arc_scores.shape[1] - 1) == lengths
    best = torch.where(fits[:, None], best, float("nan"))
    return arcs - best.unsqueeze(-1), best


def usable_arcs(lengths: Tensor, tokens: int) -> Tensor:
    """Arcs `[batch, dependent, head]` that some tree could use."""
    token = torch.arange(tokens, device=lengths.device)
    in_sentence = token <= lengths[:, None]
    arcs = (token[:, None] > 0) & (token[:, None] != token)  # [dependent, head]
    return in_sentence[:, :, None] & in_sentence[:, None] & arcs
