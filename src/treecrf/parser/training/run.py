"""The files of a training run: its log, its best model and the checkpoint to go on from."""

import json
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from treecrf.parser import folder as checkpoint
from treecrf.parser.bundled import model_folder
from treecrf.parser.errors import ParserError
from treecrf.parser.folder_writer import clean_up, replacing, writing_to
from treecrf.parser.training.data import fingerprint
from treecrf.parser.training.evaluation import Scores
from treecrf.parser.training.optimiser import Optimisation
from treecrf.storage import StorageError

if TYPE_CHECKING:
    from treecrf.parser.training.loop import Training

__all__ = ["Epoch", "Run"]


@dataclass(frozen=True, slots=True)
class Epoch:
    """Result of an epoch: a line of `log.jsonl`."""

    epoch: int
    loss: float
    uas: float
    las: float
    best_las: float
    best_epoch: int
    steps: int
    learning_rate: float
    sentences_per_second: float  # in training alone
    seconds: float  # since the start of training, dev evaluation included


class Run:
    """State of a training run, in memory and on disk.

    Writing takes at most about `writing_share` of the time: after short epochs not everything is
    written, and resumed training repeats the missing epochs with the same result.
    """

    def __init__(
        self,
        folder: Path,
        training: "Training",
        optimisation: Optimisation,
        *,
        writing_share: float,
    ) -> None:
        self.folder = folder
        self.writing_share = writing_share
        self.training = training
        self.optimisation = optimisation
        self.data = fingerprint(training.prepared.sentences)
        self.dev = fingerprint(training.dev)
        self.teachers = [checkpoint.model_digest(model_folder(name)) for name in training.teachers]
        self.epochs: list[Epoch] = []
        self.seconds = 0.0
        self._best: dict[str, Tensor] | None = None  # not on disk yet
        self._replaces = False  # whether the folder has a model that this one is to replace
        self._writing = 0.0  # seconds that the last write took
        self._written = time.perf_counter()

    @property
    def epoch(self) -> int:
        """Number of epochs done."""
        return len(self.epochs)

    @property
    def stopped(self) -> bool:
        """Whether early stopping applies: too many epochs without a new best dev LAS."""
        patience = self.training.config.patience
        return bool(self.epochs) and self.epoch - self.epochs[-1].best_epoch >= patience

    def start(self, *, resume: bool) -> None:
        """Begin or resume from the folder; the leading process sends its state to the others."""
        optimisation, ranks = self.optimisation, self.training.ranks
        if not ranks.connected:
            self._resume() if resume else self._begin()
            return

        def begun() -> tuple[dict[str, Tensor], int, list[Epoch], float]:
            self._resume() if resume else self._begin()
            tensors = {name: tensor.cpu() for name, tensor in optimisation.state().items()}
            return tensors, optimisation.steps, self.epochs, self.seconds

        tensors, steps, self.epochs, self.seconds = ranks.from_leader(begun)
        if not ranks.leads:
            optimisation.restore(tensors, steps)

    def _begin(self) -> None:
        """Start anew; a model that is in the folder stays until the first epoch has made another.

        Without one, a checkpoint with the initial weights, which may come from another model, is
        written at once in the place of what is left of another training.
        """
        self._replaces = checkpoint.has_model(self.folder)
        if not self._replaces:
            with replacing(self.folder) as new:
                self._write_checkpoint(new)
                self._save_settings(new)

    def _resume(self) -> None:
        """Go on from the checkpoint in the folder; begin if there is nothing yet."""
        if not (self.folder / checkpoint.CONFIG).exists():
            self._begin()
            return
        saved = checkpoint.load_checkpoint(self.folder)
        if saved is None:
            raise ParserError(
                f"{self.folder}: there is no {checkpoint.CHECKPOINT} to go on from; --init starts "
                "another training from this model, --overwrite trains anew"
            )
        tensors, state = saved
        try:
            if state.get("teachers", []) != self.teachers:  # older checkpoints have none
                raise ParserError(
                    f"{self.folder}: training began with other teachers, or with none; give the "
                    "same --teacher options in the same order, or another --out"
                )
            for name, kept, given in (
                ("training", state["data"], self.data),
                ("dev", state["dev"], self.dev),
            ):
                if kept != given:
                    raise ParserError(
                        f"{self.folder}: the checkpoint is of other {name} data; give the same "
                        "files in the same order, or another --out"
                    )
            self.epochs = _epochs(state["epochs"])
            self.optimisation.restore(tensors, _steps(state["steps"]))
        except KeyError as error:
            raise checkpoint.damaged(self.folder, f"it has no {error.args[0]}") from None
        except StorageError as error:
            raise checkpoint.damaged(self.folder, str(error)) from None
        self.seconds = self.epochs[-1].seconds if self.epochs else 0.0
        clean_up(self.folder)
        self._save_settings(self.folder)
        self._write_log(self.folder)

    def finish_epoch(self, loss: float, scores: Scores, speed: float) -> Epoch:
        """Record the result of an epoch; write everything unless writing takes too much time."""
        number, best = self.epoch + 1, (scores.las, self.epoch + 1)
        if self.epochs and self.epochs[-1].best_las >= scores.las:
            best = self.epochs[-1].best_las, self.epochs[-1].best_epoch
        epoch = Epoch(
            epoch=number,
            loss=loss,
            uas=scores.uas,
            las=scores.las,
            best_las=best[0],
            best_epoch=best[1],
            steps=self.optimisation.steps,
            learning_rate=self.training.config.learning_rate * self.optimisation.share,
            sentences_per_second=speed,
            seconds=self.seconds,
        )
        self.epochs.append(epoch)
        if epoch.best_epoch == number and self.training.ranks.leads:
            weights = self.optimisation.averaged.state_dict()
            self._best = {name: tensor.clone() for name, tensor in weights.items()}
        if time.perf_counter() - self._written >= self._writing / self.writing_share:
            self._write(whole=True)
        return epoch

    def end(self, *, cut: bool) -> Epoch:
        """Write what is not on disk yet, and return the last epoch.

        If the time ended in the middle of an epoch (`cut`), the last checkpoint stays: the weights
        are past it.
        """
        if not self.epochs:
            raise ParserError("no epoch was trained: the time or the number of epochs is too small")
        self._write(whole=not cut)
        return self.epochs[-1]

    def _save_settings(self, folder: Path) -> None:
        training = self.training
        checkpoint.save_settings(
            folder,
            training.config,
            training.vocabulary,
            vectors=training.vectors,
            pretrained=training.pretrained,
            segmenter=training.segmenter,
        )

    def _write(self, *, whole: bool) -> None:
        """Write the best model, the log and, if `whole`, the checkpoint, in this order.

        Killed in between, training goes on from the older checkpoint and writes the same again.
        """
        if not self.training.ranks.leads:
            return
        started = time.perf_counter()
        with writing_to(self.folder):  # an error if it is another folder by now
            if self._replaces:  # this is the first epoch
                with replacing(self.folder) as new:
                    self._save_settings(new)
                    self._write_epochs(new, whole=True)
                self._replaces = False
            else:
                self._write_epochs(self.folder, whole=whole)
        self._written = time.perf_counter()
        self._writing = self._written - started

    def _write_epochs(self, folder: Path, *, whole: bool) -> None:
        if self._best is not None:
            checkpoint.save_weights(folder, self._best)
            self._best = None
        self._write_log(folder)
        if whole:
            self._write_checkpoint(folder)

    def _write_checkpoint(self, folder: Path) -> None:
        state: dict[str, Any] = {
            "data": self.data,
            "dev": self.dev,
            "teachers": self.teachers,
            "steps": self.optimisation.steps,
            "epochs": [asdict(epoch) for epoch in self.epochs],
        }
        checkpoint.save_checkpoint(folder, self.optimisation.state(), state)

    def _write_log(self, folder: Path) -> None:
        lines = [json.dumps(asdict(epoch)) + "\n" for epoch in self.epochs]
        checkpoint.replace_file(folder / checkpoint.LOG, "".join(lines).encode())


def _epochs(value: object) -> list[Epoch]:
    """Validate the epochs of a checkpoint."""
    kinds = {item.name: item.type for item in fields(Epoch)}
    if not isinstance(value, list):
        raise StorageError("its epochs are not a list")
    for number, epoch in enumerate(value, 1):
        if not isinstance(epoch, dict) or epoch.keys() != kinds.keys():
            raise StorageError(f"what it says of epoch {number} is not what a training writes")
        for name, kind in kinds.items():
            if type(epoch[name]) is not kind and not (kind is float and type(epoch[name]) is int):
                raise StorageError(f"{name} of epoch {number} is not a number")
        if epoch["epoch"] != number or not 1 <= epoch["best_epoch"] <= number:
            raise StorageError(f"what it says of epoch {number} is of another one")
    return [Epoch(**epoch) for epoch in value]


def _steps(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise StorageError("its number of steps is not one")
    return value
