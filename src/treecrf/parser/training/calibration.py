"""Calibration: the temperatures under which probabilities fit held-out sentences."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from treecrf.parser.api import Parser
from treecrf.parser.batching.batch import Batch, cut_batches, make_batch
from treecrf.parser.batching.encoding import encode, encode_annotation
from treecrf.parser.decoding.decoder import Decoding
from treecrf.parser.decoding.mbr import is_projective_tree
from treecrf.parser.device import fast_products
from treecrf.parser.errors import ParserError
from treecrf.parser.network.loss import TreeScores, masked_heads
from treecrf.parser.network.scorer import Roles
from treecrf.treebank import Sentence
from treecrf.treebank.metrics.calibration import (
    expected_calibration_error,
    head_outcomes,
    relation_outcomes,
    reliability,
    tag_outcomes,
)

__all__ = ["Fit", "calibration_errors", "fit_temperatures"]

_BATCH_WORDS = 1_000
_LONGEST = 100  # words; longer sentences take much memory and are few
_COLDEST, _HOTTEST = 0.25, 10.0
_STEPS = 13  # of the golden-section search: to within a hundredth

_OUTCOMES = {
    "temperature": head_outcomes,
    "relation_temperature": relation_outcomes,
    "upos_temperature": tag_outcomes,
}
"""By the setting: the probabilities that a temperature changes, and whether they were right."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A temperature, and the mean -log p of what is right before and after it is applied."""

    temperature: float
    before: float
    after: float
    words: int


class _NoTemperatureError(ParserError):
    """The best temperature is beyond those that are tried."""


def calibration_errors(parser: Parser, gold: Sequence[Sentence]) -> dict[str, float]:
    """Expected calibration errors of heads, relations and tags, by the name of the setting.

    Only the relations of words whose head is right count, and tags only if the model gives them.
    """
    parsed = list(parser.parse_stream(gold))
    return {
        name: expected_calibration_error(reliability(outcomes(gold, parsed)))
        for name, outcomes in _OUTCOMES.items()
        if name != "upos_temperature" or "upos" in parser.config.predict
    }


@dataclass(frozen=True, slots=True)
class _Part:
    """A batch with its scores."""

    batch: Batch
    roles: Roles
    fits: Tensor  # [batch], whether the loss gives the gold tree a probability
    classes: dict[str, tuple[Tensor, Tensor]]  # by setting: scores [word, class], gold [word]


@fast_products()
def fit_temperatures(parser: Parser, sentences: Iterable[Sentence]) -> dict[str, Fit]:
    """Fit the temperatures that make the annotation of held-out sentences most probable.

    They are by the names of their settings and replace those of the model: `temperature` (heads),
    `relation_temperature` (relations of words whose head the model finds) and `upos_temperature`.
    One of the last two is left out where no word tells it, or none between 0.25 and 10 is best, as
    of a model that is always right. Only sentences count in which every word has a head; for heads,
    if the loss sums over projective trees, only those whose tree is projective.
    """
    whole = [s for s in sentences if 0 < len(s) <= _LONGEST and min(s.heads) >= 0]
    parts = list(_parts(parser, whole))
    words = sum(int(part.batch.lengths[part.fits].sum()) for part in parts)
    if not words:
        raise ParserError("no sentence has a whole tree that the model could give")
    fits = {"temperature": _fit(lambda temperature: _cost(parser, parts, temperature), words)}
    for name in parts[0].classes:
        both = zip(*(part.classes[name] for part in parts), strict=True)
        scores, gold = (torch.cat(tensors) for tensors in both)
        if len(gold):
            cost = partial(_class_cost, scores, gold)
            with suppress(_NoTemperatureError):
                fits[name] = _fit(cost, len(gold))
    return fits


def _parts(parser: Parser, sentences: Sequence[Sentence]) -> Iterator[_Part]:
    config = parser.config
    encoded = encode(sentences, parser.vocabulary, config)
    annotation = encode_annotation(sentences, parser.vocabulary, config)
    for rows in cut_batches(encoded.lengths, tokens=_BATCH_WORDS, apart=config.longest_together):
        batch = make_batch(encoded, rows, annotation=annotation, device=parser.device)
        assert batch.heads is not None
        assert batch.gold is not None
        with torch.inference_mode():
            heads = batch.heads.clamp(min=0)
            fits = is_projective_tree(heads, batch.lengths, multiroot=config.multiroot)
            if not config.learns_projective:
                fits = torch.ones_like(fits)
            decoding = Decoding(parser.scorer, batch, config=config)
            found = decoding.best_heads()
            relations = parser.scorer.relations(decoding.roles, batch, found)
            is_right = batch.pack(found) == batch.pack(heads)
            gold = torch.where(is_right, batch.gold.relations, -1)
            classes = {"relation_temperature": _annotated(relations, gold)}
            columns = parser.scorer.columns(decoding.roles)
            if "upos" in columns:
                tags = _annotated(columns["upos"], batch.gold.columns["upos"])
                classes["upos_temperature"] = tags
        yield _Part(batch, decoding.roles, fits, classes)


def _annotated(scores: Tensor, gold: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of tokens that have a class."""
    return scores[gold >= 0], gold[gold >= 0]


@torch.inference_mode()
def _cost(parser: Parser, parts: Sequence[_Part], temperature: float) -> float:
    """The mean -log p of a gold head."""
    total, words = 0.0, 0
    for part in parts:
        batch, roles = part.batch, part.roles
        assert batch.heads is not None
        scores = TreeScores.of(parser.scorer, roles, batch, config=parser.config).tempered(
            temperature
        )
        if parser.config.loss == "local":
            by_head = masked_heads(scores.arcs, batch.lengths).softmax(2)
        else:
            by_head = scores.distribution(batch.lengths, config=parser.config).marginals
        gold = by_head.gather(2, batch.heads.clamp(min=0).unsqueeze(2)).squeeze(2)
        counts = (batch.heads >= 0) & part.fits[:, None]
        counts[:, 0] = False
        total -= float(gold[counts].clamp(min=1e-12).log().sum())
        words += int(counts.sum())
    return total / words


@torch.inference_mode()
def _class_cost(scores: Tensor, gold: Tensor, temperature: float) -> float:
    """The mean -log p of a gold class."""
    return float(functional.cross_entropy(scores.float() / temperature, gold))


def _fit(cost: Callable[[float], float], words: int) -> Fit:
    edges = math.log(_COLDEST), math.log(_HOTTEST)
    low, high = _golden_section(lambda log: cost(math.exp(log)), *edges)
    if low == edges[0] or high == edges[1]:
        edge = _COLDEST if low == edges[0] else _HOTTEST
        raise _NoTemperatureError(
            f"no temperature between {_COLDEST:g} and {_HOTTEST:g} is best for these sentences: "
            f"what they cost still falls towards {edge:g}; give more of them, that the model has "
            "not learnt from and that are annotated as those that it has"
        )
    temperature = round(math.exp((low + high) / 2), 3)
    return Fit(temperature, cost(1.0), cost(temperature), words)


def _golden_section(
    function: Callable[[float], float], low: float, high: float
) -> tuple[float, float]:
    """An interval around the minimum of a function; it keeps an end towards which that falls."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_STEPS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return low, high
