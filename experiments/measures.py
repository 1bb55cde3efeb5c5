"""Metrics over seeds: their mean, their spread, and whether chance explains the difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from statistics import fmean, stdev
from typing import Any

from treecrf.treebank.counts import Counts
from treecrf.treebank.significance import compare_counts

__all__ = ["Measure", "mark", "measure", "percentages"]

_LEVELS = ((0.005, "‡"), (0.05, "†"))


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric in percent, by seed, and how likely chance makes it differ so from the baseline."""

    values: tuple[float, ...]
    p: float | None = None

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def spread(self) -> float | None:
        """The standard deviation over seeds; one seed has none."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def mark(self) -> str:
        return mark(self.p)

    def to_dict(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "mean": round(self.mean, 4),
            "spread": None if self.spread is None else round(self.spread, 4),
            "values": [round(value, 4) for value in self.values],
            "p": self.p,
        }


def mark(p: float | None) -> str:
    """† for p < 0.05 and ‡ for p < 0.005, as the paper has them."""
    return next((sign for level, sign in _LEVELS if p is not None and p < level), "")


def measure(
    by_seed: Sequence[Sequence[Counts]], baseline: Sequence[Sequence[Counts]] | None = None
) -> dict[str, Measure]:
    """The metrics of a system by name, from its counts by seed and those of what it is compared to.

    Seeds parse the same sentences and err in the same ones, so that they are no more sentences: the
    comparator swaps a sentence in all seeds or in none.
    """
    scores = [percentages(counts) for counts in by_seed]
    p_values: Mapping[str, float] = {}
    if baseline is not None:
        comparison = compare_counts(_over_seeds(baseline), _over_seeds(by_seed))
        p_values = {name: item.p for name, item in comparison.differences.items()}
    return {
        name: Measure(tuple(seed[name] for seed in scores), p_values.get(name))
        for name in scores[0]
    }


def _over_seeds(by_seed: Sequence[Sequence[Counts]]) -> list[Counts]:
    """The counts of each sentence in all seeds together."""
    return [reduce(Counts.plus, sentence) for sentence in zip(*by_seed, strict=True)]


def percentages(counts: Sequence[Counts]) -> dict[str, float]:
    """The metrics of a parse: F1, and precision and recall of SIB, which a partial one has not."""
    scores = reduce(Counts.plus, counts, Counts()).scores()
    figures = {name: 100 * score.f1 for name, score in scores.items() if name != "LA"}
    if "SIB" in scores:
        figures |= {"SIB P": 100 * scores["SIB"].precision, "SIB R": 100 * scores["SIB"].recall}
    return figures
