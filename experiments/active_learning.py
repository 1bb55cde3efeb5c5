"""Simulated annotation: LAS against the number of heads annotated, by what is asked for next."""

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import get_args

from experiments.comparison import spread_note
from experiments.errors import ExperimentError
from experiments.measures import Measure, measure
from experiments.options import Options, start
from experiments.plots import Curve, curves
from experiments.reports import publish
from experiments.runs import Run
from experiments.selection import Pool, Strategy, count_heads
from experiments.store import Result
from experiments.systems import CRF2O
from experiments.tables import cell, markdown
from experiments.treebanks import DataFile, Split, shared_split
from treecrf.parser import load
from treecrf.treebank import read_conllu

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
BASELINE: Strategy = "random sentences"


@dataclass(frozen=True, slots=True)
class Point:
    """A round: the number of annotated heads, and the result of the parser trained on them."""

    heads: float
    las: Measure


def run(options: Options) -> None:
    """Annotate, train, select more to annotate, and report the scores."""
    own = options.own
    if min(own.start, own.heads, own.rounds, 1 if own.steps is None else own.steps) < 1:
        raise ExperimentError("--start, --heads, --rounds and --steps are 1 or more")
    split = shared_split(options.treebanks)
    pool = Pool(options.treebank.train.path)
    runs = _first_round(options, pool)
    _check_size(options, pool, runs)
    rounds = [runs]
    results = options.finish(runs.values(), models=True)
    for number in range(1, own.rounds + 1):
        runs = {
            key: _next_run(options, pool, before, strategy=key[0], number=number)
            for key, before in runs.items()
        }
        results |= options.finish(runs.values(), models=number < own.rounds)
        rounds.append(runs)
    points = {
        strategy: [_point(each, results, strategy=strategy, split=split) for each in rounds]
        for strategy in STRATEGIES
    }
    publish(
        options,
        title=f"Active learning on {options.treebank.name}",
        content={
            "split": split,
            "rows": [
                {"strategy": strategy, "round": number, "heads": point.heads} | point.las.to_dict()
                for strategy, by_round in points.items()
                for number, point in enumerate(by_round)
            ],
            "heads_for_the_last_of_random_sentences": {
                strategy: heads_for(points[strategy], points[BASELINE][-1].las.mean)
                for strategy in STRATEGIES
            },
        },
        tables=[_table(points)],
        notes=[
            f"LAS on {split} by round, each with {own.heads:,} heads more. {spread_note(options)}",
            "The first column has the heads of random sentences; the plot and the JSON file have "
            "those of each strategy.",
            f"The last row: how many heads are enough for the {points[BASELINE][-1].las.mean:.2f} "
            "that random sentences end with, read from the line between two rounds.",
            "Each round starts from the model of the round before.",
            *_length_note(options),
        ],
        draw=lambda: curves(
            {"": [_curve(strategy, by_round) for strategy, by_round in points.items()]},
            xlabel="heads annotated",
            ylabel=f"LAS on {options.treebank.name} {split}, %",
            markers=True,
        ),
    )


def _check_size(options: Options, pool: Pool, runs: "Runs") -> None:
    """Require that every round has something to annotate."""
    own = options.own
    asked = max(count_heads(Pool.read(run.treebank.train.path)) for run in runs.values())
    asked += own.rounds * own.heads
    if asked > pool.heads:
        raise ExperimentError(
            f"--start, --heads and --rounds ask for {asked:,} heads, and {options.treebank.name} "
            f"has {pool.heads:,}; ask for fewer"
        )


Runs = dict[tuple[Strategy, int], Run]
"""The training of a round by strategy and seed."""


def _first_round(options: Options, pool: Pool) -> Runs:
    """First round: whole sentences, the same for all strategies."""
    runs: Runs = {}
    for seed in options.seeds:
        path = _folder(options) / f"start-{options.own.start}-{seed}.conllu"
        pool.write(pool.begin(options.own.start, seed=seed), path)
        first = _training(options, path, seed=seed, name="to begin with", init=None)
        runs |= {(strategy, seed): first for strategy in STRATEGIES}
    return runs


def _next_run(options: Options, pool: Pool, before: Run, *, strategy: Strategy, number: int) -> Run:
    """The training on what the strategy asks for after a round."""
    seed = before.config.seed
    heads = options.own.heads
    # Named by the training that it follows from: what was asked for once is not found out again.
    name = f"{before.whole_key}-{strategy.replace(' ', '-')}-{heads}.conllu"
    path = _folder(options) / name
    if not path.exists():
        unsure = strategy.startswith("uncertain")
        folder = options.store.model_folder(before)
        parser = load(folder, device=options.device) if unsure else None
        known = pool.read(before.treebank.train.path)
        chosen = pool.extend(known, heads, strategy=strategy, parser=parser, seed=seed)
        pool.write(chosen, path)
    return _training(options, path, seed=seed, name=f"{strategy}, round {number}", init=before)


def _training(options: Options, path: Path, *, seed: int, name: str, init: Run | None) -> Run:
    treebank = replace(
        options.treebank, name=f"{options.treebank.name}, {name}", train=DataFile.of(path)
    )
    base = options.base
    if options.own.steps is not None:
        words = sum(map(len, read_conllu(path)))
        in_epoch = math.ceil(words / base.batch_tokens)
        epochs = min(base.epochs, math.ceil(options.own.steps / in_epoch))
        base = base.changed({"epochs": epochs, "patience": epochs})
    return options.plan(CRF2O, seed, treebank=treebank, base=base, init=init)


def _folder(options: Options) -> Path:
    """Folder of the selections, named after the treebank too, on which they depend."""
    treebank = options.treebank
    return options.out / "annotated" / f"{treebank.name}-{treebank.train.fingerprint[:8]}"


def _point(runs: Runs, results: Mapping[Run, Result], *, strategy: Strategy, split: Split) -> Point:
    by_seed = [run for (each, _), run in runs.items() if each == strategy]
    counts = [results[run].parses[split, CRF2O.decoder] for run in by_seed]
    heads = [count_heads(Pool.read(run.treebank.train.path)) for run in by_seed]
    return Point(sum(heads) / len(heads), measure(counts)["LAS"])


def _length_note(options: Options) -> list[str]:
    steps, epochs = options.own.steps, options.base.epochs
    if steps is None:
        return []
    return [f"A round is of about {steps:,} steps, or of {epochs:,} epochs where those are fewer."]


def heads_for(points: Sequence[Point], las: float) -> float | None:
    """Number of heads a strategy needs for this LAS, interpolated between rounds; None if never."""
    if points[0].las.mean >= las:
        return points[0].heads
    for before, after in pairwise(points):
        low, high = before.las.mean, after.las.mean
        if low < las <= high:
            return before.heads + (after.heads - before.heads) * (las - low) / (high - low)
    return None


def _table(points: dict[Strategy, list[Point]]) -> str:
    columns = ["heads"]
    columns += STRATEGIES
    rows = []
    for number, first in enumerate(points[BASELINE]):
        row = [f"{first.heads:,.0f}"]
        row += [cell(points[strategy][number].las) for strategy in STRATEGIES]
        rows.append(row)
    goal = points[BASELINE][-1].las.mean
    needed = [heads_for(points[strategy], goal) for strategy in STRATEGIES]
    rows.append([f"for {goal:.2f}", *("-" if each is None else f"{each:,.0f}" for each in needed)])
    return markdown(columns, rows)


def _curve(strategy: Strategy, points: Sequence[Point]) -> Curve:
    return Curve(
        strategy,
        [point.heads for point in points],
        [point.las.mean for point in points],
        [point.las.spread or 0.0 for point in points],
    )


def _extend(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--start",
        type=int,
        default=200,
        metavar="N",
        help="whole sentences to begin with (default: 200)",
    )
    add(
        "--steps",
        type=int,
        metavar="N",
        help="train each round for about so many, in whole epochs and at most --epochs: "
        "strategies differ in how many sentences have what they ask for",
    )
    add("--heads", type=int, default=2000, metavar="N", help="heads a round (default: 2000)")
    add("--rounds", type=int, default=8, metavar="N", help="rounds of annotation (default: 8)")


def main(arguments: Sequence[str] | None = None) -> int:
    return start("active_learning", __doc__, run, arguments=arguments, extend=_extend)


if __name__ == "__main__":
    sys.exit(main())
