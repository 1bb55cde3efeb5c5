"""Learning from less: LAS against the share of dependencies, or of sentences, that is kept."""

import argparse
import sys
from collections.abc import Sequence
from typing import get_args

from experiments.comparison import spread_note
from experiments.errors import ExperimentError
from experiments.measures import Measure, measure, paired_note, strict_note
from experiments.options import Options, start
from experiments.plots import Curve, curves
from experiments.reports import SIGNIFICANCE, publish
from experiments.runs import Mask, Run, Unit
from experiments.systems import CRF2O, LOC, System
from experiments.tables import cell, markdown
from experiments.treebanks import shared_split

SYSTEMS = (LOC, CRF2O)
TITLES: dict[Unit, str] = {
    "dependencies": "a share of the dependencies of all sentences",
    "sentences": "a share of the sentences",
}

LasByShare = dict[tuple[Unit, float, System], Measure]


def run(options: Options) -> None:
    """Train on shares of the data and publish the scores."""
    shares = read_shares(options.own.shares)
    split = shared_split(options.treebanks)
    keys = [(unit, keep, s) for unit in get_args(Unit) for keep in shares for s in SYSTEMS]
    runs = {key: [_run(options, *key, seed) for seed in options.seeds] for key in keys}
    results = options.finish(run for by_seed in runs.values() for run in by_seed)
    counts = {
        key: [results[run].parses[split, key[2].decoder] for run in by_seed]
        for key, by_seed in runs.items()
    }
    las: LasByShare = {}
    for unit, keep, system in keys:
        baseline = None if system is LOC else counts[unit, keep, LOC]
        las[unit, keep, system] = measure(counts[unit, keep, system], baseline)["LAS"]
    notes = [
        f"LAS on {split}. {spread_note(options)}",
        SIGNIFICANCE,
        "Which dependencies or sentences are kept follows from the seed; what is kept at one share "
        "is kept at every larger one. The share of dependencies is that of all sentences together, "
        "to the nearest dependency.",
    ]
    named = [(f"{s.name} {keep:.0%} {unit}", item) for (unit, keep, s), item in las.items()]
    notes += [*strict_note(named), *paired_note(named)]
    if options.own.same_steps:
        notes.append("With fewer sentences there are more epochs: the number of steps is the same.")
    publish(
        options,
        title=f"Partial annotation on {options.treebank.name}",
        content={
            "split": split,
            "same_steps": options.own.same_steps,
            "rows": [
                {"unit": unit, "keep": keep, "system": system.name} | item.to_dict()
                for (unit, keep, system), item in las.items()
            ],
        },
        tables=[_table(las, shares)],
        notes=notes,
        draw=lambda: curves(
            {TITLES[unit]: _curves(las, unit, shares) for unit in get_args(Unit)},
            xlabel="kept, %",
            ylabel=f"LAS on {options.treebank.name} {split}, %",
            markers=True,
        ),
    )


def _run(options: Options, unit: Unit, keep: float, system: System, seed: int) -> Run:
    base = options.base
    if keep == 1:
        return options.plan(system, seed)  # all of it is the same, whatever the unit
    if unit == "sentences" and options.own.same_steps:
        epochs, patience = (round(number / keep) for number in (base.epochs, base.patience))
        base = base.changed({"epochs": epochs, "patience": patience})
    return options.plan(system, seed, base=base, mask=Mask(unit, keep, seed))


def _table(las: LasByShare, shares: Sequence[float]) -> str:
    columns = ["kept"]
    for unit in get_args(Unit):
        columns += [f"{unit}: {system.name}" for system in SYSTEMS] + ["difference"]
    rows = []
    for keep in shares:
        row = [f"{keep:.0%}"]
        for unit in get_args(Unit):
            row += [cell(las[unit, keep, system]) for system in SYSTEMS]
            row.append(f"{las[unit, keep, CRF2O].mean - las[unit, keep, LOC].mean:+.2f}")
        rows.append(row)
    return markdown(columns, rows)


def _curves(las: LasByShare, unit: Unit, shares: Sequence[float]) -> list[Curve]:
    percent = [100 * keep for keep in shares]
    curves = []
    for system in SYSTEMS:
        points = [las[unit, keep, system] for keep in shares]
        spread = [point.spread or 0.0 for point in points]
        curves.append(Curve(system.name, percent, [point.mean for point in points], spread))
    return curves


def read_shares(text: str) -> list[float]:
    """Shares between 0 and 1 from percentages with commas between."""
    try:
        shares = sorted({float(share) / 100 for share in text.split(",")})
    except ValueError:
        raise ExperimentError(f"--shares is {text!r}; write percentages, such as 10,50") from None
    if not all(0 < share <= 1 for share in shares):
        raise ExperimentError(f"--shares is {text!r}; each is above 0 and at most 100")
    return shares


def _extend(parser: argparse.ArgumentParser) -> None:
    kept = "percentages of the training data to keep (default: 10,30,50,70,100)"
    parser.add_argument("--shares", default="10,30,50,70,100", metavar="10,30", help=kept)
    steps = "train on a share of the sentences for more epochs, so that the steps are the same"
    parser.add_argument("--same-steps", action="store_true", help=steps)


def main(arguments: Sequence[str] | None = None) -> int:
    return start("partial", __doc__, run, arguments=arguments, extend=_extend)


if __name__ == "__main__":
    sys.exit(main())
