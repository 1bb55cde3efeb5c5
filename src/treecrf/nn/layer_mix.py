"""Vectors of tokens from the states of a transformer: mix of layers, mean over pieces."""

import torch
from torch import Tensor, nn


class LayerMix(nn.Module):
    """Learnt weighted mean of the last layers, scaled by a learnt factor."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, states: list[Tensor]) -> Tensor:
        """Mix the last of these states, which all have the same shape."""
        last = states[-len(self.weights) :]
        shares = self.shares(len(last))
        mixed = sum(share * state for share, state in zip(shares, last, strict=True))
        return self.scale * mixed

    def shares(self, states: int) -> Tensor:
        """Weights of the last states; there may be fewer states than weights."""
        return self.weights[-states:].softmax(0)


def mean_by_token(pieces: Tensor, token: Tensor, tokens: int) -> Tensor:
    """Mean `[token, feature]` over the pieces `[piece, feature]` of each token."""
    total = pieces.new_zeros(tokens, pieces.shape[1]).index_add(0, token, pieces)
    if len(token) == tokens:  # each token has one piece or more, so each has one
        return total
    counts = pieces.new_zeros(tokens).index_add(0, token, pieces.new_ones(len(token)))
    return total / counts.unsqueeze(1)
