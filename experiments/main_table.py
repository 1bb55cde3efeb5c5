"""The paper's main table: UAS and LAS of six systems on dev and test, compared with Loc."""

import sys
from collections.abc import Sequence

from experiments.comparison import compare_systems, compare_two, count_systems, publish_accuracy
from experiments.options import Options, start
from experiments.systems import CRF, CRF2O, SYSTEMS


def run(options: Options) -> None:
    """Train the systems and publish their scores."""
    counts = count_systems(options, SYSTEMS)
    note = compare_two(counts, CRF2O, CRF)
    publish_accuracy(options, compare_systems(counts), title="Main results", note=note)


def main(arguments: Sequence[str] | None = None) -> int:
    return start("main_table", __doc__, run, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
