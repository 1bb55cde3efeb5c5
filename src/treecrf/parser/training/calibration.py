"""Calibration: the temperature under which probabilities of heads fit held-out sentences."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from treecrf.parser.api import Parser
from treecrf.parser.batching.batch import Batch, cut_batches, make_batch
from treecrf.parser.batching.encoding import encode, encode_annotation
from treecrf.parser.decoding.mbr import is_projective_tree
from treecrf.parser.device import fast_products
from treecrf.parser.errors import ParserError
from treecrf.parser.network.loss import distribution, masked_heads, tempered
from treecrf.parser.network.scorer import Roles
from treecrf.treebank import Sentence
from treecrf.treebank.metrics.calibration import (
    expected_calibration_error,
    head_outcomes,
    reliability,
)

__all__ = ["Fit", "calibration_error", "fit_temperature"]

_BATCH_WORDS = 1_000
_LONGEST = 100  # words; longer sentences take much memory and are few
_COLDEST, _HOTTEST = 0.25, 10.0
_STEPS = 13  # of the golden-section search: to within a hundredth


@dataclass(frozen=True, slots=True)
class Fit:
    """A temperature, and the mean -log p of a gold head before and after it is applied."""

    temperature: float
    before: float
    after: float
    words: int


def calibration_error(parser: Parser, gold: Sequence[Sentence]) -> float:
    """Expected calibration error of the probabilities of heads."""
    return expected_calibration_error(reliability(head_outcomes(gold, parser.parse_stream(gold))))


@fast_products()
def fit_temperature(parser: Parser, sentences: Iterable[Sentence]) -> Fit:
    """Fit the temperature that makes the heads of held-out sentences most probable.

    Only sentences count in which every word has a head, and, if the loss sums over projective
    trees, whose tree is projective. The temperature replaces the model's own.
    """
    config, device = parser.config, parser.device
    whole = [s for s in sentences if 0 < len(s) <= _LONGEST and min(s.heads) >= 0]
    encoded = encode(whole, parser.vocabulary, config)
    annotation = encode_annotation(whole, parser.vocabulary, config)
    order = np.argsort(-encoded.lengths, kind="stable")
    parts: list[tuple[Batch, Roles, Tensor]] = []
    with torch.inference_mode():
        for rows in cut_batches(encoded.lengths, order, tokens=_BATCH_WORDS):
            batch = make_batch(encoded, rows, annotation=annotation, device=device)
            assert batch.heads is not None
            heads = batch.heads.clamp(min=0)
            fits = is_projective_tree(heads, batch.lengths, multiroot=config.multiroot)
            if not config.learns_projective:
                fits = torch.ones_like(fits)
            parts.append((batch, parser.scorer(batch), fits))
    words = sum(int(batch.lengths[fits].sum()) for batch, _, fits in parts)
    if not words:
        raise ParserError("no sentence has a whole tree that the model could give")

    @torch.inference_mode()
    def cost(temperature: float) -> float:
        total = 0.0
        for batch, roles, fits in parts:
            assert batch.heads is not None
            arcs, siblings = parser.scorer.arcs(roles, batch), parser.scorer.siblings(roles, batch)
            arcs, siblings = tempered(arcs, siblings, temperature)
            if config.loss == "local":
                by_head = masked_heads(arcs, batch.lengths).softmax(2)
            else:
                by_head = distribution(arcs, siblings, batch.lengths, config=config).marginals
            gold = by_head.gather(2, batch.heads.clamp(min=0).unsqueeze(2)).squeeze(2)
            counts = (batch.heads >= 0) & fits[:, None]
            counts[:, 0] = False
            total -= float(gold[counts].clamp(min=1e-12).log().sum())
        return total / words

    edges = math.log(_COLDEST), math.log(_HOTTEST)
    low, high = _golden_section(lambda log: cost(math.exp(log)), *edges)
    if low == edges[0] or high == edges[1]:
        edge = _COLDEST if low == edges[0] else _HOTTEST
        raise ParserError(
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
