"""Entropies of the trees of sentences, of those that are not too long for it."""

import math

import torch
from torch import Tensor

from treecrf.parser.config import Config
from treecrf.parser.network.loss import distribution

__all__ = ["LONGEST_ENTROPY", "tree_entropies"]

# Entropies of the second order take the marginals of all siblings in double precision; those of a
# longer sentence take longer than the rest of parsing it.
LONGEST_ENTROPY = 150


def tree_entropies(
    arc_scores: Tensor,
    siblings: Tensor | None,
    lengths: Tensor,
    *,
    config: Config,
    allowed: Tensor | None,
) -> Tensor:
    """Entropies `[batch]`, NaN of sentences too long for them, whatever they are batched with."""
    short = (lengths <= LONGEST_ENTROPY) if siblings is not None else lengths >= 0
    entropies = torch.full(lengths.shape, math.nan, dtype=torch.float64, device=lengths.device)
    if bool(short.any()):
        tokens = slice(int(lengths[short].max()) + 1)
        crf = distribution(
            arc_scores[short, tokens, tokens],
            None if siblings is None else siblings[short, tokens, tokens, tokens],
            lengths[short],
            config=config,
            allowed=None if allowed is None else allowed[short, tokens, tokens],
        )
        entropies[short] = crf.entropy.double()
    return entropies
