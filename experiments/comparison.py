"""Several systems on one treebank: trained, scored on every part, and compared with Loc."""

from collections.abc import Sequence
from typing import Any

from experiments.measures import Measure, measure
from experiments.options import Options
from experiments.systems import LOC, System
from experiments.treebanks import Split
from treecrf.parser.config import Config

__all__ = ["Measures", "compare_systems", "spread_note", "to_rows"]

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
        (system, seed): options.run(system, seed, base=base) for system in systems for seed in seeds
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
