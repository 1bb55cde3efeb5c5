"""Dan Bikel's randomised comparator: how often chance alone would make two systems differ so much.

If two systems are equally good, it does not matter which of them parsed which sentence. A round
swaps the two parses of each sentence or leaves them, as a coin falls, and scores both piles again;
the p-value is the share of rounds in which they differ at least as much as the systems did.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.metrics.attachment import needs_whole_trees
from treecrf.treebank.metrics.counts import (
    Counts,
    Treebank,
    count_sentence,
    pair_sentences,
    punctuation,
)
from treecrf.treebank.metrics.scores import Punctuation, Subtypes

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    FloatArray = NDArray[float64]

__all__ = ["Comparison", "Difference", "compare", "compare_counts"]

METRICS = ("UAS", "LAS", "UCM", "LCM", "SIB")
# Differences closer than this are equal: the figures are ratios of integers, rounded once or twice.
TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric of two systems (F1 for SIB) and the two-sided p-value of their difference."""

    a: float
    b: float
    p: float

    @property
    def difference(self) -> float:
        return self.b - self.a


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences of two systems by metric: `comparison["LAS"].p`."""

    differences: dict[str, Difference]
    missing: dict[str, str]
    """Metrics that cannot be had, and why: SIB where the reference is partial."""
    sentences: int
    rounds: int
    seed: int

    def __getitem__(self, name: str) -> Difference:
        if name in self.missing:
            raise KeyError(f"{name}: {self.missing[name]}")
        return self.differences[name]

    def to_dict(self) -> dict[str, Any]:
        """The metrics by name, for JSON."""
        figures: dict[str, Any] = {
            name: {"a": item.a, "b": item.b, "difference": item.difference, "p": item.p}
            for name, item in self.differences.items()
        }
        for name, reason in self.missing.items():
            figures[name] = {"a": None, "b": None, "difference": None, "p": None, "reason": reason}
        return figures


def compare(
    gold: Treebank,
    a: Treebank,
    b: Treebank,
    *,
    rounds: int = 10_000,
    seed: int = 0,
    punct: Punctuation = "keep",
    subtypes: Subtypes = "keep",
) -> Comparison:
    """Score two systems and tell whether chance explains the difference.

    The same seed gives the same p-values. `punct` and `subtypes` are those of `evaluate`.
    """
    counts: tuple[list[Counts], list[Counts]] = ([], [])
    for reference, *answers in pair_sentences(gold, {"A": a, "B": b}):
        ignored = punctuation(reference, punct)
        for answer, system in zip(answers, counts, strict=True):
            counted, _ = count_sentence(reference, answer, ignored=ignored, subtypes=subtypes)
            system.append(counted)
    return compare_counts(*counts, rounds=rounds, seed=seed)


def compare_counts(
    a: Sequence[Counts], b: Sequence[Counts], *, rounds: int = 10_000, seed: int = 0
) -> Comparison:
    """`compare` for systems whose sentences have been counted already, the same in both."""
    import numpy as np

    if rounds < 1:
        raise ValueError(f"rounds is 1 or more, not {rounds}")
    if len(a) != len(b):
        raise ValueError(f"A has {len(a)} sentences and B has {len(b)}: both must have the same")
    if not a:
        raise TreebankError("there are no sentences to compare")

    # [sentence, numerator or denominator, metric]
    a_parts, b_parts = (
        np.array([_fractions(counts) for counts in system], dtype=np.float64) for system in (a, b)
    )
    scores_a, scores_b = _ratios(a_parts.sum(axis=0)), _ratios(b_parts.sum(axis=0))
    p_values = shuffle_test(a_parts, b_parts, rounds=rounds, seed=seed)
    differences = {
        name: Difference(a=float(scores_a[m]), b=float(scores_b[m]), p=float(p_values[m]))
        for m, name in enumerate(METRICS)
    }
    missing = {}
    if open_words := sum(counts.open_words for counts in a):
        del differences["SIB"]
        missing["SIB"] = needs_whole_trees(open_words)
    return Comparison(differences, missing, len(a), rounds, seed)


def _fractions(counts: Counts) -> list[tuple[int, ...]]:
    """Numerators and denominators of the metrics (as F1) for one sentence."""
    scores = counts._replace(open_words=0).scores()
    chosen = [scores[name] for name in METRICS]
    pairs = [(2 * score.correct, score.gold + score.system) for score in chosen]
    return list(zip(*pairs, strict=True))


def shuffle_test(
    a: "FloatArray", b: "FloatArray", *, rounds: int, seed: int, coins_at_once: int = 1 << 22
) -> "FloatArray":
    """The p-value of each metric; a and b are [sentence, numerator or denominator, metric]."""
    import numpy as np

    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    observed = np.abs(_ratios(total_a) - _ratios(total_b))
    swapping = (b - a).reshape(len(a), -1)  # what pile A gains from swapping a sentence
    # Coins come from the raw stream, which no version of numpy changes, 64 a number and a fresh
    # number for each round: the outcome depends on nothing but the seed.
    stream = np.random.PCG64(seed)
    numbers = -(-len(a) // 64)
    at_once = max(1, coins_at_once // (64 * numbers))
    as_extreme = np.zeros(observed.shape, dtype=np.int64)
    for start in range(0, rounds, at_once):
        block = min(at_once, rounds - start)
        raw = stream.random_raw(block * numbers).astype("<u8").view(np.uint8)
        coins = np.unpackbits(raw.reshape(block, -1), axis=1, count=len(a))
        gained = (coins.astype(np.float64) @ swapping).reshape(block, *total_a.shape)
        shuffled = np.abs(_ratios(total_a + gained) - _ratios(total_b - gained))
        as_extreme += (shuffled >= observed - TIE).sum(axis=0)
    return (as_extreme + 1) / (rounds + 1)


def _ratios(fractions: "FloatArray") -> "FloatArray":
    """Numerators over denominators, [..., 2, metric] -> [..., metric]; 0 of 0 is 0."""
    import numpy as np

    numerators, denominators = fractions[..., 0, :], fractions[..., 1, :]
    zeros = np.zeros_like(numerators)
    return np.divide(numerators, denominators, out=zeros, where=denominators > 0)
