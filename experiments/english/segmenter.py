"""The segmenter of the English model, trained on the whole text of a treebank.

    python -m experiments.english.segmenter TRAIN.conllu DEV.conllu FOLDER

`treecrf train --segmenter` takes the sentences that the parser learns from. Where some of those are
held out their neighbours do not follow one another as in the text, and that is what is learnt here.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.english.command import run_command
from treecrf.cli.console import print_segmenter_epoch
from treecrf.parser.folder_writer import writing_to
from treecrf.segment import SegmenterConfig, train_segmenter
from treecrf.treebank import read_conllu

__all__ = ["main"]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", type=Path, metavar="TRAIN.conllu")
    parser.add_argument("dev", type=Path, metavar="DEV.conllu")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the model it belongs to")
    parser.add_argument("--epochs", type=int, default=SegmenterConfig().epochs)


def _work(given: argparse.Namespace) -> None:
    train, dev = list(read_conllu(given.train)), list(read_conllu(given.dev))
    config = SegmenterConfig(epochs=given.epochs)
    with writing_to(given.folder):
        train_segmenter(train, dev, config, on_epoch=print_segmenter_epoch).save(given.folder)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("segmenter", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
