"""Gain from gold part-of-speech tags: parsers that read them beside parsers that do not."""

import argparse
import sys
from collections.abc import Sequence
from itertools import product

from experiments.comparison import Measures, compare_systems, count_systems, publish_accuracy
from experiments.errors import ExperimentError
from experiments.options import Options, start
from experiments.systems import CRF, CRF2O, LOC
from experiments.treebanks import Split

WITH_TAGS = "{}, gold UPOS"


def run(options: Options) -> None:
    """Train the systems with characters, and with the treebank's universal tags instead of them."""
    if options.base.tags != "none":
        raise ExperimentError("tags is what this experiment varies; it cannot be set for all")
    systems = (LOC, CRF, CRF2O)
    with_tags = options.base.changed(
        {"tags": "upos"} | ({} if options.own.with_characters else {"char_size": 0})
    )
    bases = (options.base, with_tags)
    options.finish(  # all of them side by side, before either half is counted
        options.plan(system, seed, base=base)
        for base, system, seed in product(bases, systems, options.seeds)
    )
    measures, tagged = (
        compare_systems(count_systems(options, systems, base=base)) for base in bases
    )
    joined: dict[Split, Measures] = {
        split: table | {WITH_TAGS.format(name): row for name, row in tagged[split].items()}
        for split, table in measures.items()
    }
    publish_accuracy(options, joined, title="Gold tags", note="With tags, that is Loc with tags.")


def _extend(parser: argparse.ArgumentParser) -> None:
    both = "read characters beside the tags; in the paper tags replace them"
    parser.add_argument("--with-characters", action="store_true", help=both)


def main(arguments: Sequence[str] | None = None) -> int:
    return start("gold_tags", __doc__, run, arguments=arguments, extend=_extend)


if __name__ == "__main__":
    sys.exit(main())
