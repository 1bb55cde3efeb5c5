"""Options that all experiments share, and their start from the command line."""

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from experiments.command_line import run_command_line
from experiments.errors import ExperimentError
from experiments.jobs import finish
from experiments.runs import Mask, Run
from experiments.store import Result, Store
from experiments.systems import System
from experiments.treebanks import DataFile, Treebank, find_treebanks, open_treebank
from treecrf.parser.config import Config
from treecrf.parser.device import choose_device
from treecrf.parser.presets import load_config
from treecrf.treebank import read_conllu
from treecrf.treebank.metrics.counts import punctuation
from treecrf.treebank.metrics.scores import Punctuation

__all__ = ["Options", "plan_of", "start"]

# What an experiment compares is not for the user to set.
_VARIED = ("loss", "nonprojective", "crf3o_siblings", "decoder", "seed")


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an experiment."""

    experiment: str
    command: str
    treebanks: tuple[Treebank, ...]
    out: Path
    seeds: tuple[int, ...]
    device: str
    jobs: int
    base: Config
    embeddings: DataFile | None
    transformer: DataFile | None
    punct: Punctuation
    own: argparse.Namespace
    """The options that this experiment alone has."""
    runs: list[Run] = field(default_factory=list)
    """The trainings that it has asked for: where its figures come from."""

    @property
    def treebank(self) -> Treebank:
        """The treebank of an experiment that has one."""
        (treebank,) = self.treebanks
        return treebank

    @property
    def store(self) -> Store:
        return Store(self.out)

    def plan(
        self,
        system: System,
        seed: int,
        *,
        treebank: Treebank | None = None,
        base: Config | None = None,
        mask: Mask | None = None,
        init: Run | None = None,
        note: str = "",
    ) -> Run:
        """Plan a training; by default on the only treebank, with the shared settings."""
        run = Run(
            treebank=treebank or self.treebank,
            config=system.config(base or self.base, seed),
            mask=mask,
            embeddings=self.embeddings,
            punct=self.punct,
            init=init,
            transformer=self.transformer,
            note=note,
        )
        self.runs.append(run)
        return run

    def finish(self, runs: Iterable[Run], *, models: bool = False) -> dict[Run, Result]:
        """The results of runs, after training what is not in the store."""
        wanted = list(runs)
        planned = _PLANNED.get()
        if planned is not None:
            planned.update(dict.fromkeys(wanted, models))
            raise _PlannedError
        return finish(
            wanted,
            self.store,
            device=self.device,
            jobs=self.jobs,
            models=wanted if models else (),
        )


class _PlannedError(Exception):
    """All that an experiment trains is known."""


_PLANNED: ContextVar[dict[Run, bool] | None] = ContextVar("planned", default=None)


def plan_of(main: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> dict[Run, bool]:
    """The trainings of an experiment with these arguments, and whether it needs their models.

    Nothing is trained. An error in the arguments is printed and ends the process.
    """
    planned: dict[Run, bool] = {}
    token = _PLANNED.set(planned)
    try:
        code = main(arguments)
    except _PlannedError:
        return planned
    finally:
        _PLANNED.reset(token)
    sys.exit(code)


def start(
    experiment: str,
    description: str | None,
    work: Callable[[Options], None],
    *,
    arguments: Sequence[str] | None = None,
    several: bool = False,
    extend: Callable[[argparse.ArgumentParser], None] = lambda parser: None,
) -> int:
    """Read the command line and do the work; return the exit code, 2 after a one-line error."""
    parser = _parser(experiment, description, several=several)
    extend(parser)
    words = sys.argv[1:] if arguments is None else arguments
    return run_command_line(
        parser,
        lambda own: work(_options(experiment, own, words, several=several)),
        arguments=arguments,
        when_stopped="stopped; the same command goes on from here",
    )


def _parser(experiment: str, description: str | None, *, several: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"experiments.{experiment}", description=description)
    add = parser.add_argument
    folder = "a folder with train.conllu, dev.conllu and, if there is one, test.conllu"
    if several:
        folder += ", or a folder of such folders; may be given several times"
    add("--treebank", type=Path, action="append", required=True, metavar="DIR", help=folder)
    where = "where results, finished runs and models go (default: results)"
    add("--out", type=Path, default=Path("results"), metavar="DIR", help=where)
    often = "each system is trained once with each of these (default: 1)"
    add("--name", metavar="NAME", help="name of the output files (default: that of the experiment)")
    add("--seeds", default="1", metavar="1,2,3", help=often)
    long = "train for exactly so many (default: until the settings say so)"
    add("--epochs", type=int, metavar="N", help=long)
    add("--device", default="auto", help="cpu, cuda or cuda:1 (default: a GPU if there is one)")
    many = "trainings side by side on the device (default: 1)"
    add("--jobs", type=int, default=1, metavar="K", help=many)
    settings = "default, paper, tiny, or a TOML file of settings"
    add("--config", default="default", metavar="NAME|FILE", help=settings)
    one = "one setting of all systems; may be given several times"
    add("--set", action="append", default=[], metavar="KEY=VALUE", help=one)
    add("--embeddings", type=Path, metavar="FILE", help="pretrained word vectors")
    left_out = "words to leave out of all scores, as in treecrf score (default: keep)"
    add("--punct", choices=get_args(Punctuation), default="keep", help=left_out)
    return parser


def _options(
    experiment: str, own: argparse.Namespace, arguments: Sequence[str], *, several: bool
) -> Options:
    if not several and len(own.treebank) > 1:
        raise ExperimentError("this experiment is about one treebank: give --treebank once")
    if own.jobs < 1:
        raise ExperimentError(f"--jobs is 1 or more, not {own.jobs}")
    if own.epochs is not None and own.epochs < 1:
        raise ExperimentError(f"--epochs is 1 or more, not {own.epochs}")
    choose_device(own.device)  # an error now, not after the data has been read
    treebanks = find_treebanks(own.treebank) if several else [open_treebank(own.treebank[0])]
    if own.punct != "keep":
        for treebank in treebanks:
            _check_punctuation(treebank, own.punct)
    base = _base(own.config, own.set, own.epochs, punct=own.punct)
    return Options(
        experiment=experiment,
        command=shlex.join(["python", "-m", f"experiments.{experiment}", *arguments]),
        treebanks=tuple(treebanks),
        out=own.out,
        seeds=_seeds(own.seeds),
        device=own.device,
        jobs=own.jobs,
        base=base,
        embeddings=None if own.embeddings is None else DataFile.of(own.embeddings),
        transformer=_transformer(base),
        punct=own.punct,
        own=own,
    )


def _check_punctuation(treebank: Treebank, punct: Punctuation) -> None:
    """Require that --punct leaves out some word of each part."""
    for part in treebank.splits.values():
        if not any(any(punctuation(sentence, punct)) for sentence in read_conllu(part.path)):
            raise ExperimentError(
                f"{part.path}: by --punct {punct} no word is punctuation; "
                + ("unicode goes by the form of words" if punct == "tag" else "leave it out")
            )


def _seeds(text: str) -> tuple[int, ...]:
    try:
        seeds = tuple(int(seed) for seed in text.split(","))
    except ValueError:
        raise ExperimentError(f"--seeds is {text!r}; write whole numbers, such as 1,2,3") from None
    if len(set(seeds)) < len(seeds):
        raise ExperimentError(f"--seeds is {text!r}: one is there twice; give each once")
    return seeds


def _base(
    source: str, settings: Sequence[str], epochs: int | None, *, punct: Punctuation
) -> Config:
    """Settings that all systems share; the best epoch is chosen by the scores that tables have."""
    # The same number of epochs for every system: none stops early.
    changes: dict[str, Any] = {"predict": []}  # the paper's parsers predict trees alone
    if epochs is not None:
        changes |= {"epochs": epochs, "patience": epochs}
    changed = load_config(source, changes | Config.parsed(settings))
    for name in _VARIED:
        if getattr(changed, name) != getattr(Config(), name):
            raise ExperimentError(f"{name} is what experiments vary; it cannot be set for all")
    if changed.punct not in ("keep", punct):
        raise ExperimentError(
            f"punct is {changed.punct}: give --punct {changed.punct}, which goes for the tables too"
        )
    return changed.changed({"punct": punct})


def _transformer(base: Config) -> DataFile | None:
    """Folder of the pretrained encoder; None if there is none or it is fetched by name."""
    folder = Path(base.transformer)
    if base.encoder != "transformer" or not folder.is_dir():
        return None
    return DataFile.of_folder(folder)
