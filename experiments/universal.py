"""The paper's table of Universal Dependencies: LAS on several treebanks and their average."""

import sys
from collections.abc import Sequence

from experiments.by_treebank import publish_las
from experiments.options import Options, start
from experiments.systems import CRF, CRF2O, LOC, LOC_MST

SYSTEMS = (LOC_MST, LOC, CRF, CRF2O)


def run(options: Options) -> None:
    """Train the systems on every treebank and publish their scores."""
    rows = {system.name: (system, options.base) for system in SYSTEMS}
    publish_las(options, rows, baseline=LOC.name, title="LAS on Universal Dependencies")


def main(arguments: Sequence[str] | None = None) -> int:
    return start("universal", __doc__, run, arguments=arguments, several=True)


if __name__ == "__main__":
    sys.exit(main())
