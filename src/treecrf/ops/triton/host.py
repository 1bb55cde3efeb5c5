"""What the CUDA backend leaves to the host: k-best lists, draws, and spanning trees."""

import torch
from torch import Tensor

from treecrf.ops.backend import Family, host_module


def argmax(family: Family, arc_scores: Tensor, lengths: Tensor, *, multiroot: bool) -> Tensor:
    """Heads `[batch, N]` of the best tree, on the device of the scores."""
    heads: Tensor = host_module(family).argmax(arc_scores.cpu(), lengths.cpu(), multiroot=multiroot)
    return heads.to(arc_scores.device)


def topk(
    family: Family, parts: tuple[Tensor, ...], lengths: Tensor, k: int, *, multiroot: bool
) -> Tensor:
    """Heads `[batch, k, N]` of the k best trees, on the device of the scores."""
    arc_scores, *others = (part.cpu() for part in parts)
    heads: Tensor = host_module(family).topk(
        arc_scores, lengths.cpu(), k, *others, multiroot=multiroot
    )
    return heads.to(lengths.device)


def sample(
    family: Family,
    parts: tuple[Tensor, ...],
    lengths: Tensor,
    k: int,
    *,
    multiroot: bool,
    generator: torch.Generator | None,
) -> Tensor:
    """Heads `[k, batch, N]` of k draws, on the device of the scores."""
    arc_scores, *others = (part.cpu() for part in parts)
    heads: Tensor = host_module(family).sample(
        arc_scores, lengths.cpu(), k, *others, multiroot=multiroot, generator=generator
    )
    return heads.to(lengths.device)
