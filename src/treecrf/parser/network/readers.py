"""Encoders of sentences: a BiLSTM over words and characters, or a pretrained transformer."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from treecrf.nn.bilstm import BiLSTM
from treecrf.nn.dropout import InputDropout, SharedDropout
from treecrf.nn.embedding import CharLSTM, WordEmbedding
from treecrf.nn.layer_mix import LayerMix, mean_by_token
from treecrf.nn.transformer.bert import BertEncoder
from treecrf.parser.batching.batch import Batch, PieceInputs
from treecrf.parser.batching.spelling import SPELLINGS
from treecrf.parser.config import Config
from treecrf.parser.network.pretrained import Pretrained

__all__ = ["PieceReader", "WordReader"]

_NO_TABLE = np.zeros((0, 0), np.float32)
_NO_FEATURES = np.zeros((0, 0), np.int64)


class WordReader(nn.Module):
    """Vectors of words, characters and tags, and a BiLSTM over them."""

    def __init__(self, config: Config, sizes: dict[str, int], *, vectors: Tensor | None) -> None:
        super().__init__()
        self.words = WordEmbedding(
            sizes["words"], config.word_size, vectors=vectors, project=config.project_vectors
        )
        self.characters = None
        if config.char_size:
            self.characters = CharLSTM(
                sizes["characters"], config.char_embedding_size, config.char_size
            )
        inputs = config.word_size + config.char_size
        self.tags = None
        if config.tags != "none":
            self.tags = nn.Embedding(sizes["tags"], config.tag_size)
            inputs += config.tag_size
        self.input_dropout = InputDropout(config.embedding_dropout)
        self.bilstm = _bilstm(inputs, config, input_dropout=config.lstm_input_dropout)
        self.size = 2 * config.lstm_size

    def forward(self, batch: Batch) -> Tensor:
        """Encode the tokens of a batch, `[token, feature]`."""
        read = batch.words
        assert read is not None
        inputs = [self.words(read.words, read.vectors)]
        if self.characters is not None:
            forms = self.characters(read.characters, read.character_sizes)
            inputs.append(forms.index_select(0, read.forms))
        if self.tags is not None:
            inputs.append(self.tags(batch.tags))
        return self.bilstm(self.input_dropout(inputs), batch.batch_sizes, batch.sentence)


class PieceReader(nn.Module):
    """A transformer over the pieces of words, whose states are mixed and pooled to words."""

    def __init__(self, config: Config, sizes: dict[str, int], *, pretrained: Pretrained) -> None:
        super().__init__()
        self.transformer = pretrained.make(dropout=config.transformer_dropout)
        self.mix = LayerMix(config.mix_layers)
        self.size = pretrained.size
        self.tags = None
        if config.tags != "none":
            self.tags = nn.Embedding(sizes["tags"], config.tag_size)
            self.size += config.tag_size
        self.spellings = None
        if config.reads_spelling:
            self.spellings = nn.Embedding(SPELLINGS, config.spelling_size)
            nn.init.zeros_(self.spellings.weight)
            self.size += config.spelling_size
        self.dropout = SharedDropout(config.encoder_dropout)
        self._mix: tuple[npt.NDArray[np.float32], float] | None = None  # shares and scale
        self.bilstm = None
        if config.lstm_layers:
            self.bilstm = _bilstm(self.size, config, input_dropout=0.0)  # `dropout` was there
            self.size = 2 * config.lstm_size

    def forward(self, batch: Batch) -> Tensor:
        """Encode the tokens of a batch, `[token, feature]`."""
        read = batch.pieces
        assert read is not None
        if self._is_compiled():
            return self._read_compiled(batch, read)
        tokens = mean_by_token(self._states(read), read.token, len(batch.sentence))
        if self.tags is not None:
            tokens = torch.cat((tokens, self.tags(batch.tags)), 1)
        if self.spellings is not None:
            tokens = torch.cat((tokens, self.spellings(batch.spellings).sum(1)), 1)
        tokens = self.dropout(tokens, batch.sentence, batch.grid[0])
        if self.bilstm is None:
            return tokens
        return self.bilstm(tokens, batch.batch_sizes, batch.sentence)

    def _is_compiled(self) -> bool:
        """Whether compiled code reads on one thread, from pieces to tokens."""
        return (
            isinstance(self.transformer, BertEncoder)
            and self.transformer.stack is not None
            and self.tags is None
            and self.bilstm is None
            and torch.get_num_threads() == 1
        )

    def _read_compiled(self, batch: Batch, read: PieceInputs) -> Tensor:
        """Encode the tokens of a batch, `[token, feature]`; no gradient."""
        from treecrf.nn.pooling_kernel import pool_tokens

        assert isinstance(self.transformer, BertEncoder)
        if self._mix is None:  # these weights do not change any more
            of_states = self.mix.shares(1 + len(self.transformer.layers))
            self._mix = of_states.numpy(), self.mix.scale.item()
        shares, scale = self._mix
        states = self.transformer.read_mixed(read.windows, read.lengths, shares=shares)
        states *= scale
        rows, width = read.cells.numpy(), read.windows.shape[1]
        if len(read.lengths) > 1:  # states have no padding
            sizes = read.lengths.numpy()
            window, place = np.divmod(rows, width)
            rows = (np.cumsum(sizes) - sizes).take(window) + place
        table, spellings = _NO_TABLE, _NO_FEATURES
        if self.spellings is not None and batch.spellings is not None:
            table, spellings = self.spellings.weight.detach().numpy(), batch.spellings.numpy()
        tokens = np.empty((len(batch.sentence), self.size), np.float32)
        pool_tokens(states, rows, read.token.numpy(), table, spellings, tokens)
        return torch.from_numpy(tokens)

    def _states(self, read: PieceInputs) -> Tensor:
        """The mixed states of the pieces of words, `[state, feature]`."""
        on_gpu = read.windows.is_cuda
        if isinstance(self.transformer, BertEncoder) and not (self.training or on_gpu):
            states, packed = self.transformer.read_packed(read.windows, read.lengths)
            return self.mix(states).index_select(0, packed.flatten().index_select(0, read.cells))
        with torch.autocast(read.windows.device.type, torch.bfloat16, enabled=on_gpu):
            mixed = self.mix(self.transformer(read.windows, read.lengths))
        return mixed.float().flatten(0, 1).index_select(0, read.cells)


def _bilstm(inputs: int, config: Config, *, input_dropout: float) -> BiLSTM:
    return BiLSTM(
        inputs,
        config.lstm_size,
        layers=config.lstm_layers,
        dropout=config.encoder_dropout,
        recurrent_dropout=config.recurrent_dropout,
        mask_sentences=config.recurrent_dropout_mask == "sentence",
        input_dropout=input_dropout,
    )
