"""Runs that are not finished yet, one after the other or several side by side on one device."""

import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

from experiments.errors import ExperimentError
from experiments.runs import Run
from experiments.store import Result, Store
from experiments.worker import USER_ERRORS, carry_out
from treecrf.parser import folder as checkpoint
from treecrf.parser.training.loop import Epoch
from treecrf.treebank import read_conllu

__all__ = ["finish", "is_done"]

_ROOT = Path(__file__).resolve().parent.parent


def finish(
    runs: Sequence[Run],
    store: Store,
    *,
    device: str,
    jobs: int,
    models: Container[Run] = (),
    minutes: float | None = None,
    quiet: float = 30.0,
) -> dict[Run, Result]:
    """Carry out the runs that are not in the store; return the results of those that are done.

    A run of `models` whose model is gone is repeated, even if its result is in the store. After
    `minutes` trainings are stopped; the next call continues them. Lines on the progress of
    trainings are at least `quiet` seconds apart.
    """
    wanted = list(dict.fromkeys(runs))
    open_runs = [run for run in wanted if not is_done(run, store, models=models)]
    kept = len(wanted) - len(open_runs)
    print(f"{_counted(wanted)}, {kept} finished before; models in {store.folder / 'models'}")
    started = time.perf_counter()
    work = _one_by_one
    if jobs > 1 or minutes is not None:
        limit = math.inf if minutes is None else started + 60 * minutes
        work = partial(_side_by_side, jobs=jobs, limit=limit)
    progress = _Progress(store, quiet)
    for number, run in enumerate(work(open_runs, store, progress, device=device), kept + 1):
        result = store.load(run)
        assert result is not None
        best = result.best_epoch - 1
        left_out = f", {result.left_out} sentences left out" if result.left_out else ""
        print(
            f"[{number}/{len(wanted)}] {run.label}: dev UAS {result.uas[best]:.2f} "
            f"LAS {result.las[best]:.2f} (epoch {best + 1} of {len(result.las)}), "
            f"trained in {_minutes(result.seconds)}, {_minutes(time.perf_counter() - started)} "
            f"since the start{left_out}",
            flush=True,
        )
    if open_runs:
        print(progress.total(), flush=True)
    results = {run: store.load(run) for run in wanted}
    return {run: result for run, result in results.items() if result is not None}


def is_done(run: Run, store: Store, *, models: Container[Run] = ()) -> bool:
    """Whether a run is in the store, and its model too if the run is one of `models`."""
    return store.load(run) is not None and (run not in models or store.has_model(run))


def _one_by_one(
    runs: Sequence[Run], store: Store, progress: "_Progress", *, device: str
) -> Iterator[Run]:
    for run in runs:
        progress.begin(run)
        try:
            carry_out(run, store, device=device, on_epoch=partial(progress.after_epoch, run))
        except USER_ERRORS as error:
            raise ExperimentError(f"{run.label}: {error}") from None
        yield run


def _side_by_side(
    runs: Sequence[Run],
    store: Store,
    progress: "_Progress",
    *,
    device: str,
    jobs: int,
    limit: float,
) -> Iterator[Run]:
    """Carry out `jobs` runs at once; after a failure the running ones go on, no other begins.

    When the clock reaches `limit`, all of them are stopped.
    """
    waiting = list(runs)
    running: dict[Run, _Worker] = {}
    failures: list[str] = []
    try:
        while (running or (waiting and not failures)) and time.perf_counter() < limit:
            while len(running) < jobs and not failures:
                run = _next_run(waiting, running)
                if run is None:
                    break
                waiting.remove(run)
                progress.begin(run)
                running[run] = _Worker(run, store, device=device, jobs=jobs)
            time.sleep(0.1)
            progress.tell(running)
            for run in [run for run, worker in running.items() if worker.ended]:
                problem = running.pop(run).close()
                if problem is None:
                    yield run
                else:
                    failures.append(f"{run.label}: {problem}")
                    print(f"failed: {failures[-1]}", file=sys.stderr, flush=True)
    finally:
        for worker in running.values():
            worker.close()
    if failures:
        raise ExperimentError(failures[0])


def _next_run(waiting: Iterable[Run], running: Iterable[Run]) -> Run | None:
    """First run whose folder is free; runs with different names may be the same training."""
    taken = {run.key for run in running}
    return next((run for run in waiting if run.key not in taken), None)


class _Progress:
    """Printer of the epochs that trainings have reached, now and then."""

    def __init__(self, store: Store, quiet: float) -> None:
        self.store = store
        self.quiet = quiet
        self.started = self.told = time.perf_counter()
        self.begun: dict[Run, int] = {}
        """Epochs that were done when the command began, by run."""

    def begin(self, run: Run) -> None:
        """Print a line if an interrupted run goes on."""
        self.begun[run] = _epochs_done(run, self.store) if self.store.has_model(run) else 0
        if (self.store.model_folder(run) / checkpoint.CHECKPOINT).exists():
            self.begun[run] = _epochs_done(run, self.store)
            print(f"going on with {run.label} after epoch {self.begun[run]}", flush=True)

    def total(self) -> str:
        """Line on the sentences a second of all trainings together, starts and dev included."""
        taken = time.perf_counter() - self.started
        sentences = sum(
            _sentences(run.treebank.train.path)
            * (1.0 if run.mask is None else run.mask.share)
            * max(0, _epochs_done(run, self.store) - before)
            for run, before in self.begun.items()
        )
        return (
            f"{_counted(list(self.begun))} in {_minutes(taken)}: {sentences / taken:,.0f} "
            "sentences a second in all"
        )

    def after_epoch(self, run: Run, epoch: Epoch) -> None:
        """Callback for `carry_out`."""
        self.tell([run])

    def tell(self, runs: Iterable[Run]) -> None:
        """Print a line for each run, unless the last lines are less than `quiet` seconds old."""
        if time.perf_counter() - self.told < self.quiet:
            return
        self.told = time.perf_counter()
        for run in runs:
            done = _epochs_done(run, self.store)
            print(f"  {run.label}: epoch {done} of at most {run.config.epochs}", flush=True)


class _Worker:
    """A process that carries out one run."""

    def __init__(self, run: Run, store: Store, *, device: str, jobs: int) -> None:
        threads = str(max(1, (os.cpu_count() or 1) // jobs))
        paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        # A file, not a pipe: nobody reads while the process runs.
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "experiments.worker"],
            stdin=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={"OMP_NUM_THREADS": threads} | os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )
        assert self.process.stdin is not None
        task = {"run": run.to_dict(), "store": str(store.folder.absolute()), "device": device}
        with contextlib.suppress(BrokenPipeError):  # it has ended already: `close` says why
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def close(self) -> str | None:
        """End the process if it runs; return its last line of errors if it failed."""
        if not self.ended:
            self.process.kill()
        with contextlib.suppress(BrokenPipeError), self.process:  # closes pipes, then waits
            pass
        with self.errors:
            self.errors.seek(0)
            lines = self.errors.read().splitlines()
        if self.process.returncode == 0:
            return None
        return lines[-1] if lines else f"it ended with exit code {self.process.returncode}"


@cache
def _sentences(path: Path) -> int:
    return sum(1 for _ in read_conllu(path))


def _epochs_done(run: Run, store: Store) -> int:
    log = store.model_folder(run) / checkpoint.LOG
    return len(log.read_text().splitlines()) if log.exists() else 0


def _counted(runs: Sequence[Run]) -> str:
    return "1 training" if len(runs) == 1 else f"{len(runs)} trainings"


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} min" if minutes else f"{rest} s"
