"""A training run: the settings and the data that its result follows from, and its name."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from experiments.systems import model_name
from experiments.treebanks import DataFile, Treebank
from treecrf.parser.config import Config
from treecrf.treebank.metrics.scores import Punctuation

__all__ = ["FORMAT", "Mask", "Run", "Unit"]

# What finished runs are written as; a change that makes old ones wrong counts it up.
FORMAT = 1

Unit = Literal["dependencies", "sentences"]


@dataclass(frozen=True, slots=True)
class Mask:
    """A share of the training data: of its dependencies, or of its sentences."""

    unit: Unit
    keep: float
    seed: int

    @property
    def share(self) -> float:
        """The share of the sentences that is left."""
        return self.keep if self.unit == "sentences" else 1.0

    @property
    def training(self) -> dict[str, Any]:
        """Values that determine the masked data.

        Dependencies were once rounded in each sentence: a finished run that does not say how they
        were drawn is another one.
        """
        if self.unit == "sentences":
            return asdict(self)
        return asdict(self) | {"drawn": "over the treebank"}


@dataclass(frozen=True, slots=True)
class Run:
    """A model to train on a treebank and to score on its other parts."""

    treebank: Treebank
    config: Config
    mask: Mask | None = None
    embeddings: DataFile | None = None
    punct: Punctuation = "keep"
    init: "Run | None" = None
    """The run whose model this one starts from."""
    transformer: DataFile | None = None
    """The folder with the pretrained encoder, where the settings name one."""
    note: str = field(default="", compare=False)
    """More words for `label`, such as the setting that a table varies."""

    @property
    def files(self) -> list[DataFile]:
        """All files that the run is trained and scored on."""
        parts = (*_parts(self.treebank), self.embeddings, self.transformer)
        return [part for part in parts if part is not None]

    @property
    def label(self) -> str:
        """The run in words, for a line of progress."""
        label = f"{model_name(self.config)} on {self.treebank.name}, seed {self.config.seed}"
        if self.config.tags != "none":
            label += f", {self.config.tags}"
        if self.note:
            label += f", {self.note}"
        return label if self.mask is None else f"{label}, {self.mask.keep:.0%} {self.mask.unit}"

    @property
    def training(self) -> dict[str, Any]:
        """Values that determine the trained model; the test part is not among them."""
        training = {
            "format": FORMAT,
            "config": self.config.to_dict(),
            "train": self.treebank.train.fingerprint,
            "dev": self.treebank.dev.fingerprint,
            "embeddings": None if self.embeddings is None else self.embeddings.fingerprint,
            "mask": None if self.mask is None else self.mask.training,
        }
        # Runs that start from nothing are named as they were before there were others.
        if self.init is not None:
            training["init"] = self.init.key
        if self.transformer is not None:
            training["transformer"] = self.transformer.fingerprint
        return training

    @property
    def key(self) -> str:
        """A name for files.

        Settings that have their default are no part of it, so that runs which were finished before
        a setting was added are found; `is_of` then compares those that were there.
        """
        defaults = Config().to_dict() | {"predict": []}
        chosen = {
            name: value for name, value in self.config.to_dict().items() if value != defaults[name]
        }
        digest = _digest(self.training | {"config": chosen})
        return f"{self.config.loss}-{self.config.seed}-{digest}"

    @property
    def whole_key(self) -> str:
        """A name for files that do not say in themselves what they were made from.

        Every setting is part of it, so that it is another one where a default has changed.
        """
        return f"{self.key}-{_digest(self.training)}"

    def is_of(self, training: dict[str, Any]) -> bool:
        """Whether a finished run that wrote this down as its `training` is this one."""
        ours = self.training
        settings = Config.with_present_names(training.get("config", {}))
        return {**training, "config": None} == {**ours, "config": None} and all(
            ours["config"].get(name) == value for name, value in settings.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values for `from_dict`."""

        def file(part: DataFile | None) -> list[str] | None:
            return None if part is None else [str(part.path.absolute()), part.fingerprint]

        return {
            "name": self.treebank.name,
            "parts": [file(part) for part in _parts(self.treebank)],
            "config": self.config.to_dict(),
            "mask": None if self.mask is None else asdict(self.mask),
            "embeddings": file(self.embeddings),
            "punct": self.punct,
            "init": None if self.init is None else self.init.to_dict(),
            "transformer": file(self.transformer),
            "note": self.note,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Run":
        """The run that another process wrote down."""

        def file(part: list[str] | None) -> DataFile | None:
            return None if part is None else DataFile(Path(part[0]), part[1])

        train, dev, test = map(file, data["parts"])
        assert train is not None
        assert dev is not None
        return cls(
            treebank=Treebank(data["name"], train, dev, test),
            config=Config(**data["config"]),
            mask=None if data["mask"] is None else Mask(**data["mask"]),
            embeddings=file(data["embeddings"]),
            punct=data["punct"],
            init=None if data["init"] is None else cls.from_dict(data["init"]),
            transformer=file(data["transformer"]),
            note=data["note"],
        )


def _digest(training: dict[str, Any]) -> str:
    text = json.dumps(training, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _parts(treebank: Treebank) -> tuple[DataFile | None, ...]:
    return treebank.train, treebank.dev, treebank.test
