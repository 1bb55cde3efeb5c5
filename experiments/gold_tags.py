"""What gold part-of-speech tags are worth: parsers that read them beside parsers that do not."""

import sys
from collections.abc import Sequence

from experiments.comparison import Measures, compare_systems, spread_note, to_rows
from experiments.errors import ExperimentError
from experiments.options import Options, start
from experiments.plots import dots
from experiments.reports import SIGNIFICANCE, publish
from experiments.systems import CRF, CRF2O, LOC
from experiments.tables import markdown, measure_rows
from experiments.treebanks import Split

METRICS = ("UAS", "LAS")
WITH_TAGS = "{}, gold UPOS"


def run(options: Options) -> None:
    """Train the systems without and with the universal tags of the treebank as a second input."""
    if options.base.tags != "none":
        raise ExperimentError("tags is what this experiment varies; it cannot be set for all")
    systems = (LOC, CRF, CRF2O)
    measures = compare_systems(options, systems)
    tagged = compare_systems(options, systems, base=options.base.changed({"tags": "upos"}))
    joined: dict[Split, Measures] = {
        split: table | {WITH_TAGS.format(name): row for name, row in tagged[split].items()}
        for split, table in measures.items()
    }
    columns = [(split, metric) for split in joined for metric in METRICS]
    names = list(next(iter(joined.values())))
    table = {name: [joined[split][name][metric] for split, metric in columns] for name in names}
    publish(
        options,
        title=f"Gold tags on {options.treebank.name}",
        content={"rows": to_rows(joined, METRICS)},
        tables=[
            markdown(["", *(f"{split} {name}" for split, name in columns)], measure_rows(table))
        ],
        notes=[spread_note(options), f"{SIGNIFICANCE} With tags, that is Loc with tags."],
        draw=lambda: dots(
            {
                f"{split} {metric}": {name: {name: joined[split][name][metric]} for name in names}
                for split, metric in columns
            },
            xlabel="%",
        ),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    return start("gold_tags", __doc__, run, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
