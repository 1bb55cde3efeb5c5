"""Reliability diagram: accuracy of heads against their predicted probability.

    python -m experiments.english.reliability DEV.conllu --out docs/images/reliability

writes `reliability.svg` and `reliability.png`, and prints the expected calibration error.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments import plots
from experiments.english.command import run_command
from treecrf.parser import load
from treecrf.treebank import Sentence, read_conllu
from treecrf.treebank.metrics.calibration import (
    Bin,
    expected_calibration_error,
    head_outcomes,
    reliability,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw", "main"]


def draw(bins: Sequence[Bin]) -> "Figure":
    """Draw accuracy over confidence, a dot for each bin, larger for more words."""
    with plots.style():
        figure = plots.new_figure(4.2, 4.2)
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--")
        total = max(sum(bin.count for bin in bins), 1)
        places = [bin.confidence for bin in bins], [bin.accuracy for bin in bins]
        axes.plot(*places, color="#0072B2")
        sizes = [12 + 400 * bin.count / total for bin in bins]
        axes.scatter(*places, s=sizes, color="#0072B2", alpha=0.6, linewidths=0)
        axes.set(
            xlabel="probability of a head",
            ylabel="share of them that is right",
            xlim=(0, 1.03),
            ylim=(0, 1.03),
        )
        axes.set_title(f"expected calibration error {expected_calibration_error(bins):.4f}")
        axes.set_aspect("equal")
    return figure


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dev", type=Path, metavar="DEV.conllu", help="a treebank with gold trees")
    parser.add_argument("--model", metavar="DIR", help="without it, the English model")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="without suffix")
    parser.add_argument("--device", default="auto")


def _work(given: argparse.Namespace) -> None:
    plots.style()  # without matplotlib, an error now and not after all has been parsed
    model = load(given.model, device=given.device)
    gold = list(read_conllu(given.dev))
    bare = [Sentence(sentence.forms) for sentence in gold]
    bins = reliability(head_outcomes(gold, model.parse_stream(bare)))
    plots.save(draw(bins), given.out)
    error = expected_calibration_error(bins)
    print(f"expected calibration error {error:.4f} over {sum(b.count for b in bins):,} words")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("reliability", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
