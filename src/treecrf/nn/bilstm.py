"""A BiLSTM over packed sentences, with dropout that costs no loop over time steps."""

import warnings

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from treecrf.nn.dropout import SharedDropout

__all__ = ["BiLSTM", "initialise_lstm"]


class BiLSTM(nn.Module):
    """Layers of a bidirectional LSTM; tokens are packed: the first of every sentence come first."""

    def __init__(
        self, inputs: int, size: int, *, layers: int, dropout: float, recurrent_dropout: float
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.LSTM(2 * size if layer else inputs, size, bidirectional=True)
            for layer in range(layers)
        )
        self.between = SharedDropout(dropout)
        self.recurrent_dropout = recurrent_dropout
        for layer in self.layers:
            initialise_lstm(layer)

    def forward(self, tokens: Tensor, batch_sizes: Tensor, sentence: Tensor) -> Tensor:
        """Tokens `[token, feature]`, sentences alive at each step, the sentence of each token."""
        sentences = int(batch_sizes[0])
        for number, layer in enumerate(self.layers):
            if number:
                tokens = self.between(tokens, sentence, sentences)
            tokens = self._run(layer, PackedSequence(tokens, batch_sizes))
        return self.between(tokens, sentence, sentences)

    def _run(self, layer: nn.Module, packed: PackedSequence) -> Tensor:
        if not self.training or self.recurrent_dropout == 0:
            output: Tensor = layer(packed)[0].data
            return output
        # One mask of the state for the whole batch is the same as columns of the recurrent weights
        # set to zero, so a layer stays one call of the library.
        weights: dict[str, Tensor] = dict(layer.named_parameters())
        keep = 1 - self.recurrent_dropout
        for name, weight in weights.items():
            if name.startswith("weight_hh"):
                weights[name] = weight * weight.new_empty(weight.shape[1]).bernoulli_(keep).div_(
                    keep
                )
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "RNN module weights are not part of single contiguous"
            )
            output = torch.func.functional_call(layer, weights, (packed,))[0].data
        return output


def initialise_lstm(layer: nn.Module) -> None:
    """Orthogonal weights and biases of zero, as in Dozat and Manning."""
    for name, parameter in layer.named_parameters():
        if name.startswith("weight"):
            nn.init.orthogonal_(parameter)
        else:
            nn.init.zeros_(parameter)
