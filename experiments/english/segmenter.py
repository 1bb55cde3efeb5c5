"""The segmenter of the English model, trained on the whole text of a treebank.

    python -m experiments.english.segmenter TRAIN.conllu DEV.conllu FOLDER

`treecrf train --segmenter` takes the sentences that the parser learns from. Where some of those are
held out their neighbours do not follow one another as in the text, and that is what is learnt here.
The treebank has few handles, hashtags, paths, lists and the like, so made-up documents with them
are added to it, and some of the text is put into capitals or small letters.

With several seeds, each is trained in a process of its own. The segmenter is an ensemble of those
that are best on the dev part, as many as `--members`, or of fewer if that is better there.
"""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.english.command import run_command
from experiments.english.made_up import made_up_documents
from treecrf.cli.console import print_segmenter_epoch
from treecrf.parser.folder_writer import writing_to
from treecrf.segment import Segmenter, SegmenterConfig, train_segmenter
from treecrf.segment.training.loop import Gold, SegmentationScores
from treecrf.segment.training.raw_text import raw_sentences, raw_text
from treecrf.treebank import Sentence, read_conllu

__all__ = ["main"]

_DEFAULTS = SegmenterConfig()


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", type=Path, metavar="TRAIN.conllu")
    parser.add_argument("dev", type=Path, metavar="DEV.conllu")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the model it belongs to")
    parser.add_argument("--epochs", type=int, default=_DEFAULTS.epochs)
    parser.add_argument("--size", type=int, default=_DEFAULTS.lstm_size, help="units of a layer")
    parser.add_argument("--dropout", type=float, default=_DEFAULTS.dropout)
    parser.add_argument("--learning-rate", type=float, default=_DEFAULTS.learning_rate)
    parser.add_argument("--batch", type=int, default=_DEFAULTS.batch_windows, help="windows")
    parser.add_argument("--letter-case", type=float, default=0.06, help="share of changed text")
    parser.add_argument("--lost-stops", type=float, default=0.04, help="share of sentences")
    parser.add_argument("--made-up", type=int, default=600, metavar="DOCUMENTS")
    parser.add_argument("--seeds", type=int, nargs="+", default=[_DEFAULTS.seed])
    parser.add_argument("--members", type=int, default=3, help="networks that may be kept")
    parser.add_argument("--start", type=Path, metavar="FOLDER", help="a segmenter to go on from")
    parser.add_argument("--device", default="cpu")


def _work(given: argparse.Namespace) -> None:
    dev = list(read_conllu(given.dev))
    with writing_to(given.folder):
        if len(given.seeds) == 1:
            _train(given, given.seeds[0]).save(given.folder, half=True)
            return
        with TemporaryDirectory() as scratch:
            folders = [Path(scratch) / f"seed-{seed}" for seed in given.seeds]
            spawn = get_context("spawn")  # CUDA does not survive a fork
            with ProcessPoolExecutor(len(folders), mp_context=spawn) as pool:
                list(pool.map(_train_into, [given] * len(folders), given.seeds, folders))
            trained = [Segmenter.load(folder) for folder in folders]
        scores = {seed: _score(one, dev) for seed, one in zip(given.seeds, trained, strict=True)}
        for seed, score in scores.items():
            print(f"seed {seed}: {score}")
        trained.sort(key=lambda one: -scores[one.config.seed].mean)
        best, best_score = trained[0], scores[trained[0].config.seed]
        for members in range(2, min(given.members, len(trained)) + 1):
            ensemble = Segmenter.ensemble(trained[:members])
            score = _score(ensemble, dev)
            print(f"the best {members}: {score}")
            if score.mean > best_score.mean:
                best, best_score = ensemble, score
        best.save(given.folder, half=True)


def _train(given: argparse.Namespace, seed: int) -> Segmenter:
    train, dev = list(read_conllu(given.train)), list(read_conllu(given.dev))
    start = None if given.start is None else Segmenter.load(given.start)
    config = SegmenterConfig() if start is None else start.config
    changes = {
        "epochs": given.epochs,
        "patience": given.epochs,
        "dropout": given.dropout,
        "learning_rate": given.learning_rate,
        "batch_windows": given.batch,
        "letter_case": given.letter_case,
        "lost_stops": given.lost_stops,
        "seed": seed,
    }
    if start is None:
        changes["lstm_size"] = given.size
    # The same documents for all seeds, so that all have one alphabet.
    train += made_up_documents(train, given.made_up, seed=1)
    return train_segmenter(
        train,
        dev,
        config.changed(changes),
        start=start,
        device=given.device,
        on_epoch=print_segmenter_epoch,
    )


def _train_into(given: argparse.Namespace, seed: int, folder: Path) -> None:
    folder.mkdir()
    _train(given, seed).save(folder)


def _score(segmenter: Segmenter, dev: Sequence[Sentence]) -> SegmentationScores:
    text = raw_text(raw_sentences(dev))
    return Gold([s for s in dev if len(s)]).evaluate(segmenter.segment(text))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("segmenter", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
