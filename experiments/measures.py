"""Metrics over seeds: their mean, their spread, and whether chance explains the difference."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from statistics import fmean, stdev
from typing import Any

from treecrf.treebank.metrics.counts import Counts
from treecrf.treebank.metrics.significance import compare_counts

__all__ = ["Measure", "mark", "measure", "paired_note", "paired_p", "percentages", "strict_note"]

_LEVELS = ((0.005, "‡"), (0.05, "†"))


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric in percent, by seed, and the p-value of its difference from the baseline."""

    values: tuple[float, ...]
    p: float | None = None
    """Of the outputs of all seeds, one after the other: seed i against seed i."""
    strict_p: float | None = None
    """Of several seeds: a sentence is swapped in all of them or in none."""
    baseline: tuple[float, ...] = ()
    """The metric of what it is compared to, by seed."""

    @property
    def gains(self) -> tuple[float, ...]:
        """Difference from the baseline, by seed."""
        pairs = zip(self.values, self.baseline, strict=True) if self.baseline else ()
        return tuple(ours - theirs for ours, theirs in pairs)

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
        } | (
            {}
            if self.strict_p is None
            else {"strict_p": self.strict_p, "paired_p": paired_p(self.gains)}
        )


def mark(p: float | None) -> str:
    """† for p < 0.05 and ‡ for p < 0.005, as the paper has them."""
    return next((sign for level, sign in _LEVELS if p is not None and p < level), "")


def measure(
    by_seed: Sequence[Sequence[Counts]], baseline: Sequence[Sequence[Counts]] | None = None
) -> dict[str, Measure]:
    """The metrics of a system by name, from its counts by seed and those of what it is compared to.

    Seeds parse the same sentences and err in the same ones, so that they are not as many more
    sentences as the comparator takes them for: with several, there is a stricter p as well.
    """
    scores = [percentages(counts) for counts in by_seed]
    p_values: Mapping[str, float] = {}
    strict: Mapping[str, float] = {}
    if baseline is not None:
        p_values = _p_values([*chain(*baseline)], [*chain(*by_seed)])
        if len(by_seed) > 1:
            strict = _p_values(_over_seeds(baseline), _over_seeds(by_seed))
    others = [] if baseline is None else [percentages(counts) for counts in baseline]
    return {
        name: Measure(
            tuple(seed[name] for seed in scores),
            p_values.get(name),
            strict.get(name),
            tuple(seed[name] for seed in others),
        )
        for name in scores[0]
    }


def _p_values(baseline: Sequence[Counts], counts: Sequence[Counts]) -> dict[str, float]:
    return {name: item.p for name, item in compare_counts(baseline, counts).differences.items()}


def strict_note(named: Iterable[tuple[str, Measure]]) -> list[str]:
    """Note on the stricter test of the marks in a table, if there is one."""
    tested = [(name, item) for name, item in named if item.strict_p is not None]
    if not tested:
        return []
    test = "A stricter test, which swaps a sentence in all seeds or in none,"
    others = [
        f"{name} {mark(item.strict_p) or 'none'}"
        for name, item in tested
        if mark(item.strict_p) != item.mark
    ]
    if not others:
        return [f"{test} gives the same marks."]
    return [f"{test} gives other marks: {', '.join(others)}."]


def paired_p(gains: Sequence[float]) -> float:
    """Two-sided p-value of Student's t-test that differences by seed have a mean of 0."""
    freedom, mean, spread = len(gains) - 1, fmean(gains), stdev(gains)
    if spread == 0:
        return float(mean == 0)
    angle = math.atan(abs(mean) * math.sqrt(len(gains) / freedom) / spread)
    # The distribution function for whole degrees of freedom: Abramowitz and Stegun, 26.7.3-4.
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for power in range(2 + odd, freedom + 1, 2):
        total += term
        term *= (power - 1) / power * math.cos(angle) ** 2
    if odd:
        return 1 - 2 / math.pi * (angle + math.sin(angle) * total)
    return 1 - math.sin(angle) * total


def paired_note(named: Iterable[tuple[str, Measure]]) -> list[str]:
    """Note on differences from the baseline by seed, if there are several seeds."""
    found = []
    for name, item in named:
        gains = item.gains
        if len(gains) > 1:
            above = sum(gain > 0 for gain in gains)
            found.append(
                f"{name} {fmean(gains):+.2f} ± {stdev(gains):.2f} (higher with {above} of "
                f"{len(gains)}, p = {paired_p(gains):.2g})"
            )
    if not found:
        return []
    return [
        "Differences by seed, their standard deviation, and the p of a paired t-test over seeds: "
        f"{'; '.join(found)}."
    ]


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
