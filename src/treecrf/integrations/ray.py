"""Corpora on a cluster: each worker of a Ray Data pool loads the model and takes file by file."""

import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import ray
import ray.data
from ray.data import ActorPoolStrategy
from ray.exceptions import RayError

from treecrf.cores import usable_cores
from treecrf.integrations.shards import Shard, ShardFormat, claim_folder, find_shards, unfinished
from treecrf.parser import ParserError, load
from treecrf.parser.errors import LanguageWarning
from treecrf.parser.files.sources import FileOptions, parse_file
from treecrf.parser.folder import load_settings
from treecrf.segment.errors import SegmentError
from treecrf.treebank import Sentence, TreebankError, write_conllu
from treecrf.treebank.files.documents import write_json

__all__ = ["Corpus", "ParsedShard", "Pool"]

# Ray tries a file again when its worker dies, without end; this often, and it is the file.
_DEATHS = 4


@dataclass(frozen=True, slots=True)
class Pool:
    """The workers to ask a cluster for."""

    address: str | None = None
    """Of the cluster; None is the one that Ray is connected to, else one that is started here."""
    concurrency: int | None = None
    """Workers; None is as many as there are cores, or GPUs."""
    gpus_per_worker: float | None = None
    """None is one where the cluster has GPUs."""

    def __post_init__(self) -> None:
        gpus = self.gpus_per_worker
        if gpus is not None and not (0 <= gpus <= 1 or (gpus > 1 and float(gpus).is_integer())):
            hint = "workers share a GPU (0.5) or have whole ones (2)"
            raise ParserError(f"--gpus-per-worker {gpus:g}: {hint}")


@dataclass(frozen=True, slots=True)
class ParsedShard:
    """The result of parsing a file."""

    source: str
    sentences: int
    problem: str  # empty where there is none
    foreign: bool  # whether it is not in the language of the model


class Corpus:
    """The files that patterns match, each of which goes to a file of its own in a folder."""

    def __init__(
        self,
        model: Path,
        patterns: Sequence[str],
        *,
        output: Path,
        options: FileOptions,
        format: ShardFormat = "conllu",
    ) -> None:
        # What is wrong with the model is said here, not by each worker.
        self.language = load_settings(model)[0].language
        self.model = Path(os.path.abspath(model))
        self.options = options
        self.format: ShardFormat = format
        self.shards = find_shards(patterns, output, format=format)
        claim_folder(output, self.model, options=options, format=format)
        self.left = unfinished(self.shards)

    def parse(self, pool: Pool | None = None) -> Iterator[ParsedShard]:
        """Parse the files that are left; yield the result of each when it is done."""
        if not self.left:
            return
        pool = pool or Pool()
        try:
            with _connected(pool):
                yield from self._run(pool)
        except RayError as error:
            hint = "the same command goes on with the files that are left"
            raise ParserError(f"Ray gave up: {_lines(error)[-1]}; {hint}") from None

    def _run(self, pool: Pool) -> Iterator[ParsedShard]:
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        gpus = pool.gpus_per_worker
        if gpus is None:
            gpus = 1.0 if resources.get("GPU") else 0.0
        # A worker that fits nowhere would be waited for without end.
        nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        most = max(node["Resources"].get("GPU", 0) for node in nodes if node["Alive"])
        if gpus > most:
            problem = f"no machine of the Ray cluster has more than {most:g}"
            hint = "0 has them parse on CPUs"
            raise ParserError(f"--gpus-per-worker {gpus:g}, and {problem}; {hint}")
        has = resources.get("GPU", 0) / gpus if gpus else resources.get("CPU", 1)
        workers = min(pool.concurrency or max(1, int(has)), len(self.left))
        # A block a file: a task is one file, which is tried again if its worker dies.
        files = ray.data.from_items(
            [asdict(shard) for shard in self.left], override_num_blocks=len(self.left)
        )
        files.context.enable_progress_bars = False  # progress is the command's to show
        files.context.print_on_execution_start = False
        parsed = files.map_batches(
            _Worker,
            fn_constructor_kwargs={
                "model": str(self.model),
                "device": "cuda" if gpus else "cpu",
                "options": self.options,
                "format": self.format,
            },
            batch_size=1,
            compute=ActorPoolStrategy(
                min_size=1, max_size=workers, initial_size=workers, max_tasks_in_flight_per_actor=2
            ),
            num_cpus=1,
            num_gpus=gpus,
        )
        for row in parsed.iter_rows():
            yield ParsedShard(**row)


class _Worker:
    def __init__(self, *, model: str, device: str, options: FileOptions, format: str) -> None:
        self.parser = load(model, device=device)
        self.options = options
        self.write = write_json if format == "json" else write_conllu

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Parse the file of a batch; a problem with the file is returned, not raised."""
        shard = Shard(str(batch["source"][0]), str(batch["target"][0]))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LanguageWarning)
            sentences, problem = self._parse(shard)
        foreign = any(issubclass(warning.category, LanguageWarning) for warning in caught)
        for one in caught:
            if not issubclass(one.category, LanguageWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        return {
            "source": [shard.source],
            "sentences": [sentences],
            "problem": [problem],
            "foreign": [foreign],
        }

    def _parse(self, shard: Shard) -> tuple[int, str]:
        if len(shard.marks) >= _DEATHS:
            shard.clean_up()
            return 0, f"{shard.source}: {_DEATHS} workers died over it; is there memory enough?"
        count = 0

        def counted() -> Iterator[Sentence]:
            nonlocal count
            for sentence in parse_file(self.parser, shard.source, self.options):
                count += 1
                yield sentence

        try:
            with shard.attempt():
                self.write(counted(), shard.target)
        except (TreebankError, ParserError, SegmentError) as error:
            return count, str(error)
        except OSError as error:
            return count, f"{error.filename or shard.source}: {error.strerror or error}"
        shard.clean_up()  # of workers that died over this file
        return count, ""


@contextlib.contextmanager
def _connected(pool: Pool) -> Iterator[None]:
    """Connect to the cluster at the address, or start one here; keep an existing connection."""
    if ray.is_initialized():
        if pool.address is not None:
            hint = f"leave out the address {pool.address!r}, or call ray.shutdown() first"
            raise ParserError(f"Ray is connected to a cluster already: {hint}")
        yield
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if pool.address is None:
        cores = max(usable_cores(), pool.concurrency or 1)
        options |= {"num_cpus": cores, "include_dashboard": False}
    try:
        with _environment(), _silence():
            ray.init(address=pool.address or "local", **options)
    except Exception as error:  # some of Ray's have no class of their own
        reason = _lines(error)[0]
        if pool.address is None:
            raise ParserError(f"Ray cannot be started on this machine: {reason}") from None
        hint = "without --address one is started on this machine"
        raise ParserError(f"no Ray cluster at {pool.address!r}: {reason}; {hint}") from None
    log = logging.getLogger("ray.data")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        ray.shutdown()
        log.setLevel(level)


def _lines(error: Exception) -> list[str]:
    return str(error).strip().splitlines() or [type(error).__name__]


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Environment variables for Ray and its processes."""
    # What is told to others is for those who run a cluster to decide, not for a command.
    wanted = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
    added = [name for name in wanted if name not in os.environ]
    os.environ.update({name: wanted[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Silence standard error, to which compiled code writes before it can be told not to."""
    if sys.stderr is None:
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
