"""Every table of the paper in one command: all trainings side by side, then a page for each."""

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from experiments import (
    convergence,
    gold_tags,
    main_table,
    partial,
    raw_text,
    speed,
    subtrees,
    universal,
    variants,
)
from experiments.command_line import run_command_line
from experiments.errors import ExperimentError
from experiments.jobs import finish, is_done
from experiments.options import plan_of
from experiments.runs import Run
from experiments.store import Store
from experiments.treebanks import find_treebanks

Command = tuple[Callable[[Sequence[str]], int], list[str]]
"""The `main` of an experiment and its arguments."""


def run(own: argparse.Namespace) -> None:
    """Train what is missing, within `--minutes`, and make the tables whose trainings are done."""
    tables = choose(commands(own), own.only)
    plans = {name: plan_of(main, arguments) for name, (main, arguments) in tables.items()}
    planned: dict[Run, bool] = {}
    for plan in plans.values():
        for each in sorted(plan, key=_size, reverse=True):  # no long one at the end, alone
            planned[each] = planned.get(each, False) or plan[each]
    store, models = Store(own.out), {each for each, needed in planned.items() if needed}
    finish(
        list(planned), store, device=own.device, jobs=own.jobs, models=models, minutes=own.minutes
    )
    for name, (main, arguments) in tables.items():
        plan = plans[name]
        done = sum(is_done(each, store, models=models if plan[each] else ()) for each in plan)
        print(f"\n{name}: {_command(main, arguments)}", flush=True)
        if done < len(plan):
            print(f"{name}: {done} of {len(plan)} trainings are finished; no table yet")
        elif main(arguments):
            raise ExperimentError(f"{name}: there is no table, for the reason above")


def commands(own: argparse.Namespace) -> dict[str, Command]:
    """The command of each table, the most important first."""
    treebanks = {
        treebank.name: treebank.train.path.parent for treebank in find_treebanks(own.treebank)
    }
    if own.main is not None and own.main not in treebanks:
        raise ExperimentError(f"--main {own.main}: give one of {', '.join(treebanks)}")
    one = ["--treebank", str(treebanks[own.main or next(iter(treebanks))])]
    every = [word for path in treebanks.values() for word in ("--treebank", str(path))]
    shared = ["--out", str(own.out), "--config", own.config, "--device", own.device]
    shared += [word for setting in own.set for word in ("--set", setting)]
    shared += [] if own.epochs is None else ["--epochs", str(own.epochs)]
    seeds, first = ["--seeds", own.seeds], ["--seeds", own.seeds.split(",")[0]]
    found: dict[str, Command] = {}
    if own.embeddings is not None:
        vectors = ["--embeddings", str(own.embeddings), "--name", "vectors"]
        found["vectors"] = main_table.main, [*one, *shared, *seeds, *vectors]
    found["main_table"] = main_table.main, [*one, *shared, *seeds]
    found["subtrees"] = subtrees.main, [*one, *shared, *seeds]
    found["convergence"] = convergence.main, [*one, *shared, *seeds]
    found["universal"] = universal.main, [*every, *shared, *seeds]
    found["gold_tags"] = gold_tags.main, [*one, *shared, *seeds]
    found["partial"] = partial.main, [*one, *shared, *seeds]
    found["footnotes"] = variants.main, [*one, *shared, *seeds, "--name", "footnotes"]
    marks = ["--vary", "min_marked=1", "--vary", "min_marked=2", "--name", "min_marked"]
    found["min_marked"] = variants.main, [*every, *shared, *seeds, *marks]
    for system in ("Loc", "Crf2o"):
        name = f"default-{system}"
        vary = ["--vary", "default", "--system", system, "--name", name]
        found[name] = variants.main, [*every, *shared, *seeds, *vary]
    if own.segmenter is not None:
        cut = ["--segmenter", str(own.segmenter)]
        found["raw_text"] = raw_text.main, [*one, *shared, *seeds, *cut]
    found["speed"] = speed.main, [*one, *shared, *first]
    return found


def choose(tables: Mapping[str, Command], only: str | None) -> dict[str, Command]:
    """The tables with these names, in this order."""
    if only is None:
        return dict(tables)
    missing = [name for name in only.split(",") if name not in tables]
    if missing:
        raise ExperimentError(f"--only {only}: no {missing[0]}; there are {', '.join(tables)}")
    return {name: tables[name] for name in only.split(",")}


def _size(each: Run) -> float:
    return each.treebank.train.path.stat().st_size * (each.mask.share if each.mask else 1)


def _command(main: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> str:
    return shlex.join(["python", "-m", main.__module__, *arguments])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="experiments.paper", description=__doc__)
    add = parser.add_argument
    folder = "a treebank, or a folder of treebanks; may be given several times"
    add("--treebank", type=Path, action="append", required=True, metavar="DIR", help=folder)
    add("--main", metavar="NAME", help="the treebank of tables that have one (default: the first)")
    add("--embeddings", type=Path, metavar="FILE", help="word vectors for one more main table")
    add("--segmenter", type=Path, metavar="DIR", help="a segmenter, for the table of raw text")
    add("--only", metavar="NAME,NAME", help="these tables alone, in this order")
    long = "stop trainings after so many minutes; tables that lack one are left out"
    add("--minutes", type=float, metavar="M", help=long)
    add("--out", type=Path, default=Path("results"), metavar="DIR", help="as in each experiment")
    add("--seeds", default="1,2,3", metavar="1,2,3", help="as in each experiment (default: 1,2,3)")
    add("--epochs", type=int, metavar="N", help="as in each experiment")
    add("--device", default="auto", help="as in each experiment")
    add("--jobs", type=int, default=1, metavar="K", help="trainings side by side (default: 1)")
    add("--config", default="paper", metavar="NAME|FILE", help="settings (default: paper)")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="one setting")
    return run_command_line(
        parser, run, arguments=arguments, when_stopped="stopped; the same command goes on from here"
    )


if __name__ == "__main__":
    sys.exit(main())
