"""Vectors of words: trained, projected from pretrained ones, or from characters."""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from treecrf.nn.bilstm import initialise_lstm, lstm_weights
from treecrf.nn.lstm.fused import can_fuse, fused_lstm, last_states, packed_steps
from treecrf.threads import run_sized


def _rows(table: nn.Embedding, numbers: Tensor) -> Tensor:
    """Rows of the table; `index_select` where it is faster: its gradient sorts nothing on a GPU."""
    if table.weight.is_cuda:
        return table.weight.index_select(0, numbers)
    return table(numbers)


class WordEmbedding(nn.Module):
    """Trained vector of each frequent word, plus a projection of its fixed pretrained one.

    Without `project`, pretrained vectors of the same size are added as they are.
    """

    def __init__(
        self, words: int, size: int, *, vectors: Tensor | None = None, project: bool = True
    ) -> None:
        super().__init__()
        self.trained = nn.Embedding(words, size)
        # Not in state_dict: they never change, and are stored once.
        self.register_buffer("vectors", vectors, persistent=False)
        self.vectors: Tensor | None
        self.projection = None
        if vectors is not None:  # the trained vector is a difference, which starts at 0
            nn.init.zeros_(self.trained.weight)
            if project or vectors.shape[1] != size:
                self.projection = nn.Linear(vectors.shape[1], size, bias=False)
                nn.init.orthogonal_(self.projection.weight)

    def forward(self, words: Tensor, pretrained: Tensor | None) -> Tensor:
        """Vectors `[token, feature]` of words; `pretrained` are rows of the pretrained vectors."""
        embedded = _rows(self.trained, words)
        if self.vectors is None or pretrained is None:
            return embedded
        rows = self.vectors[pretrained].to(embedded.dtype)
        return embedded + (rows if self.projection is None else self.projection(rows))


class CharLSTM(nn.Module):
    """Vector of a word: the last states of an LSTM over its characters in both directions."""

    def __init__(self, characters: int, embedding_size: int, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, embedding_size)
        self.lstm = nn.LSTM(embedding_size, size // 2, bidirectional=True)
        initialise_lstm(self.lstm)

    def forward(self, characters: Tensor, batch_sizes: Tensor) -> Tensor:
        """Vectors `[form, feature]` of forms, given their packed characters, the longest first."""
        embedded = _rows(self.embedding, characters)
        if can_fuse(embedded, self.lstm.hidden_size):
            steps = packed_steps(batch_sizes, embedded.device)
            return last_states(fused_lstm(embedded, steps, lstm_weights(self.lstm)), steps)
        read = partial(self._read, embedded, batch_sizes)
        if embedded.is_cuda or torch.is_grad_enabled():
            return read()
        step = 4 * self.lstm.hidden_size**2 * len(embedded) / len(batch_sizes)
        return run_sized(read, multiply_adds=step)

    def _read(self, embedded: Tensor, batch_sizes: Tensor) -> Tensor:
        last: Tensor = self.lstm(PackedSequence(embedded, batch_sizes))[1][0]
        return last.transpose(0, 1).flatten(1)  # [direction, form, feature] before
