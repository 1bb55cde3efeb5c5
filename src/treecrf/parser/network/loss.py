"""The distributions over trees that a model defines, and the training loss."""

import torch
from torch import Tensor
from torch.nn import functional

from treecrf.parser.batching.batch import Batch
from treecrf.parser.batching.gold import WordCounts
from treecrf.parser.batching.targets import WEIGHT
from treecrf.parser.config import Config
from treecrf.parser.network.scorer import Roles, Scorer
from treecrf.struct import NonProjectiveTreeCRF, ProjectiveTreeCRF, SiblingTreeCRF

__all__ = [
    "TreeCRF",
    "distribution",
    "masked_heads",
    "tempered",
    "training_loss",
]

TreeCRF = ProjectiveTreeCRF | SiblingTreeCRF | NonProjectiveTreeCRF


def distribution(
    arc_scores: Tensor,
    sibling_scores: Tensor | None,
    lengths: Tensor,
    *,
    config: Config,
    allowed: Tensor | None = None,
    validate: bool = False,
) -> TreeCRF:
    """The distribution over the trees that the model decodes.

    Of `local` it is the TreeCRF over the same scores: training did not make it one, but it ranks
    trees as the scores do.
    """
    multiroot = config.multiroot
    if sibling_scores is not None:
        return SiblingTreeCRF(
            arc_scores, sibling_scores, lengths, multiroot, allowed, validate=validate
        )
    crossing = config.crossing and not config.learns_projective
    family = NonProjectiveTreeCRF if crossing else ProjectiveTreeCRF
    return family(arc_scores, lengths, multiroot, allowed, validate=validate)


def tempered(
    arc_scores: Tensor, sibling_scores: Tensor | None, temperature: float
) -> tuple[Tensor, Tensor | None]:
    """The scores divided by a temperature, which makes probabilities less sure, or more."""
    if temperature == 1:
        return arc_scores, sibling_scores
    siblings = None if sibling_scores is None else sibling_scores / temperature
    return arc_scores / temperature, siblings


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
    arc_scores = scorer.arcs(roles, batch)
    if gold.targets is not None:
        return _taught_loss(
            scorer, batch, roles=roles, arc_scores=arc_scores, config=config, counts=counts
        )
    if config.loss == "local":
        words = batch.heads[:, 1:]
        scores = masked_heads(arc_scores, batch.lengths)[:, 1:]
        trees = functional.cross_entropy(
            scores.flatten(0, 1), words.flatten(), ignore_index=-1, reduction="sum"
        )
    else:
        sibling_scores = scorer.siblings(roles, batch)
        crf = distribution(arc_scores, sibling_scores, batch.lengths, config=config)
        if gold.arcs is None:  # the sum over every tree that fits
            trees = -crf.log_prob(batch.heads).sum()
        else:
            trees = crf.log_partition.sum() - _sum_of(arc_scores, gold.arcs)
            if sibling_scores is not None and gold.siblings is not None:
                trees = trees - _sum_of(sibling_scores, gold.siblings)

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
    arc_scores: Tensor,
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
        scores = masked_heads(arc_scores, batch.lengths).log_softmax(2)
        trees = -_weighted_sum(scores, targets["arcs"])
    else:
        sibling_scores = scorer.siblings(roles, batch)
        crf = distribution(arc_scores, sibling_scores, batch.lengths, config=config)
        trees = crf.log_partition.sum() - _weighted_sum(arc_scores, targets["arcs"])
        if sibling_scores is not None:
            trees = trees - _weighted_sum(sibling_scores, targets["siblings"])
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


def _sum_of(scores: Tensor, cells: Tensor) -> Tensor:
    """The sum of the scores in these cells, by their numbers from the first score on."""
    return scores.flatten().index_select(0, cells).sum()


def masked_heads(arc_scores: Tensor, lengths: Tensor, allowed: Tensor | None = None) -> Tensor:
    """Arc scores with -inf for heads that the sentence does not have or that are not allowed."""
    token = torch.arange(arc_scores.shape[2], device=arc_scores.device)
    possible = (token <= lengths[:, None])[:, None]
    if allowed is not None:
        possible = possible & allowed
    return arc_scores.masked_fill(~possible, float("-inf"))
