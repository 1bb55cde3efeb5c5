"""Transformer encoder with the architecture and the pretrained weights of BERT."""

import reprlib
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from treecrf.nn.int8.stack import ByteStack
from treecrf.nn.int8.transformer import ByteLayer

__all__ = ["MOST_LAYERS", "BertEncoder", "BertShape", "bert_weights"]

MOST_LAYERS = 1000
"""Limit for `config.json`: making more layers would take for ever."""

# Without cuDNN's, which plans anew for one shape after another, some milliseconds each.
_ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


@dataclass(frozen=True, kw_only=True, slots=True)
class BertShape:
    """Sizes of the weights."""

    vocabulary: int
    size: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    epsilon: float = 1e-12

    @classmethod
    def from_transformers(cls, config: Mapping[str, Any]) -> "BertShape":
        """Read the sizes from a `config.json` of Hugging Face; ValueError names a wrong one."""

        def number(name: str, most: int = 1 << 40, *, least: int = 1) -> int:
            value = config.get(name)
            if type(value) is not int or not least <= value <= most:
                raise ValueError(
                    f"{name} is {reprlib.repr(value)}, not a number from {least} to {most:,}"
                )
            return value

        epsilon = config.get("layer_norm_eps", 1e-12)
        if not isinstance(epsilon, float) or not 0 < epsilon < 1:
            raise ValueError(f"layer_norm_eps is {reprlib.repr(epsilon)}, not a small number")
        size, heads = number("hidden_size"), number("num_attention_heads")
        if size % heads:
            raise ValueError(f"hidden_size is {size}, which is not for {heads} heads of one size")
        return cls(
            vocabulary=number("vocab_size"),
            size=size,
            layers=number("num_hidden_layers", MOST_LAYERS, least=0),
            heads=heads,
            feed_forward=number("intermediate_size"),
            positions=number("max_position_embeddings"),
            epsilon=epsilon,
        )


class BertEncoder(nn.Module):
    """Self-attention layers over wordpieces."""

    def __init__(
        self, shape: BertShape, *, dropout: float, attention_dropout: float | None = None
    ) -> None:
        """`attention_dropout` is the rate for attention weights; by default, `dropout`."""
        super().__init__()
        if attention_dropout is None:
            attention_dropout = dropout
        self.pieces = nn.Embedding(shape.vocabulary, shape.size)
        self.positions = nn.Embedding(shape.positions, shape.size)
        self.norm = nn.LayerNorm(shape.size, shape.epsilon)
        self.layers = nn.ModuleList(
            BertLayer(shape, dropout=dropout, attention_dropout=attention_dropout)
            for _ in range(shape.layers)
        )
        self.dropout = nn.Dropout(dropout)
        self.stack: ByteStack | None = None

    def use_bytes(self) -> None:
        """Multiply int8 from now on in `read_packed` and `read_mixed`, on the CPU."""
        rounded = []
        for layer in self.layers:
            assert isinstance(layer, BertLayer)
            rounded.append(layer.use_bytes())
        if rounded:
            self.stack = ByteStack(rounded)

    def forward(self, pieces: Tensor, lengths: Tensor) -> list[Tensor]:
        """States `[window, piece, feature]` before the first layer and after each one.

        `pieces [window, piece]` are padded; `lengths [window]` are their numbers.
        """
        place = torch.arange(pieces.shape[1], device=pieces.device)
        states = [self.dropout(self.norm(self.pieces(pieces) + self.positions(place)))]
        seen = (place < lengths[:, None])[:, None, None]  # [window, 1, 1, piece]
        with sdpa_kernel(_ATTENTION) if pieces.is_cuda else nullcontext():
            for layer in self.layers:
                states.append(layer(states[-1], seen))
        return states

    def read_packed(self, pieces: Tensor, lengths: Tensor) -> tuple[list[Tensor], Tensor]:
        """States `[piece, feature]` without padding, and the row of each `[window, piece]` in them.

        Computing padding would take most of the time on a CPU.
        """
        if len(pieces) == 1:  # a single window has no padding
            place = torch.arange(pieces.shape[1], device=pieces.device)
            rows, packed = pieces[0], place[None]
        else:
            lengths, order = lengths.sort(descending=True, stable=True)
            window = order.repeat_interleave(lengths)
            number = torch.arange(len(window), device=pieces.device)
            place = number - (lengths.cumsum(0) - lengths).repeat_interleave(lengths)
            packed = torch.zeros_like(pieces)
            packed[window, place] = number
            rows = pieces[window, place]
        states = [self.norm(self.pieces(rows) + self.positions(place))]
        sizes = lengths.numpy()
        for layer in self.layers:
            assert isinstance(layer, BertLayer)
            states.append(layer.read_packed(states[-1], sizes))
        return states, packed

    def read_mixed(
        self, pieces: Tensor, lengths: Tensor, *, shares: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Sum `[piece, feature]` of the last states, each times its share, in one compiled call.

        There is no padding: the pieces of a window come after those of the one before.
        """
        assert self.stack is not None
        sizes = lengths.numpy()
        place = np.arange(pieces.shape[1])
        if len(sizes) == 1:
            rows = pieces[0]
        else:
            inside = place < sizes[:, None]
            rows = torch.from_numpy(pieces.numpy()[inside])
            place = np.broadcast_to(place, inside.shape)[inside]
        states = functional.embedding(rows, self.pieces.weight)
        states += functional.embedding(torch.from_numpy(place), self.positions.weight)
        return self.stack(self.norm(states), sizes, shares=shares)


class BertLayer(nn.Module):
    """Attention, then a feed-forward network, each with a residual connection and a norm."""

    def __init__(self, shape: BertShape, *, dropout: float, attention_dropout: float) -> None:
        super().__init__()
        self.heads = shape.heads
        self.attention_dropout = attention_dropout
        self.queries_keys_values = nn.Linear(shape.size, 3 * shape.size)
        self.attended = nn.Linear(shape.size, shape.size)
        self.attention_norm = nn.LayerNorm(shape.size, shape.epsilon)
        self.expand = nn.Linear(shape.size, shape.feed_forward)
        self.contract = nn.Linear(shape.feed_forward, shape.size)
        self.norm = nn.LayerNorm(shape.size, shape.epsilon)
        self.dropout = nn.Dropout(dropout)
        self.rounded: ByteLayer | None = None

    def use_bytes(self) -> ByteLayer:
        """Multiply int8 from now on in `read_packed`, on the CPU."""
        linears = self.queries_keys_values, self.attended, self.expand, self.contract
        self.rounded = ByteLayer(self.heads, linears, (self.attention_norm, self.norm))
        return self.rounded

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        """New states `[window, piece, feature]`; `seen` masks padding."""
        windows, pieces, size = states.shape
        projected = self.queries_keys_values(states).view(windows, pieces, 3, self.heads, -1)
        query, key, value = projected.permute(2, 0, 3, 1, 4)  # each [window, head, piece, feature]
        rate = self.attention_dropout if self.training else 0.0
        attended = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=seen, dropout_p=rate
        )
        return self._after(states, attended.transpose(1, 2).reshape(windows, pieces, size))

    def read_packed(self, states: Tensor, lengths: npt.NDArray[np.int64]) -> Tensor:
        """New states `[piece, feature]` of windows one after the other, longest first.

        `lengths [window]` are their pieces.
        """
        if self.rounded is not None:
            return self.rounded(states, lengths)
        projected = self.queries_keys_values(states)
        alike, counts = np.unique(-lengths, return_counts=True)
        groups = list(zip((-alike).tolist(), counts.tolist(), strict=True))
        parts = projected.split([length * count for length, count in groups])
        attended = [self._attend(part, *group) for part, group in zip(parts, groups, strict=True)]
        return self._after(states, torch.cat(attended))

    def _attend(self, projected: Tensor, length: int, count: int) -> Tensor:
        """Outputs of attention, `[piece, feature]`, in `count` windows of one length."""
        parts = projected.view(count, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind()
        # All windows of a group have the same length: no mask.
        found = functional.scaled_dot_product_attention(query, key, value)
        return found.transpose(1, 2).reshape(count * length, -1)

    def _after(self, states: Tensor, attended: Tensor) -> Tensor:
        """Rest of the layer after attention."""
        states = self.attention_norm(states + self._dropped(self.attended(attended)))
        expanded = functional.gelu(self.expand(states))
        normed: Tensor = self.norm(states + self._dropped(self.contract(expanded)))
        return normed

    def _dropped(self, states: Tensor) -> Tensor:
        """Dropout, skipped outside training, where it would take time for nothing."""
        return self.dropout(states) if self.training else states


def bert_weights(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename the weights of a BERT to those of `BertEncoder`."""
    weights = {name.removeprefix("bert."): tensor for name, tensor in weights.items()}
    kind = weights["embeddings.token_type_embeddings.weight"][0].float()
    renamed = {
        "pieces.weight": weights["embeddings.word_embeddings.weight"],
        # Every text has token type 0, so its vector is added to every position.
        "positions.weight": weights["embeddings.position_embeddings.weight"].float() + kind,
        "norm.weight": weights["embeddings.LayerNorm.weight"],
        "norm.bias": weights["embeddings.LayerNorm.bias"],
    }
    number = 0
    while f"encoder.layer.{number}.attention.self.query.weight" in weights:
        old, new = f"encoder.layer.{number}", f"layers.{number}"
        for end in ("weight", "bias"):
            renamed[f"{new}.queries_keys_values.{end}"] = torch.cat(
                [weights[f"{old}.attention.self.{part}.{end}"] for part in _PARTS]
            )
            for ours, theirs in _NAMES.items():
                renamed[f"{new}.{ours}.{end}"] = weights[f"{old}.{theirs}.{end}"]
        number += 1
    return renamed


_PARTS = ("query", "key", "value")
_NAMES = {
    "attended": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "expand": "intermediate.dense",
    "contract": "output.dense",
    "norm": "output.LayerNorm",
}
