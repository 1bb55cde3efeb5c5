"""Folders of treebanks: a training part, a dev part and, where there is one, a test part."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from experiments.errors import ExperimentError

__all__ = ["DataFile", "Split", "Treebank", "find_treebanks", "open_treebank", "shared_split"]

Split = Literal["dev", "test"]


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file and a digest of its content: results are valid while the digest is the same."""

    path: Path
    fingerprint: str

    @classmethod
    def of(cls, path: Path) -> "DataFile":
        try:
            with open(path, "rb") as file:
                return cls(path, hashlib.file_digest(file, "sha256").hexdigest()[:16])
        except OSError as error:
            raise ExperimentError(f"{path}: {error.strerror}") from None

    @classmethod
    def of_folder(cls, folder: Path) -> "DataFile":
        """The files of a folder under one name, without hidden ones and folders in it."""
        files = [
            path for path in sorted(folder.iterdir()) if path.is_file() and path.name[0] != "."
        ]
        content = "".join(f"{path.name} {cls.of(path).fingerprint}\n" for path in files)
        return cls(folder, hashlib.sha256(content.encode()).hexdigest()[:16])

    def check(self) -> None:
        """Require that the content is unchanged, since results are named after its digest."""
        now = self.of_folder(self.path) if self.path.is_dir() else self.of(self.path)
        if now != self:
            raise ExperimentError(
                f"{self.path}: changed since the command began; give the command again"
            )


@dataclass(frozen=True, slots=True)
class Treebank:
    """The parts of a treebank."""

    name: str
    train: DataFile
    dev: DataFile
    test: DataFile | None

    @property
    def splits(self) -> dict[Split, DataFile]:
        """The parts that parsers are scored on."""
        return {"dev": self.dev} if self.test is None else {"dev": self.dev, "test": self.test}

    def to_dict(self) -> dict[str, str]:
        """Digest of each part, for JSON."""
        return {"name": self.name, "train": self.train.fingerprint} | {
            split: part.fingerprint for split, part in self.splits.items()
        }


def open_treebank(folder: Path) -> Treebank:
    """The treebank in a folder: `train.conllu`, or a file whose name ends so, and the others."""
    if folder.is_file():
        raise ExperimentError(f"{folder}: a file; give the folder that has train and dev files")
    if not folder.is_dir():
        raise ExperimentError(f"{folder}: no such folder; a treebank is a folder of CoNLL-U files")
    train, dev, test = (_part(folder, part) for part in ("train", "dev", "test"))
    if train is None or dev is None:
        missing = "train.conllu" if train is None else "dev.conllu"
        raise ExperimentError(
            f"{folder}: it has no {missing}; an experiment needs train.conllu and dev.conllu"
        )
    return Treebank(folder.resolve().name, train, dev, test)


def find_treebanks(folders: Iterable[Path]) -> list[Treebank]:
    """The treebanks in these folders, each of which is one or has some in its own folders."""
    found = []
    for folder in folders:
        inside = sorted(path for path in folder.glob("*") if _part_path(path, "train") is not None)
        if folder.is_dir() and not inside and _part_path(folder, "train") is None:
            raise ExperimentError(
                f"{folder}: neither it nor a folder in it has train.conllu and dev.conllu"
            )
        if not inside or _part_path(folder, "train") is not None:
            found.append(open_treebank(folder))
        else:
            found += [open_treebank(path) for path in inside]
    names = [treebank.name for treebank in found]
    for name in names:
        if names.count(name) > 1:
            raise ExperimentError(f"two treebanks are called {name}; rename one of the folders")
    return found


def shared_split(treebanks: Iterable[Treebank]) -> Split:
    """The part to report where one is enough: test, as in the paper, if every treebank has it."""
    return "test" if all(treebank.test is not None for treebank in treebanks) else "dev"


def _part(folder: Path, part: str) -> DataFile | None:
    path = _part_path(folder, part)
    return None if path is None else DataFile.of(path)


def _part_path(folder: Path, part: str) -> Path | None:
    """The file of a part; in a UD release it is called `en_ewt-ud-train.conllu`."""
    plain = folder / f"{part}.conllu"
    if plain.is_file():
        return plain
    named = sorted(folder.glob(f"*-{part}.conllu"))
    if len(named) > 1:
        raise ExperimentError(f"{folder}: it has {len(named)} {part} parts; keep one of them")
    return named[0] if named else None
