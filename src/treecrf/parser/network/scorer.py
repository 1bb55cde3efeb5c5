"""The network of a parser: from a batch of sentences to scores of arcs, siblings and relations."""

from typing import Protocol

from torch import Tensor, nn

from treecrf.nn.affine import (
    BiaffineArcs,
    BiaffineRelations,
    BiaffineSiblings,
    TriaffineSiblings,
    with_one,
)
from treecrf.nn.mlp import Perceptrons
from treecrf.ops.projective.trilinear import Factors
from treecrf.parser.batching.batch import Batch
from treecrf.parser.config import Config
from treecrf.parser.network.pretrained import Pretrained
from treecrf.parser.network.readers import PieceReader, WordReader

__all__ = ["Network", "Roles", "Scorer", "role_sizes"]

_TAGS = ("upos", "xpos")
_SHARED = ("arc_dependent", "arc_head")

Roles = dict[str, Tensor]
"""Vectors `[token, feature]` of packed tokens, one for each role in a score."""


class Network(Protocol):
    """Interface of `Scorer` that decoding needs; an ONNX graph has it too."""

    @property
    def sibling_scores(self) -> object | None:
        """None if the network has no sibling scores."""

    @property
    def grandparent_scores(self) -> object | None:
        """None if the network has no grandparent scores."""

    def __call__(self, batch: Batch, /) -> Roles: ...
    def arcs(self, roles: Roles, batch: Batch) -> Tensor: ...
    def siblings(self, roles: Roles, batch: Batch) -> Tensor | None: ...
    def sibling_factors(self, roles: Roles, batch: Batch) -> Factors: ...
    def grandparents(self, roles: Roles, batch: Batch) -> Tensor | None: ...
    def relations(self, roles: Roles, batch: Batch, heads: Tensor) -> Tensor: ...
    def columns(self, roles: Roles) -> dict[str, Tensor]: ...


def role_sizes(config: Config) -> dict[str, int]:
    """The features of each role, in the order in which the rows of their weights are."""
    sizes = {
        "arc_dependent": config.arc_size,
        "arc_head": config.arc_size,
        "relation_dependent": config.label_size,
        "relation_head": config.label_size,
    }
    if config.scores_siblings:
        own = [role for role in pair_roles(config) if role not in sizes]
        sizes |= dict.fromkeys(own, config.pair_size)
    if config.scores_grandparents:
        names = ("grand_dependent", "grand_head", "grandparent")
        sizes |= dict.fromkeys(names, config.grandparent_size)
    return sizes | dict.fromkeys(config.predict, config.column_size)


def pair_roles(config: Config) -> tuple[str, str, str]:
    """The roles of dependent, head and sibling in scores of siblings."""
    shared = config.sibling_form == "shared"
    return (*(_SHARED if shared else ("pair_dependent", "pair_head")), "pair_sibling")


class Scorer(nn.Module):
    """Network that encodes sentences and scores arcs, siblings and so on, relations and columns."""

    def __init__(
        self,
        config: Config,
        sizes: dict[str, int],
        *,
        vectors: Tensor | None = None,
        pretrained: Pretrained | None = None,
    ) -> None:
        super().__init__()
        self.reader: WordReader | PieceReader
        if pretrained is None:
            self.reader = WordReader(config, sizes, vectors=vectors)
        else:
            self.reader = PieceReader(config, sizes, pretrained=pretrained)
        self.roles = Perceptrons(self.reader.size, role_sizes(config), dropout=config.mlp_dropout)
        self.arc_scores = BiaffineArcs(config.arc_size)
        # The names `label_scores` and `label_size` are those of saved models.
        self.label_scores = BiaffineRelations(config.label_size, sizes["relations"])
        self.sibling_scores = None
        self.pair_roles = pair_roles(config)
        if config.scores_siblings:
            form = BiaffineSiblings if config.sibling_form == "biaffine" else TriaffineSiblings
            self.sibling_scores = form(config.pair_size)
        self.grandparent_scores = (
            TriaffineSiblings(config.grandparent_size) if config.scores_grandparents else None
        )
        self.column_scores = nn.ModuleDict(
            {name: nn.Linear(config.column_size, sizes[name]) for name in config.predict}
        )
        self.lemma_tags = nn.ModuleDict()
        if "lemma" in config.predict:
            for name in filter(config.predict.__contains__, _TAGS):
                layer = nn.Linear(sizes[name], sizes["lemma"], bias=False)
                nn.init.zeros_(layer.weight)
                self.lemma_tags[name] = layer

    def forward(self, batch: Batch) -> Roles:
        """Vectors of the tokens of a batch in each role."""
        return self.roles(self.reader(batch), batch.sentence, batch.grid[0])

    def arcs(self, roles: Roles, batch: Batch) -> Tensor:
        """Arc scores `[batch, dependent, head]`."""
        return self.arc_scores(
            batch.unpack(roles["arc_dependent"]), batch.unpack(roles["arc_head"])
        )

    def siblings(self, roles: Roles, batch: Batch) -> Tensor | None:
        """Sibling scores `[batch, dependent, head, sibling]` of the second order."""
        if self.sibling_scores is None:
            return None
        return self.sibling_scores(*(batch.unpack(roles[name]) for name in self.pair_roles))

    def grandparents(self, roles: Roles, batch: Batch) -> Tensor | None:
        """Grandparent scores `[batch, dependent, head, grandparent]` of the third order."""
        if self.grandparent_scores is None:
            return None
        return self.grandparent_scores(
            batch.unpack(roles["grand_dependent"]),
            batch.unpack(roles["grand_head"]),
            batch.unpack(roles["grandparent"]),
        )

    def sibling_factors(self, roles: Roles, batch: Batch) -> Factors:
        """Factors of the sibling scores of the only sentence: n rather than n³ of memory."""
        assert self.sibling_scores is not None
        dependents, heads, siblings = (batch.unpack(roles[name])[0] for name in self.pair_roles)
        return Factors(self.sibling_scores.forms(heads), with_one(siblings), with_one(dependents))

    def relations(self, roles: Roles, batch: Batch, heads: Tensor) -> Tensor:
        """Relation scores `[token, relation]` of packed tokens under these heads `[batch, N]`."""
        place = batch.places.gather(1, heads.clamp(min=0)).flatten().index_select(0, batch.cells)
        return self.relations_at(roles, place)

    def relations_at(self, roles: Roles, places: Tensor) -> Tensor:
        """Relation scores, given the packed token that is the head of each, `places [token]`."""
        return self.label_scores(
            roles["relation_dependent"], roles["relation_head"].index_select(0, places)
        )

    def columns(self, roles: Roles) -> dict[str, Tensor]:
        """Scores `[token, class]` of packed tokens in each predicted column.

        Those of lemma rules depend on the tags that are predicted: a name keeps its capital.
        """
        scores: dict[str, Tensor] = {
            name: layer(roles[name]) for name, layer in self.column_scores.items()
        }
        for name, layer in self.lemma_tags.items():
            scores["lemma"] = scores["lemma"] + layer(scores[name].detach().softmax(1))
        return scores
