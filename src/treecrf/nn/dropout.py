"""Dropout as in Dozat and Manning (2017): masks shared across a sentence, whole inputs dropped."""

import torch
from torch import Tensor, nn


def random_mask(like: Tensor, shape: tuple[int, ...], *, rate: float) -> Tensor:
    """Inverted-dropout mask with the dtype and device of `like`."""
    return like.new_empty(shape).bernoulli_(1 - rate).div_(1 - rate)


class SharedDropout(nn.Module):
    """Dropout of the same features in every token of a sentence."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, tokens: Tensor, sentence: Tensor, sentences: int) -> Tensor:
        """Drop from tokens `[token, feature]`; `sentence [token]` is that of each."""
        mask = self.masks(tokens, sentence, (sentences, tokens.shape[1]))
        return tokens if mask is None else tokens * mask

    def masks(self, tokens: Tensor, sentence: Tensor, shape: tuple[int, ...]) -> Tensor | None:
        """Masks `[..., token, feature]` of `shape [..., sentence, feature]`; None drops nothing."""
        if not self.training or self.rate == 0:
            return None
        return random_mask(tokens, shape, rate=self.rate).index_select(-2, sentence)


class InputDropout(nn.Module):
    """Dropout of whole inputs of a token, such as its word; the rest is scaled up."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, inputs: list[Tensor]) -> Tensor:
        """Concatenate inputs, each `[token, feature]`, to `[token, features]`."""
        if not self.training or self.rate == 0:
            return torch.cat(inputs, 1)
        keep = inputs[0].new_empty(len(inputs), inputs[0].shape[0], 1).bernoulli_(1 - self.rate)
        keep /= keep.mean(0).clamp_(min=1 / len(inputs))
        return torch.cat([values * mask for values, mask in zip(inputs, keep, strict=True)], 1)
