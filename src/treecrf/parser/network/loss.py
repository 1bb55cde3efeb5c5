"""The distributions over trees that a model defines, and the training loss."""

from collections.abc import Callable
from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import functional

from treecrf.parser.batching.batch import Batch
from treecrf.parser.batching.gold import WordCounts
from treecrf.parser.batching.targets import WEIGHT
from treecrf.parser.config import Config
from treecrf.parser.network.scorer import Network, Roles, Scorer
from treecrf.struct import (
    GrandparentTreeCRF,
    GrandSiblingTreeCRF,
    NonProjectiveTreeCRF,
    ProjectiveTreeCRF,
    SiblingTreeCRF,
)

__all__ = ["TreeCRF", "TreeScores", "masked_heads", "training_loss"]

TreeCRF = ProjectiveTreeCRF | SiblingTreeCRF | GrandparentTreeCRF | NonProjectiveTreeCRF


class TreeScores(NamedTuple):
    """Scores of the parts of trees, each None where it is not scored."""

    arcs: Tensor  # [batch, dependent, head]
    siblings: Tensor | None = None  # [batch, dependent, head, sibling]
    grandparents: Tensor | None = None  # [batch, dependent, head, grandparent]

    @classmethod
    def of(
        cls,
        scorer: Network,
        roles: Roles,
        batch: Batch,
        *,
        config: Config,
        arcs: Tensor | None = None,
    ) -> Self:
        """The scores of a batch; no grandparents where a sentence is too long for them.

        `arcs` are those of the batch, where they are known.
        """
        arcs = scorer.arcs(roles, batch) if arcs is None else arcs
        used = config.uses_grandparents(batch.grid[1])
        grandparents = scorer.grandparents(roles, batch) if used else None
        return cls(arcs, scorer.siblings(roles, batch), grandparents)

    def change(self, change: Callable[[Tensor], Tensor]) -> Self:
        """The same with every tensor changed."""
        return type(self)(
            change(self.arcs), *(None if part is None else change(part) for part in self[1:])
        )

    def tempered(self, temperature: float) -> Self:
        """Divided by a temperature, which makes probabilities less sure, or more."""
        return self if temperature == 1 else self.change(lambda part: part / temperature)

    def distribution(
        self,
        lengths: Tensor,
        *,
        config: Config,
        allowed: Tensor | None = None,
        validate: bool = False,
    ) -> TreeCRF:
        """The distribution over the trees that the model decodes.

        Of `local` it is the TreeCRF over the same scores: training did not make it one, but it
        ranks trees as the scores do.
        """
        arcs, siblings, grandparents = self
        others = lengths, config.multiroot, allowed
        if siblings is not None and grandparents is not None:
            return GrandSiblingTreeCRF(arcs, siblings, grandparents, *others, validate=validate)
        if grandparents is not None:
            return GrandparentTreeCRF(arcs, grandparents, *others, validate=validate)
        if siblings is not None:
            return SiblingTreeCRF(arcs, siblings, *others, validate=validate)
        crossing = config.crossing and not config.learns_projective
        family = NonProjectiveTreeCRF if crossing else ProjectiveTreeCRF
        return family(arcs, *others, validate=validate)


def training_loss(
    scorer: Scorer, batch: Batch, config: Config, *, counts: WordCounts | None = None
) -> Tensor:
    """The loss of a batch: those of its trees, their relations and columns, each by the word.

    Of a part of a batch, `counts` are those of the whole: the losses of the parts add up.
    """
    gold = batch.gold
    assert batch.heads is not None
    assert gold is not None
    roles = scorer(batch)
    if gold.targets is not None:
        return _taught_loss(scorer, batch, roles=roles, config=config, counts=counts)
    if config.loss == "local":
        words = batch.heads[:, 1:]
        scores = masked_heads(scorer.arcs(roles, batch), batch.lengths)[:, 1:]
        trees = functional.cross_entropy(
            scores.flatten(0, 1), words.flatten(), ignore_index=-1, reduction="sum"
        )
    else:
        scores_of_parts = TreeScores.of(scorer, roles, batch, config=config)
        crf = scores_of_parts.distribution(batch.lengths, config=config)
        if gold.arcs is None:  # the sum over every tree that fits
            trees = -crf.log_prob(batch.heads).sum()
        else:
            trees = crf.log_partition.sum()
            cells = gold.arcs, gold.siblings, gold.grandparents
            for part, own in zip(scores_of_parts, cells, strict=True):
                if part is not None and own is not None:
                    trees = trees - part.flatten().index_select(0, own).sum()

    counts = gold.counts if counts is None else counts
    relations = _cross_entropy(scorer.relations_at(roles, gold.places), gold.relations)
    loss = trees / max(1, counts.heads) + relations / max(1, counts.relations)
    for name, scores in scorer.columns(roles).items():
        if name in gold.columns:
            column = _cross_entropy(scores, gold.columns[name]) / max(1, counts.columns[name])
            loss = loss + config.column_weight * column
    return loss


def _taught_loss(
    scorer: Scorer,
    batch: Batch,
    *,
    roles: Roles,
    config: Config,
    counts: WordCounts | None,
) -> Tensor:
    """The loss of a batch with soft targets: cross entropies.

    That of trees is log Z less the score that trees of the teachers' distribution have on average.
    """
    gold = batch.gold
    assert gold is not None
    assert gold.targets is not None
    targets, counts = gold.targets, counts or gold.counts
    if config.loss == "local":
        scores = masked_heads(scorer.arcs(roles, batch), batch.lengths).log_softmax(2)
        trees = -_weighted_sum(scores, targets["arcs"])
    else:
        scores_of_parts = TreeScores.of(scorer, roles, batch, config=config)
        trees = scores_of_parts.distribution(batch.lengths, config=config).log_partition.sum()
        for name, part in scores_of_parts._asdict().items():
            if part is not None:
                trees = trees - _weighted_sum(part, targets[name])
    relations = scorer.relations_at(roles, gold.places).log_softmax(1)
    of_relations = -_weighted_sum(relations, targets["relations"])
    loss = trees / max(1, counts.heads) + of_relations / max(1, counts.relations)
    for name, scores in scorer.columns(roles).items():
        of_column = -_weighted_sum(scores.log_softmax(1), targets[name])
        loss = loss + config.column_weight * of_column / max(1, counts.columns[name])
    return loss


def _weighted_sum(scores: Tensor, target: tuple[Tensor, Tensor]) -> Tensor:
    """The sum of the scores in some cells, each times its weight in parts of `WEIGHT`."""
    cells, weights = target
    return scores.flatten().index_select(0, cells) @ (weights.to(scores.dtype) / WEIGHT)


def _cross_entropy(scores: Tensor, classes: Tensor) -> Tensor:
    """The sum over tokens that have a class."""
    return functional.cross_entropy(scores, classes, ignore_index=-1, reduction="sum")


def masked_heads(arc_scores: Tensor, lengths: Tensor, allowed: Tensor | None = None) -> Tensor:
    """Arc scores with -inf for heads that the sentence does not have or that are not allowed."""
    token = torch.arange(arc_scores.shape[2], device=arc_scores.device)
    possible = (token <= lengths[:, None])[:, None]
    if allowed is not None:
        possible = possible & allowed
    return arc_scores.masked_fill(~possible, float("-inf"))
