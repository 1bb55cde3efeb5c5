"""The network of a parser: from a batch of sentences to scores of arcs, siblings and labels."""

import torch
from torch import Tensor, nn

from treecrf.nn.affine import BiaffineArcs, BiaffineLabels, TriaffineSiblings, with_one
from treecrf.nn.bilstm import BiLSTM
from treecrf.nn.dropout import InputDropout
from treecrf.nn.embedding import CharLSTM, WordEmbedding
from treecrf.nn.mlp import Perceptrons
from treecrf.parser.batch import Batch
from treecrf.parser.config import Config

__all__ = ["Roles", "Scorer"]

Roles = dict[str, Tensor]
"""Vectors `[token, feature]` of packed tokens, one for each role in a score."""


class Scorer(nn.Module):
    """Embeds and encodes words, and scores what trees are made of."""

    def __init__(
        self, config: Config, sizes: dict[str, int], *, vectors: Tensor | None = None
    ) -> None:
        super().__init__()
        self.words = WordEmbedding(sizes["words"], config.word_size, vectors=vectors)
        self.characters = CharLSTM(
            sizes["characters"], config.char_embedding_size, config.char_size
        )
        inputs = config.word_size + config.char_size
        self.tags = None
        if config.tags != "none":
            self.tags = nn.Embedding(sizes["tags"], config.tag_size)
            inputs += config.tag_size
        self.input_dropout = InputDropout(config.embedding_dropout)
        self.encoder = BiLSTM(
            inputs,
            config.lstm_size,
            layers=config.lstm_layers,
            dropout=config.encoder_dropout,
            recurrent_dropout=config.recurrent_dropout,
        )
        roles = {
            "arc_dependent": config.arc_size,
            "arc_head": config.arc_size,
            "label_dependent": config.label_size,
            "label_head": config.label_size,
        }
        if config.loss == "crf2o":
            roles |= dict.fromkeys(
                ("pair_dependent", "pair_head", "pair_sibling"), config.sibling_size
            )
        self.roles = Perceptrons(2 * config.lstm_size, roles, dropout=config.mlp_dropout)
        self.arc_scores = BiaffineArcs(config.arc_size)
        self.label_scores = BiaffineLabels(config.label_size, sizes["relations"])
        self.sibling_scores = (
            TriaffineSiblings(config.sibling_size) if config.loss == "crf2o" else None
        )

    def forward(self, batch: Batch) -> Roles:
        """Vectors of the tokens of a batch in each role."""
        return self.roles(self.encode(batch), batch.sentence, batch.grid[0])

    def encode(self, batch: Batch) -> Tensor:
        """What the encoder makes of each token, `[token, feature]`."""
        characters = self.characters(batch.characters, batch.character_sizes)
        inputs = [self.words(batch.words, batch.vectors), characters.index_select(0, batch.forms)]
        if self.tags is not None:
            inputs.append(self.tags(batch.tags))
        encoded: Tensor = self.encoder(
            self.input_dropout(inputs), batch.batch_sizes, batch.sentence
        )
        return encoded

    def arcs(self, roles: Roles, batch: Batch) -> Tensor:
        """Arc scores `[batch, dependent, head]`."""
        scores: Tensor = self.arc_scores(
            batch.unpack(roles["arc_dependent"]), batch.unpack(roles["arc_head"])
        )
        return scores

    def siblings(self, roles: Roles, batch: Batch) -> Tensor | None:
        """Sibling scores `[batch, dependent, head, sibling]` of the second order."""
        if self.sibling_scores is None:
            return None
        scores: Tensor = self.sibling_scores(
            batch.unpack(roles["pair_dependent"]),
            batch.unpack(roles["pair_head"]),
            batch.unpack(roles["pair_sibling"]),
        )
        return scores

    def sibling_factors(self, roles: Roles, batch: Batch) -> tuple[Tensor, Tensor]:
        """What sibling scores are products of, in n² rather than n³ of memory.

        They are `[batch, head, sibling, feature]` and `[batch, dependent, feature]`.
        """
        assert self.sibling_scores is not None
        heads, siblings = batch.unpack(roles["pair_head"]), batch.unpack(roles["pair_sibling"])
        dependents = with_one(batch.unpack(roles["pair_dependent"]))
        return self.sibling_scores.pairs(heads, siblings), dependents

    def labels(self, roles: Roles, batch: Batch, heads: Tensor) -> Tensor:
        """Label scores `[token, relation]` of packed tokens under these heads `[batch, N]`."""
        place = batch.places.gather(1, heads.clamp(min=0)).flatten().index_select(0, batch.cells)
        scores: Tensor = self.label_scores(
            roles["label_dependent"], roles["label_head"].index_select(0, place)
        )
        return scores

    @torch.no_grad()
    def take_weights(self, weights: dict[str, Tensor]) -> None:
        """Start from the weights of a model whose vocabulary is the beginning of this one's."""
        own = self.state_dict()
        for name, value in weights.items():
            if name in own and own[name].dim() == value.dim():
                overlap = tuple(
                    slice(min(pair)) for pair in zip(own[name].shape, value.shape, strict=True)
                )
                own[name][overlap].copy_(value[overlap])
