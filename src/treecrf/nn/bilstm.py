"""BiLSTM over packed sentences; its recurrent dropout needs no loop over steps on a GPU."""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from treecrf.nn.dropout import SharedDropout, random_mask
from treecrf.nn.lstm.fused import PackedSteps, can_fuse, fused_lstm, packed_steps
from treecrf.nn.lstm.stepwise import stepwise_lstm
from treecrf.threads import run_sized


class BiLSTM(nn.Module):
    """Bidirectional LSTM over packed tokens: the first token of every sentence comes first.

    Args:
        inputs: Features of a token.
        size: Units of a layer, each direction.
        layers: Number of layers.
        dropout: Rate for the outputs of a layer; one mask a sentence.
        recurrent_dropout: Rate for the state that a step reads.
        mask_sentences: One recurrent mask a sentence instead of one for the whole batch.
        input_dropout: Rate for the inputs of the first layer; one mask a sentence.
    """

    def __init__(
        self,
        inputs: int,
        size: int,
        *,
        layers: int,
        dropout: float,
        recurrent_dropout: float,
        mask_sentences: bool = False,
        input_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.LSTM(2 * size if layer else inputs, size, bidirectional=True)
            for layer in range(layers)
        )
        self.size = size
        self.before = SharedDropout(input_dropout)
        self.between = SharedDropout(dropout)
        self.recurrent_dropout = recurrent_dropout
        self.mask_sentences = mask_sentences
        for layer in self.layers:
            initialise_lstm(layer)

    def forward(self, tokens: Tensor, batch_sizes: Tensor, sentence: Tensor) -> Tensor:
        """Outputs `[token, 2 * size]` of tokens `[token, feature]`.

        `batch_sizes` are the sentences alive at each step, `sentence` that of each token.
        """
        read = partial(self._read, tokens, batch_sizes, sentence)
        if tokens.is_cuda or torch.is_grad_enabled():
            return read()
        step = 4 * self.size**2 * len(tokens) / len(batch_sizes)
        return run_sized(read, multiply_adds=step)

    def _read(self, tokens: Tensor, batch_sizes: Tensor, sentence: Tensor) -> Tensor:
        sentences = int(batch_sizes[0])
        tokens = self.before(tokens, sentence, sentences)
        # One draw for the masks of all layers: fewer launches on a GPU.
        kept = self.between.masks(tokens, sentence, (len(self.layers), sentences, 2 * self.size))
        masks = self._state_masks(tokens, sentences)
        if can_fuse(tokens, self.size):
            read = partial(_read_fused, steps=packed_steps(batch_sizes, tokens.device))
        else:
            read = partial(_read_unfused, batch_sizes=batch_sizes)
        for number, layer in enumerate(self.layers):
            tokens = read(layer, tokens, None if masks is None else masks[number])
            if kept is not None:
                tokens = tokens * kept[number]
        return tokens

    def _state_masks(self, like: Tensor, sentences: int) -> Tensor | None:
        """`[layer, direction, unit]`, or `[layer, direction, sentence, unit]`; None drops none."""
        if not self.training or self.recurrent_dropout == 0:
            return None
        rows = (sentences,) if self.mask_sentences else ()
        shape = (len(self.layers), 2, *rows, self.size)
        return random_mask(like, shape, rate=self.recurrent_dropout)


def _read_fused(
    layer: nn.Module, tokens: Tensor, masks: Tensor | None, *, steps: PackedSteps
) -> Tensor:
    weights = lstm_weights(layer)
    if masks is None or masks.dim() == 3:
        return fused_lstm(tokens, steps, weights, state_masks=masks)
    # One mask for the whole batch masks columns of the recurrent weights: no step need be masked.
    weights[1], weights[5] = weights[1] * masks[0], weights[5] * masks[1]
    return fused_lstm(tokens, steps, weights)


def _read_unfused(
    layer: nn.Module, tokens: Tensor, masks: Tensor | None, *, batch_sizes: Tensor
) -> Tensor:
    if masks is None:
        return layer(PackedSequence(tokens, batch_sizes))[0].data
    if masks.dim() == 3:
        return stepwise_lstm(tokens, batch_sizes, lstm_weights(layer), state_masks=masks)
    start = tokens.new_zeros(2, int(batch_sizes[0]), masks.shape[1])
    return torch.lstm(
        tokens,
        batch_sizes,
        (start, start),
        _MaskedWeights.apply(masks, *lstm_weights(layer)),
        has_biases=True,
        num_layers=1,
        dropout=0.0,
        train=True,
        bidirectional=True,
    )[0]


def lstm_weights(layer: nn.Module) -> list[Tensor]:
    """Weights of each direction: of the input, of the state, and the biases of both."""
    assert isinstance(layer, nn.LSTM)
    return [weights for direction in layer.all_weights for weights in direction]


class _MaskedWeights(torch.autograd.Function):
    """Weights with masked recurrent columns, in one piece, matrices before biases, as in cuDNN.

    Otherwise cuDNN would copy them one by one.
    """

    PLACES = (0, 1, 4, 5, 2, 3, 6, 7)

    @staticmethod
    def forward(ctx, masks, *weights):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(masks)
        sizes = [weights[place].numel() for place in _MaskedWeights.PLACES]
        joined = torch.cat([weights[place].flatten() for place in _MaskedWeights.PLACES])
        by_direction = joined[: sum(sizes[:4])].view(2, -1)
        recurrent = by_direction[:, sizes[0] :].view(2, *weights[1].shape)
        recurrent.mul_(masks.unsqueeze(1))
        pieces = joined.split(sizes)
        # The order is its own inverse.
        return tuple(
            pieces[place].view_as(original)
            for original, place in zip(weights, _MaskedWeights.PLACES, strict=True)
        )

    @staticmethod
    def backward(ctx, *gradients):  # type: ignore[no-untyped-def]
        (masks,) = ctx.saved_tensors
        forwards, backwards = gradients[:4], gradients[4:]
        return None, *(
            gradient * mask if place == 1 else gradient
            for direction, mask in zip((forwards, backwards), masks, strict=True)
            for place, gradient in enumerate(direction)
        )


def initialise_lstm(layer: nn.Module) -> None:
    """Orthogonal weights and biases of zero, as in Dozat and Manning."""
    for name, parameter in layer.named_parameters():
        if name.startswith("weight"):
            nn.init.orthogonal_(parameter)
        else:
            nn.init.zeros_(parameter)
