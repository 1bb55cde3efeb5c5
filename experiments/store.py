"""Results of finished runs in a folder: small JSON files to keep, and models beside them."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.counting import pack_gold, pack_system, unpack
from experiments.files import read_json, write_json
from experiments.runs import Run
from experiments.systems import decoders_of
from experiments.treebanks import Split
from treecrf.parser import ParserError, load_config
from treecrf.parser import folder as checkpoint
from treecrf.parser.choices import Decoder
from treecrf.parser.config import Config
from treecrf.treebank.metrics.counts import Counts

__all__ = ["Parses", "Result", "Store", "read_epochs"]

Parses = Mapping[tuple[Split, Decoder], list[Counts]]

_COLUMNS = ("loss", "uas", "las", "seconds", "sentences_per_second")


@dataclass(frozen=True, slots=True)
class Result:
    """A finished run: dev scores by epoch, and the counts of each sentence by part and decoder."""

    uas: list[float]
    las: list[float]
    seconds: float
    left_out: int
    """Training sentences that the loss could not learn from."""
    parses: Parses

    @property
    def best_epoch(self) -> int:
        """The number of the epoch whose model was kept: the first with the best dev LAS."""
        return self.las.index(max(self.las)) + 1


class Store:
    """A folder with `runs/`, which a repository can keep, and `models/`, which it ignores."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def record_path(self, run: Run) -> Path:
        return self.folder / "runs" / f"{run.key}.json"

    def raw_path(self, run: Run, segmentation: str) -> Path:
        """Path of the scores of its model over a segmentation."""
        return self.folder / "runs" / f"{run.key}-raw-{segmentation}.json"

    def model_folder(self, run: Run) -> Path:
        return self.folder / "models" / run.key

    def has_model(self, run: Run) -> bool:
        """Whether the trained model is there, and not only what it came to.

        A training that has not ended yet has weights too, the best so far, and its checkpoint.
        """
        folder = self.model_folder(run)
        return (
            self.record(run) is not None
            and (folder / checkpoint.WEIGHTS).is_file()
            and not (folder / checkpoint.CHECKPOINT).exists()
            and _has_ended(folder, run.config)
        )

    def load(self, run: Run) -> Result | None:
        """Result of a run; None if it is not finished for all parts of its data."""
        record = self.record(run)
        if record is None:
            return None
        parses: dict[tuple[Split, Decoder], list[Counts]] = {}
        for split in run.treebank.splits:
            packed = record["parses"].get(self.parse_key(run, split))
            if packed is None:
                return None
            for decoder in decoders_of(run.config):
                parses[split, decoder] = unpack(packed["gold"], packed[decoder])
        epochs = record["epochs"]
        return Result(
            uas=epochs["uas"],
            las=epochs["las"],
            seconds=epochs["seconds"][-1],
            left_out=record["left_out"],
            parses=parses,
        )

    def record(self, run: Run) -> dict[str, Any] | None:
        """The JSON of a run; None where there is none of it."""
        record = read_json(self.record_path(run))
        return record if record is not None and run.is_of(record.get("training", {})) else None

    def save(
        self,
        run: Run,
        *,
        epochs: Mapping[str, list[float]],
        machine: Mapping[str, str],
        left_out: int,
        parses: Mapping[Split, Mapping[Decoder, list[Counts]]],
        beside: Mapping[str, Any],
    ) -> None:
        """Write the result of a run beside those of the same model on other data."""
        packed = {
            self.parse_key(run, split): {"gold": pack_gold(next(iter(by_decoder.values())))}
            | {decoder: pack_system(counts) for decoder, counts in by_decoder.items()}
            for split, by_decoder in parses.items()
        }
        record = {
            "run": run.label,
            "training": run.training,
            "machine": dict(machine),
            "left_out": left_out,
            "epochs": {name: list(values) for name, values in epochs.items()},
            "parses": {**beside, **packed},
        }
        write_json(self.record_path(run), record)

    def drop_raw(self, run: Run) -> None:
        """Remove the raw-text scores of a model that is gone; the next one may have others."""
        path = self.raw_path(run, "*")
        for scores in path.parent.glob(path.name):
            scores.unlink()

    def make_model_folder(self, run: Run) -> Path:
        """The folder to train in; git does not see it."""
        folder = self.model_folder(run)
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        return folder

    @contextlib.contextmanager
    def lock(self, run: Run) -> Iterator[None]:
        """Hold the folder that a run is trained in; another process that has it is waited for."""
        try:
            import fcntl
        except ModuleNotFoundError:  # Windows, where two commands are not to share a folder
            yield
            return
        # It stays: whoever waits has this very file open.
        with open(self.make_model_folder(run) / ".lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"waiting for another command that trains {run.label}", flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
            except OSError:  # a disk without locks
                pass
            yield

    def parse_key(self, run: Run, split: Split) -> str:
        """Name of the parses of some data and their scoring."""
        return f"{split} {run.treebank.splits[split].fingerprint} {run.punct}"


def read_epochs(folder: Path) -> dict[str, list[float]]:
    """The log of a model folder by column, rounded to what is of use."""
    lines = (folder / checkpoint.LOG).read_text(encoding="utf-8").splitlines()
    epochs = [json.loads(line) for line in lines]
    return {name: [round(epoch[name], 4) for epoch in epochs] for name in _COLUMNS}


def _has_ended(folder: Path, config: Config) -> bool:
    """Whether the log in a model folder is of a whole training with these settings."""
    try:
        if load_config(folder / checkpoint.CONFIG) != config:  # a default has changed since
            return False
        lines = (folder / checkpoint.LOG).read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ParserError):
        return False
    if not lines:
        return False
    last = json.loads(lines[-1])
    return last["epoch"] >= config.epochs or last["epoch"] - last["best_epoch"] >= config.patience
