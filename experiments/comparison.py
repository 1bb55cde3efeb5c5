"""Several systems on one treebank: trained, scored on every part, compared with Loc, published."""

from collections.abc import Sequence
from typing import Any

from experiments.measures import Measure, measure, paired_note, strict_note
from experiments.options import Options
from experiments.plots import dots
from experiments.published import las_of
from experiments.reports import SIGNIFICANCE, publish
from experiments.systems import LOC, System
from experiments.tables import markdown, measure_rows
from experiments.treebanks import Split
from treecrf.parser.config import Config
from treecrf.treebank.metrics.counts import Counts

__all__ = [
    "Measures",
    "SystemCounts",
    "compare_systems",
    "compare_two",
    "count_systems",
    "of_seeds",
    "publish_accuracy",
    "seed_notes",
    "spread_note",
    "to_rows",
]

_ACCURACY = ("UAS", "LAS")

Measures = dict[str, dict[str, Measure]]
"""Metrics by the name of the system and their own."""

SystemCounts = dict[Split, dict[System, list[list[Counts]]]]
"""What is right in each sentence, by part, system and seed."""


def count_systems(
    options: Options, systems: Sequence[System], *, base: Config | None = None
) -> SystemCounts:
    """Train systems, and count what they get right on each part of the treebank.

    `base` has settings other than the given ones.
    """
    seeds = options.seeds
    runs = {
        (system, seed): options.plan(system, seed, base=base)
        for system in systems
        for seed in seeds
    }
    results = options.finish(runs.values())
    return {
        split: {
            system: [results[runs[system, seed]].parses[split, system.decoder] for seed in seeds]
            for system in systems
        }
        for split in options.treebank.splits
    }


def compare_systems(counts: SystemCounts) -> dict[Split, Measures]:
    """The metrics of systems, of which Loc is one, with p-values against it."""
    return {
        split: {
            system.name: measure(by_seed, None if system is LOC else by_system[LOC])
            for system, by_seed in by_system.items()
        }
        for split, by_system in counts.items()
    }


def compare_two(counts: SystemCounts, system: System, other: System) -> str:
    """Sentence with the p-values of the difference in LAS between two systems, on each part."""
    found = [
        f"p = {measure(by_system[system], by_system[other])['LAS'].p:.2g} on {split}"
        for split, by_system in counts.items()
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


def seed_notes(measures: dict[Split, Measures], metrics: Sequence[str]) -> list[str]:
    """Notes for several seeds: a stricter test of these metrics, and the last one by seed."""

    def named(chosen: Sequence[str]) -> list[tuple[str, Measure]]:
        return [
            (f"{system} {split} {metric}", by_metric[metric])
            for split, table in measures.items()
            for system, by_metric in table.items()
            for metric in chosen
            if metric in by_metric
        ]

    return [*strict_note(named(metrics)), *paired_note(named(metrics[-1:]))]


def spread_note(options: Options) -> str:
    """Note on the meaning of the figures in a table."""
    left_out = "" if options.punct == "keep" else " Punctuation is left out."
    if len(options.seeds) == 1:
        return f"Percent, {of_seeds(options)}.{left_out}"
    return f"Percent: {of_seeds(options)} ± their standard deviation.{left_out}"


def of_seeds(options: Options) -> str:
    """Phrase for a figure without its spread."""
    count = len(options.seeds)
    return "of one seed" if count == 1 else f"the mean of {count} seeds"


def publish_accuracy(
    options: Options, measures: dict[Split, Measures], *, title: str, note: str = ""
) -> None:
    """Publish UAS and LAS of systems: a row for each, and a column for each part and metric."""
    columns = [(split, metric) for split in measures for metric in _ACCURACY]
    names = list(next(iter(measures.values())))
    table = {name: [measures[split][name][metric] for split, metric in columns] for name in names}
    header, rows = ["", *(f"{split} {name}" for split, name in columns)], measure_rows(table)
    published = las_of(options.treebank.name) if "test" in measures else {}
    if published.keys() & table.keys():
        header.append("the paper: test LAS")
        for name, row in zip(table, rows, strict=True):
            row.append(published.get(name, "-"))
    publish(
        options,
        title=f"{title} on {options.treebank.name}",
        content={"rows": to_rows(measures, _ACCURACY)},
        tables=[markdown(header, rows)],
        notes=[
            spread_note(options),
            f"{SIGNIFICANCE} {note}".rstrip(),
            *seed_notes(measures, _ACCURACY),
        ],
        draw=lambda: dots(
            {
                f"{split} {metric}": {name: {name: measures[split][name][metric]} for name in names}
                for split, metric in columns
            },
            xlabel="%",
        ),
    )
