"""Sentences a second of each model, parsing on GPU and CPU and in training, and greedy trees."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

import torch

from benchmarks.timing import median_ms
from experiments.errors import ExperimentError
from experiments.host_trees import greedy_share, parse_with_host_trees
from experiments.options import Options, start
from experiments.plots import Bar, bars
from experiments.published import speed_table
from experiments.reports import publish
from experiments.runs import Run
from experiments.systems import CRF, CRF2O, LOC, LOC_MST, System
from experiments.tables import markdown
from experiments.treebanks import shared_split
from treecrf.parser import Parser, load, set_up
from treecrf.parser.device import choose_device
from treecrf.parser.training.loop import Epoch, train
from treecrf.treebank import Sentence, read_conllu

SYSTEMS = (LOC_MST, LOC, CRF, CRF2O)
MARGINAL = (CRF, CRF2O)
HOST_TREES = "GPU, inside-outside on the CPU"
TRAINING = "training"
_EPOCHS = 3
# Heads that may differ between two ways of computing the same marginals, which round differently.
MAY_DIFFER = 0.002


@dataclass(frozen=True, slots=True)
class Speed:
    """Sentences and words a second of a system on a device."""

    system: str
    where: str
    sentences_per_second: float
    words_per_second: float


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """Timer of parsers on the same sentences."""

    sentences: Sequence[Sentence]
    seconds: float

    def time(
        self,
        system: System,
        where: str,
        parser: Parser,
        parse: Callable[[Sequence[Sentence]], object],
    ) -> Speed:
        """Speed of the median of several passes."""
        sentences = self.sentences
        taken = median_ms(lambda: parse(sentences), parser.device, seconds=self.seconds) / 1000
        words = sum(map(len, sentences))
        speed = Speed(system.name, where, len(sentences) / taken, words / taken)
        print(f"{system.name}, {where}: {speed.sentences_per_second:,.0f} sentences/s", flush=True)
        return speed


def run(options: Options) -> None:
    """Train the systems, and time how they parse."""
    if len(options.seeds) > 1:
        raise ExperimentError("speed is measured with one seed: give --seeds one number")
    (seed,) = options.seeds
    split = shared_split(options.treebanks)
    runs = {system: options.plan(system, seed) for system in SYSTEMS}
    options.finish(runs.values(), models=True)
    sentences = list(read_conllu(options.treebank.splits[split].path))
    folders = {system: options.store.model_folder(run) for system, run in runs.items()}
    speeds: list[Speed] = []
    chosen = choose_device(options.device)
    places = {"GPU": chosen} if chosen.type == "cuda" else {}
    places["CPU"] = torch.device("cpu")
    for where, device in places.items():
        watch = Stopwatch(sentences, options.own.seconds)
        for system in SYSTEMS:
            parser = load(folders[system], device=str(device))
            # No probabilities: `parse_with_host_trees` computes none either.
            parse = partial(parser.parse_tokens, probs=False)
            speeds.append(watch.time(system, where, parser, parse))
            if where == "GPU" and system in MARGINAL:
                check_host_trees(system, parser, sentences)
                host_trees = partial(parse_with_host_trees, parser)
                speeds.append(watch.time(system, HOST_TREES, parser, host_trees))
    greedy = {
        system.name: greedy_share(load(folders[system], device=options.device), sentences)
        for system in MARGINAL
    }
    for system, planned in runs.items():
        speeds.append(time_training(system, planned, options.device))
    columns = list(dict.fromkeys(speed.where for speed in speeds))
    figures = {(speed.system, speed.where): speed.sentences_per_second for speed in speeds}
    rows = []
    for system in SYSTEMS:
        found = [figures.get((system.name, where)) for where in columns]
        share = f"{greedy[system.name]:.2%}" if system.name in greedy else "-"
        rows.append([system.name, *("-" if f is None else f"{f:,.0f}" for f in found), share])
    publish(
        options,
        title=f"Parsing speed on {options.treebank.name}",
        content={
            "split": split,
            "sentences": len(sentences),
            "threads": torch.get_num_threads(),
            "rows": [asdict(speed) for speed in speeds],
            "greedy_share": greedy,
        },
        tables=[markdown(["", *columns, "greedy"], rows), speed_table()],
        notes=[
            f"Sentences a second on {split} ({len(sentences):,} sentences), from words to trees "
            "without probabilities, the median of several passes. "
            f"Threads on the CPU: {torch.get_num_threads()}.",
            f"Training: the last of {_EPOCHS} epochs on {chosen}, nothing beside it, dev not "
            "scored.",
            "Greedy: the share of sentences whose most probable heads, each taken by itself, are a "
            "projective tree, so that no chart is decoded.",
        ],
        draw=lambda: bars(
            {
                where: [
                    Bar(speed.system, speed.system, speed.sentences_per_second)
                    for speed in speeds
                    if speed.where == where
                ]
                for where in columns
            },
            xlabel="sentences a second",
        ),
    )


def time_training(system: System, planned: Run, device: str) -> Speed:
    """Speed of an epoch of training; the first ones compile kernels and are not counted."""
    config = planned.config.changed({"epochs": _EPOCHS, "patience": _EPOCHS})
    embeddings = planned.embeddings and planned.embeddings.path
    treebank = planned.treebank
    with tempfile.TemporaryDirectory() as folder:
        training = set_up(
            Path(folder),
            config,
            train=[treebank.train.path],
            dev=treebank.dev.path,
            embeddings=embeddings,
            device=device,
        )
        sentences = training.prepared.sentences
        last: list[Epoch] = []
        training.on_epoch = last.append
        train(training, Path(folder))
    rate = last[-1].sentences_per_second
    print(f"{system.name}, {TRAINING}: {rate:,.0f} sentences/s", flush=True)
    return Speed(system.name, TRAINING, rate, rate * fmean(map(len, sentences)))


def check_host_trees(system: System, parser: Parser, sentences: Sequence[Sentence]) -> None:
    """Require the same trees, up to rounding, before anything is timed."""
    ours = [head for tree in parser.parse_tokens(sentences, probs=False) for head in tree.heads]
    theirs = [head for tree in parse_with_host_trees(parser, sentences) for head in tree.heads]
    differing = sum(head != other for head, other in zip(ours, theirs, strict=True))
    if differing > MAY_DIFFER * len(ours):
        raise ExperimentError(
            f"{system.name}: on the CPU {differing:,} of {len(ours):,} heads are others than on "
            f"{parser.device}, so nothing is timed; this is a bug"
        )


def _extend(parser: argparse.ArgumentParser) -> None:
    passes = "how long to repeat what is timed, at least three times (default: 5)"
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help=passes)


def main(arguments: Sequence[str] | None = None) -> int:
    return start("speed", __doc__, run, arguments=arguments, extend=_extend)


if __name__ == "__main__":
    sys.exit(main())
