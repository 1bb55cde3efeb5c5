"""Beyond single arcs: adjacent siblings (SIB), and sentences right as a whole (UCM, LCM)."""

import sys
from collections.abc import Sequence

from experiments.comparison import (
    compare_systems,
    count_systems,
    seed_notes,
    spread_note,
    to_rows,
)
from experiments.options import Options, start
from experiments.plots import dots
from experiments.published import subtree_tables
from experiments.reports import SIGNIFICANCE, publish
from experiments.systems import CRF, CRF2O, LOC
from experiments.tables import markdown, measure_rows
from experiments.treebanks import shared_split

METRICS = {"SIB P": "SIB P", "SIB R": "SIB R", "SIB": "SIB F", "UCM": "UCM", "LCM": "LCM"}
PLOTTED = ("SIB", "UCM", "LCM")


def run(options: Options) -> None:
    """Train the systems and publish their scores of subtrees and whole trees."""
    systems = (LOC, CRF, CRF2O)
    measures = compare_systems(count_systems(options, systems))
    tables = []
    for split, by_system in measures.items():
        rows = {
            system.name: [by_system[system.name].get(metric) for metric in METRICS]
            for system in systems
        }
        tables.append(markdown([split, *METRICS.values()], measure_rows(rows)))
    shown = measures[shared_split(options.treebanks)]
    notes = [
        "SIB: unlabelled adjacent siblings; UCM, LCM: sentences with every head right, and with "
        "every relation as well.",
        spread_note(options),
        f"{SIGNIFICANCE} SIB P and R carry no marks.",
        *seed_notes(measures, list(METRICS)),
    ]
    if any("SIB" not in by_metric for by_metric in shown.values()):
        notes.append("There is no SIB for partial references.")
    publish(
        options,
        title=f"Subtrees and whole trees on {options.treebank.name}",
        content={"rows": to_rows(measures, list(METRICS))},
        tables=[*tables, *subtree_tables(list(METRICS.values()))],
        notes=notes,
        draw=lambda: dots(
            {
                METRICS[metric]: {
                    name: {name: by_metric[metric]} for name, by_metric in shown.items()
                }
                for metric in PLOTTED
                if all(metric in by_metric for by_metric in shown.values())
            },
            xlabel="%",
        ),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    return start("subtrees", __doc__, run, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
