"""The third order beside the others: accuracy, where it comes from, and what it costs."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from benchmarks.timing import median_ms
from experiments.breakdown import GROUPS, Breakdown, break_down
from experiments.comparison import (
    SystemCounts,
    compare_systems,
    compare_two,
    of_seeds,
    seed_notes,
    spread_note,
    to_rows,
)
from experiments.measures import Measure
from experiments.options import Options, start
from experiments.plots import dots
from experiments.reports import SIGNIFICANCE, publish
from experiments.runs import Run
from experiments.systems import CRF, CRF2O, CRF3O, CRF3O_GRANDPARENTS, LOC, System
from experiments.tables import markdown, measure_rows
from experiments.treebanks import shared_split
from treecrf.parser import load
from treecrf.treebank import Sentence, read_conllu

SYSTEMS = (LOC, CRF, CRF2O, CRF3O_GRANDPARENTS, CRF3O)
METRICS = ("UAS", "LAS", "LCM")


@dataclass(frozen=True, slots=True)
class Cost:
    """Sentences a second, in training and in parsing."""

    training: float
    parsing: float


def run(options: Options) -> None:
    """Train the systems; publish their scores, right heads by group of words, and speeds."""
    seeds = options.seeds
    runs = {(system, seed): options.plan(system, seed) for system in SYSTEMS for seed in seeds}
    results = options.finish(runs.values(), models=True)
    counts: SystemCounts = {
        split: {
            system: [results[runs[system, seed]].parses[split, system.decoder] for seed in seeds]
            for system in SYSTEMS
        }
        for split in options.treebank.splits
    }
    measures = compare_systems(counts)
    split = shared_split(options.treebanks)
    gold = list(read_conllu(options.treebank.splits[split].path))
    groups: dict[str, dict[str, Measure]] = {}
    costs: dict[str, Cost] = {}
    for system in SYSTEMS:
        its_runs = [runs[system, seed] for seed in seeds]
        groups[system.name] = _accuracies([_parse(options, item, gold) for item in its_runs])
        costs[system.name] = _cost(options, system, its_runs, gold)
    present = [group for group in GROUPS if all(group in table for table in groups.values())]
    tables = [
        markdown(
            [part, *METRICS],
            measure_rows({name: [table[name][metric] for metric in METRICS] for name in groups}),
        )
        for part, table in measures.items()
    ]
    tables += [
        markdown(
            [f"right heads, {split}", *(system.name for system in SYSTEMS)],
            _by_group(groups, present),
        ),
        markdown(
            ["sentences a second", "training", "parsing"],
            [
                [name, f"{cost.training:,.0f}", f"{cost.parsing:,.0f}"]
                for name, cost in costs.items()
            ],
        ),
    ]
    publish(
        options,
        title=f"The third order on {options.treebank.name}",
        content={
            "split": split,
            "rows": to_rows(measures, METRICS),
            "groups": _group_rows(groups, present),
            "speed": [
                {"system": name, "training": cost.training, "parsing": cost.parsing}
                for name, cost in costs.items()
            ],
        },
        tables=tables,
        notes=[
            spread_note(options),
            f"{SIGNIFICANCE} {compare_two(counts, CRF3O, CRF2O)}",
            *seed_notes(measures, METRICS),
            "Right heads in percent, by the gold tree: the length of the arc, the depth of the "
            "word (1: it hangs on the root symbol), words with the relation conj, and nmod or obl "
            f"with a child that is case; {of_seeds(options)}.",
            "Speed: the median of all epochs in training, scoring of dev not counted, and of "
            f"several passes over {split} in parsing, without probabilities; the first seed.",
        ],
        draw=lambda: dots(
            {
                metric: {name: {name: measures[split][name][metric]} for name in groups}
                for metric in METRICS
            },
            xlabel="%",
        ),
    )


def _parse(options: Options, run: Run, gold: Sequence[Sentence]) -> Breakdown:
    """Right heads of a trained model by group."""
    parser = load(options.store.model_folder(run), device=options.device)
    return break_down(gold, parser.parse_tokens(gold, probs=False), punct=options.punct)


def _accuracies(by_seed: Sequence[Breakdown]) -> dict[str, Measure]:
    """Accuracy of each group that has words."""
    found: dict[str, Measure] = {}
    for group in GROUPS:
        values = [breakdown.accuracy(group) for breakdown in by_seed]
        known = tuple(value for value in values if value is not None)
        if len(known) == len(values):
            found[group] = Measure(known)
    return found


def _cost(options: Options, system: System, runs: Sequence[Run], gold: Sequence[Sentence]) -> Cost:
    """Speed of the first seed."""
    record = options.store.record(runs[0])
    assert record is not None
    parser = load(options.store.model_folder(runs[0]), device=options.device)
    taken = median_ms(
        lambda: parser.parse_tokens(gold, probs=False),
        parser.device,
        seconds=options.own.seconds,
    )
    cost = Cost(median(record["epochs"]["sentences_per_second"]), 1000 * len(gold) / taken)
    print(f"{system.name}: parses {cost.parsing:,.0f} sentences/s", flush=True)
    return cost


def _by_group(
    groups: Mapping[str, Mapping[str, Measure]], present: Sequence[str]
) -> list[list[str]]:
    """A row for each group; the best system of it is bold."""
    rows = []
    for group in present:
        best = max(round(fmean(table[group].values), 2) for table in groups.values())
        cells = [f"{table[group].mean:.2f}" for table in groups.values()]
        rows.append([group, *(f"**{cell}**" if float(cell) == best else cell for cell in cells)])
    return rows


def _group_rows(
    groups: Mapping[str, Mapping[str, Measure]], present: Sequence[str]
) -> list[dict[str, Any]]:
    """A row of JSON for each system and group."""
    return [
        {"system": name, "group": group} | table[group].to_dict()
        for name, table in groups.items()
        for group in present
    ]


def _extend(parser: argparse.ArgumentParser) -> None:
    passes = "how long to repeat what is timed, at least three times (default: 5)"
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help=passes)


def main(arguments: Sequence[str] | None = None) -> int:
    return start("third_order", __doc__, run, arguments=arguments, extend=_extend)


if __name__ == "__main__":
    sys.exit(main())
