"""Dropout as in Dozat and Manning (2017): masks shared across a sentence, whole inputs dropped."""

import torch
from torch import Tensor, nn

__all__ = ["InputDropout", "SharedDropout"]


class SharedDropout(nn.Module):
    """Drops the same features in every token of a sentence."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, tokens: Tensor, sentence: Tensor, sentences: int) -> Tensor:
        """Tokens `[token, feature]`, the sentence of each `[token]`, the number of sentences."""
        if not self.training or self.rate == 0:
            return tokens
        keep = 1 - self.rate
        mask = tokens.new_empty(sentences, tokens.shape[1]).bernoulli_(keep).div_(keep)
        return tokens * mask[sentence]


class InputDropout(nn.Module):
    """Drops whole inputs of a token, such as its word, and scales up those that are left."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, inputs: list[Tensor]) -> Tensor:
        """Inputs, each `[token, feature]`, side by side `[token, features]`."""
        if not self.training or self.rate == 0:
            return torch.cat(inputs, 1)
        keep = inputs[0].new_empty(len(inputs), inputs[0].shape[0], 1).bernoulli_(1 - self.rate)
        keep = keep * (len(inputs) / keep.sum(0).clamp(min=1))
        return torch.cat([values * mask for values, mask in zip(inputs, keep, strict=True)], 1)
