"""Arc scores as the kernels want them: -inf where no tree may go, and each word's best head at 0.

A word has exactly one head, so taking its best score from all its arcs takes the same number from
every tree, and differences of large scores keep their digits.
"""

import functools

import torch
from torch import Tensor

from treecrf.ops.backend import backend_for


def masked_and_shifted(
    arc_scores: Tensor, lengths: Tensor, allowed: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The scores `[batch, dependent, head]` and what was taken from them, `[batch, dependent]`.

    In float32, or float64 when they came so. What was taken has no gradient; it is 0 where there is
    nothing to take, and not finite where the scores that count, or the length, make no sense.
    """
    if backend_for(arc_scores.device) == "triton":
        from treecrf.ops import masking_cuda

        return masking_cuda.masked_and_shifted(arc_scores, lengths, allowed)
    usable = usable_arcs(lengths, arc_scores.shape[1])
    if allowed is not None:
        usable = usable & allowed
    precise = arc_scores if arc_scores.dtype == torch.float64 else arc_scores.float()
    arcs = torch.where(usable, precise, float("-inf"))
    best = arcs.detach().amax(-1)  # the maximum of NaN and anything is NaN
    best = best.nan_to_num(nan=float("nan"), posinf=float("inf"), neginf=0.0)
    fits = lengths.clamp(0, arc_scores.shape[1] - 1) == lengths
    best = torch.where(fits[:, None], best, float("nan"))
    return arcs - best.unsqueeze(-1), best


def usable_arcs(lengths: Tensor, tokens: int) -> Tensor:
    """The arcs `[batch, dependent, head]` that some tree could use."""
    in_sentence = torch.arange(tokens, device=lengths.device) <= lengths[:, None]
    return in_sentence[:, :, None] & in_sentence[:, None] & _between_tokens(tokens, lengths.device)


@functools.lru_cache(maxsize=64)
def _between_tokens(tokens: int, device: torch.device) -> Tensor:
    """The cells `[dependent, head]` that are arcs: not into the root symbol, not to itself."""
    with torch.inference_mode(False):  # it is kept, and may be wanted where a graph is built
        arcs = ~torch.eye(tokens, dtype=torch.bool, device=device)
        arcs[0] = False
        return arcs
