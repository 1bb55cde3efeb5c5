"""Several systems on one treebank: trained, scored on every part, compared with Loc, published."""

from collections.abc import Sequence
from typing import Any

from experiments.measures import Measure, measure
from experiments.options import Options
from experiments.plots import dots
from experiments.reports import SIGNIFICANCE, publish
from experiments.systems import LOC, System
from experiments.tables import markdown, measure_rows
from experiments.treebanks import Split
from treecrf.parser.config import Config
from treecrf.treebank.counts import Counts

__all__ = [
    "Measures",
    "compare_systems",
    "compare_two",
    "publish_accuracy",
    "spread_note",
    "to_rows",
]

_ACCURACY = ("UAS", "LAS")

Measures = dict[str, dict[str, Measure]]
"""Metrics by the name of the system and their own."""


def compare_systems(
    options: Options, systems: Sequence[System], *, base: Config | None = None
) -> dict[Split, Measures]:
    """The metrics of systems on each part of the treebank, with p-values against Loc.

    Loc is one of the systems; `base` has settings other than the given ones.
    """
    seeds = options.seeds
    runs = {
        (system, seed): options.plan(system, seed, base=base)
        for system in systems
        for seed in seeds
    }
    results = options.finish(runs.values())
    measures: dict[Split, Measures] = {}
    for split in options.treebank.splits:
        counts = {
            system: [results[runs[system, seed]].parses[split, system.decoder] for seed in seeds]
            for system in systems
        }
        measures[split] = {
            system.name: measure(counts[system], None if system is LOC else counts[LOC])
            for system in systems
        }
    return measures


def compare_two(options: Options, system: System, other: System) -> str:
    """A sentence that says how sure it is that two systems differ in LAS, on each part.

    Both have been trained.
    """

    def counts(each: System, split: Split) -> list[list[Counts]]:
        results = [options.store.load(options.plan(each, seed)) for seed in options.seeds]
        assert None not in results
        return [result.parses[split, each.decoder] for result in results if result]

    found = [
        f"p = {measure(counts(system, split), counts(other, split))['LAS'].p:.2g} on {split}"
        for split in options.treebank.splits
    ]
    return f"{system.name} against {other.name}, LAS: {', '.join(found)}."


def to_rows(measures: dict[Split, Measures], metrics: Sequence[str]) -> list[dict[str, Any]]:
    """A row of JSON for each part, system and metric."""
    return [
        {"split": split, "system": system, "metric": metric} | by_metric[metric].to_dict()
        for split, table in measures.items()
        for system, by_metric in table.items()
        for metric in metrics
        if metric in by_metric
    ]


def spread_note(options: Options) -> str:
    """What the figures of a table are."""
    if len(options.seeds) == 1:
        return "Percent, of one seed."
    return f"Percent: the mean of {len(options.seeds)} seeds ± their standard deviation."


def publish_accuracy(
    options: Options, measures: dict[Split, Measures], *, title: str, note: str = ""
) -> None:
    """Publish UAS and LAS of systems: a row for each, and a column for each part and metric."""
    columns = [(split, metric) for split in measures for metric in _ACCURACY]
    names = list(next(iter(measures.values())))
    table = {name: [measures[split][name][metric] for split, metric in columns] for name in names}
    publish(
        options,
        title=f"{title} on {options.treebank.name}",
        content={"rows": to_rows(measures, _ACCURACY)},
        tables=[
            markdown(["", *(f"{split} {name}" for split, name in columns)], measure_rows(table))
        ],
        notes=[spread_note(options), f"{SIGNIFICANCE} {note}".rstrip()],
        draw=lambda: dots(
            {
                f"{split} {metric}": {name: {name: measures[split][name][metric]} for name in names}
                for split, metric in columns
            },
            xlabel="%",
        ),
    )
