"""Gain from gold part-of-speech tags: parsers that read them beside parsers that do not."""

import sys
from collections.abc import Sequence

from experiments.comparison import Measures, compare_systems, count_systems, publish_accuracy
from experiments.errors import ExperimentError
from experiments.options import Options, start
from experiments.systems import CRF, CRF2O, LOC
from experiments.treebanks import Split

WITH_TAGS = "{}, gold UPOS"


def run(options: Options) -> None:
    """Train the systems without and with the universal tags of the treebank as a second input."""
    if options.base.tags != "none":
        raise ExperimentError("tags is what this experiment varies; it cannot be set for all")
    systems = (LOC, CRF, CRF2O)
    with_tags = options.base.changed({"tags": "upos"})
    measures = compare_systems(count_systems(options, systems))
    tagged = compare_systems(count_systems(options, systems, base=with_tags))
    joined: dict[Split, Measures] = {
        split: table | {WITH_TAGS.format(name): row for name, row in tagged[split].items()}
        for split, table in measures.items()
    }
    publish_accuracy(options, joined, title="Gold tags", note="With tags, that is Loc with tags.")


def main(arguments: Sequence[str] | None = None) -> int:
    return start("gold_tags", __doc__, run, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
