"""The network: at each character, whether a token, a sentence and a multiword token end there."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from treecrf.nn.bilstm import initialise_lstm
from treecrf.nn.lstm.cpu import Direction, can_run_alone, pack_layer, run_alone
from treecrf.segment.characters import CharacterClass
from treecrf.segment.config import SegmenterConfig

__all__ = ["OUTPUTS", "CharacterNetwork", "NetworkEnsemble", "step_size"]

OUTPUTS = 3
# So many windows are read faster one after the other than side by side.
_FEW_WINDOWS = 2


def step_size(config: SegmenterConfig, windows: int) -> int:
    """Multiply-adds of one step of the LSTM over so many windows side by side."""
    return windows * 4 * config.lstm_size**2


class CharacterNetwork(nn.Module):
    """Vectors of characters and of their classes, a BiLSTM over them, and three scores."""

    def __init__(self, characters: int, config: SegmenterConfig) -> None:
        super().__init__()
        self.characters = nn.Embedding(characters, config.character_size)
        self.classes = nn.Embedding(len(CharacterClass), config.class_size)
        inputs = config.character_size + config.class_size
        self.layers = nn.ModuleList(
            nn.LSTM(2 * config.lstm_size if layer else inputs, config.lstm_size, bidirectional=True)
            for layer in range(config.lstm_layers)
        )
        self.packed: list[tuple[Direction, Direction]] = []  # layers, once they do not change
        # Gates of the first layer `[number, gate * unit]`, of characters and of classes.
        self.tables: list[tuple[Tensor, Tensor]] = []
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(2 * config.lstm_size, OUTPUTS)
        for layer in self.layers:
            initialise_lstm(layer)
        # Sentences and multiword tokens are rare: at first there are none.
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.output.weight.device

    def pack(self) -> None:
        """Pack the layers for single windows on a CPU; they are not trained any more."""
        if can_run_alone(self.layers, self.output.weight.detach()):
            self.packed = list(map(pack_layer, self.layers))
            characters, classes = self.characters.weight, self.classes.weight
            sizes = characters.shape[1], classes.shape[1]
            for one in self.packed[0]:
                of_characters, of_classes = one.inputs.split(sizes)
                table = torch.addmm(one.bias, characters.detach(), of_characters)
                self.tables.append((table, classes.detach() @ of_classes))

    def forward(self, characters: Tensor, classes: Tensor, *, context: int = 0) -> Tensor:
        """Log odds `[window, character, output]` from numbers, both `[window, character]`.

        Without those of `context` characters at each end of a window.
        """
        if self.packed and len(characters) <= _FEW_WINDOWS and not torch.is_grad_enabled():
            windows = zip(characters, classes, strict=True)
            vectors = torch.stack(
                [self._read_alone(*window, context=context) for window in windows], 1
            )
        else:
            # The LSTM reads `[character, window, feature]`, without a copy of it all.
            embedded = (self.characters(characters.T), self.classes(classes.T))
            vectors = self.dropout(torch.cat(embedded, 2))
            for layer in self.layers:
                vectors = self.dropout(layer(vectors)[0])
            vectors = vectors[context : len(vectors) - context]
        scores: Tensor = self.output(vectors)
        return scores.transpose(0, 1)

    def _read_alone(self, characters: Tensor, classes: Tensor, *, context: int) -> Tensor:
        """States `[character, feature]` of one window after the packed layers."""
        gates = [
            functional.embedding(characters, of_characters).add_(
                functional.embedding(classes, of_classes)
            )
            for of_characters, of_classes in self.tables
        ]
        return run_alone(self.packed, gates, context=context)

    def read_each(self, characters: list[Tensor], classes: list[Tensor]) -> list[Tensor]:
        """Log odds `[character, output]` of windows of any lengths, each as if it were alone."""
        numbers = pack_sequence(characters, enforce_sorted=False)
        kinds = pack_sequence(classes, enforce_sorted=False)
        vectors = torch.cat((self.characters(numbers.data), self.classes(kinds.data)), 1)
        packed = numbers._replace(data=self.dropout(vectors))
        for layer in self.layers:
            packed = layer(packed)[0]
            packed = packed._replace(data=self.dropout(packed.data))
        return unpack_sequence(packed._replace(data=self.output(packed.data)))


class NetworkEnsemble(nn.Module):
    """Networks of one shape, trained with different seeds; its scores are the means of theirs."""

    def __init__(self, networks: Iterable[CharacterNetwork]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    @property
    def members(self) -> list[CharacterNetwork]:
        return [network for network in self.networks if isinstance(network, CharacterNetwork)]

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.members[0].device

    def pack(self) -> None:
        """Pack the layers of each network."""
        for network in self.members:
            network.pack()

    def forward(self, characters: Tensor, classes: Tensor, *, context: int = 0) -> Tensor:
        """Log odds `[window, character, output]`; see `CharacterNetwork`."""
        scores = [network(characters, classes, context=context) for network in self.members]
        return torch.stack(scores).mean(0)

    def read_each(self, characters: list[Tensor], classes: list[Tensor]) -> list[Tensor]:
        """Log odds `[character, output]` of windows of any lengths, each as if it were alone."""
        scores = [network.read_each(characters, classes) for network in self.members]
        return [torch.stack(of_window).mean(0) for of_window in zip(*scores, strict=True)]
