"""The paper's main table: UAS and LAS of six systems on dev and test, and what differs from Loc."""

import sys
from collections.abc import Sequence

from experiments.comparison import compare_systems, spread_note, to_rows
from experiments.options import Options, start
from experiments.plots import dots
from experiments.reports import SIGNIFICANCE, publish
from experiments.systems import SYSTEMS
from experiments.tables import markdown, measure_rows

METRICS = ("UAS", "LAS")


def run(options: Options) -> None:
    """Train the systems and say how good they are."""
    measures = compare_systems(options, SYSTEMS)
    columns = [(split, metric) for split in measures for metric in METRICS]
    table = {
        system.name: [measures[split][system.name][metric] for split, metric in columns]
        for system in SYSTEMS
    }
    publish(
        options,
        title=f"Main results on {options.treebank.name}",
        content={"rows": to_rows(measures, METRICS)},
        tables=[
            markdown(["", *(f"{split} {name}" for split, name in columns)], measure_rows(table))
        ],
        notes=[spread_note(options), SIGNIFICANCE],
        draw=lambda: dots(
            {
                f"{split} {metric}": {
                    name: {name: by_metric[metric]} for name, by_metric in measures[split].items()
                }
                for split, metric in columns
            },
            xlabel="%",
        ),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    return start("main_table", __doc__, run, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
