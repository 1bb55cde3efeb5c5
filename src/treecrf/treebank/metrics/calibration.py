"""Calibration of probabilities: reliability by bin, and the expected calibration error."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from treecrf.treebank.sentence import Sentence

__all__ = [
    "Bin",
    "expected_calibration_error",
    "head_outcomes",
    "relation_outcomes",
    "reliability",
    "tag_outcomes",
]

Outcome = tuple[float, bool]
"""A probability, and whether the prediction was right."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of about the same probability."""

    count: int
    confidence: float  # mean probability
    accuracy: float  # share that was right


def reliability(outcomes: Iterable[Outcome], *, bins: int = 15) -> list[Bin]:
    """The bins of equal width that something fell into, the least probable first."""
    members: list[list[Outcome]] = [[] for _ in range(bins)]
    for prob, right in outcomes:
        # As usual, a bin has its upper end and not its lower one.
        place = -int(-(min(max(prob, 0.0), 1.0) * bins) // 1) - 1
        members[max(place, 0)].append((prob, right))
    return [
        Bin(len(inside), *(sum(column) / len(inside) for column in zip(*inside, strict=True)))
        for inside in members
        if inside
    ]


def expected_calibration_error(bins: Sequence[Bin]) -> float:
    """The mean distance of confidence and accuracy, by how much is in each bin."""
    total = sum(bin.count for bin in bins)
    return sum(bin.count * abs(bin.confidence - bin.accuracy) for bin in bins) / max(total, 1)


def head_outcomes(gold: Iterable[Sentence], parsed: Iterable[Sentence]) -> list[Outcome]:
    """The probability of each head that a parser gave, and whether it was right, if known."""
    outcomes: list[Outcome] = []
    for truth, sentence in zip(gold, parsed, strict=True):
        heads = truth.heads
        known = [head >= 0 for head in heads]
        outcomes += _outcomes(sentence.probs, sentence.heads, heads, known)
    return outcomes


def relation_outcomes(gold: Iterable[Sentence], parsed: Iterable[Sentence]) -> list[Outcome]:
    """The same of relations, of words whose head is right: they are probabilities given the head.

    Multiplied by that of the head, such a probability is that both are right.
    """
    outcomes: list[Outcome] = []
    for truth, sentence in zip(gold, parsed, strict=True):
        deprels = truth.deprels
        rows = zip(truth.heads, sentence.heads, deprels, strict=True)
        known = [right == head and deprel != "_" for right, head, deprel in rows]
        outcomes += _outcomes(sentence.deprel_probs, sentence.deprels, deprels, known)
    return outcomes


def tag_outcomes(gold: Iterable[Sentence], parsed: Iterable[Sentence]) -> list[Outcome]:
    """The same of universal tags."""
    outcomes: list[Outcome] = []
    for truth, sentence in zip(gold, parsed, strict=True):
        tags = truth.column("upos")
        known = [tag != "_" for tag in tags]
        outcomes += _outcomes(sentence.upos_probs, sentence.column("upos"), tags, known)
    return outcomes


def _outcomes(
    probs: Sequence[float] | None,
    given: Sequence[object],
    right: Sequence[object],
    known: Sequence[bool],
) -> list[Outcome]:
    assert probs is not None
    rows = zip(probs, given, right, known, strict=True)
    return [(prob, one == other) for prob, one, other, counts in rows if counts]
