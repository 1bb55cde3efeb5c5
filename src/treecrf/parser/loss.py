"""The distributions over trees that a model defines, and what training minimises."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from treecrf.parser.batch import Batch
from treecrf.parser.config import Config
from treecrf.parser.encoding import Annotation, EncodedSentences
from treecrf.parser.forms import Integers
from treecrf.parser.model import Scorer
from treecrf.struct import NonProjectiveTreeCRF, ProjectiveTreeCRF, SiblingTreeCRF

__all__ = [
    "TreeCRF",
    "WordCounts",
    "count_words",
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
    arc_scores: Tensor, sibling_scores: Tensor | None, config: Config
) -> tuple[Tensor, Tensor | None]:
    """The scores whose probabilities are as sure as they should be."""
    if config.temperature == 1:
        return arc_scores, sibling_scores
    siblings = None if sibling_scores is None else sibling_scores / config.temperature
    return arc_scores / config.temperature, siblings


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How many words have what a loss is divided by: a head, a relation, a tag."""

    heads: int
    relations: int
    upos: int


def count_words(encoded: EncodedSentences, annotation: Annotation, rows: Integers) -> WordCounts:
    """The counts of the sentences with these numbers."""
    starts, ends = encoded.starts[rows], encoded.starts[rows] + encoded.lengths[rows] + 1

    def count(values: Integers | None) -> int:
        if values is None:
            return 0
        return sum(
            int((values[start:end] >= 0).sum()) for start, end in zip(starts, ends, strict=True)
        )

    return WordCounts(
        heads=count(annotation.heads) - len(rows),  # root symbols are no words
        relations=count(annotation.relations),
        upos=count(annotation.upos),
    )


def training_loss(
    scorer: Scorer, batch: Batch, config: Config, *, counts: WordCounts | None = None
) -> Tensor:
    """The loss of a batch: those of its trees, their labels and tags, each by the word.

    Of a part of a batch, `counts` are those of the whole: the losses of the parts add up.
    """
    assert batch.heads is not None
    assert batch.relations is not None
    roles = scorer(batch)
    arc_scores = scorer.arcs(roles, batch)
    annotated = (batch.heads >= 0).sum() - len(batch.lengths)  # root symbols are no words
    if config.loss == "local":
        words = batch.heads[:, 1:]
        scores = masked_heads(arc_scores, batch.lengths)[:, 1:]
        trees = functional.cross_entropy(
            scores.flatten(0, 1), words.flatten(), ignore_index=-1, reduction="sum"
        )
    else:
        crf = distribution(arc_scores, scorer.siblings(roles, batch), batch.lengths, config=config)
        if batch.partial:  # the sum over every tree that fits
            trees = -crf.log_prob(batch.heads).sum()
        else:
            trees = (crf.log_partition - crf.score(batch.heads)).sum()

    relations = batch.relations.flatten().index_select(0, batch.cells)
    labels = functional.cross_entropy(
        scorer.labels(roles, batch, batch.heads), relations, ignore_index=-1, reduction="sum"
    )
    labelled = (relations >= 0).sum()
    loss = trees / (annotated.clamp(min=1) if counts is None else max(1, counts.heads))
    loss = loss + labels / (labelled.clamp(min=1) if counts is None else max(1, counts.relations))
    tag_scores = scorer.tags(roles)
    if tag_scores is not None and batch.upos is not None:
        upos = batch.upos.flatten().index_select(0, batch.cells)
        tags = functional.cross_entropy(tag_scores, upos, ignore_index=-1, reduction="sum")
        tagged = (upos >= 0).sum()
        loss = loss + tags / (tagged.clamp(min=1) if counts is None else max(1, counts.upos))
    return loss


def masked_heads(arc_scores: Tensor, lengths: Tensor, allowed: Tensor | None = None) -> Tensor:
    """Arc scores with -inf for heads that the sentence does not have or that are not allowed."""
    token = torch.arange(arc_scores.shape[2], device=arc_scores.device)
    possible = (token <= lengths[:, None])[:, None]
    if allowed is not None:
        possible = possible & allowed
    return arc_scores.masked_fill(~possible, float("-inf"))
