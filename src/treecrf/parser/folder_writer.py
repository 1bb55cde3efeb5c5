"""Writing to a model folder: one writer at a time, and a new model in the place of an old one."""

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from treecrf.locks import NO_LOCKS, LockedError, locked_folder
from treecrf.parser.errors import ParserError
from treecrf.parser.packages.card import CARD, TEXT
from treecrf.segment.segmenter import FILES as SEGMENTER_FILES
from treecrf.storage import copy_modes, remove_temporary

if TYPE_CHECKING:
    from treecrf.parser.training.ranks import Ranks

__all__ = ["check_is_folder", "check_whole", "clean_up", "replacing", "training_in", "writing_to"]

CONFIG = "config.toml"
VOCABULARY = "vocab.json"
WEIGHTS = "model.safetensors"
SHARDS = "model-*-of-*.safetensors"
VECTORS = "vectors.safetensors"
CHECKPOINT = "checkpoint.safetensors"
LOG = "log.jsonl"
ENCODER = "encoder"
FILES = (CONFIG, VOCABULARY, VECTORS, WEIGHTS, CHECKPOINT, LOG, *SEGMENTER_FILES)

# Hidden folders in a model folder: files being written, complete files, and files they replace.
_NEW, _READY, _OLD = ".new", ".ready", ".old"


@contextmanager
def training_in(folder: Path, ranks: "Ranks") -> Iterator[None]:
    """Lock the folder for processes that train together; the leader has the lock."""
    with ExitStack() as held:
        # An error of the leader ends the others as well.
        ranks.from_leader(lambda: held.enter_context(writing_to(folder)))
        yield


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Lock a model folder; an error says who writes to it. A thread may lock it again."""
    check_is_folder(folder)
    with ExitStack() as held:
        try:
            held.enter_context(locked_folder(folder))
        except LockedError as error:
            raise ParserError(f"{folder}: {error}") from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                error.filename = str(folder)  # the name that the user knows
                raise
            warnings.warn(
                f"{folder}: cannot be locked ({error.strerror}): start no other training in it",
                stacklevel=2,
            )
        yield


def check_is_folder(folder: Path) -> None:
    """Raise an error if something else than a folder is there."""
    if folder.exists() and not folder.is_dir():
        raise ParserError(f"{folder}: not a folder; a model is a folder of several files")


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A new folder to write a model or a training into; at the end its files go to `folder`.

    Older files stay until then, and after an error; files that are not of a model stay anyway. The
    settings are removed first and put there last: if they are there, all files are. Killed in
    between, all is in a folder that `check_whole` names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    clean_up(folder)
    new = folder / f".{os.urandom(4).hex()}{_NEW}"
    try:
        new.mkdir(0o700)  # what it replaces may be for its owner alone
        yield new
        copy_modes(folder, new)
        ready = new.rename(new.with_suffix(_READY))
    except OSError as error:
        _name_target(error, new, folder)
        raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
    try:
        old = new.with_suffix(_OLD)
        old.mkdir(0o700)
        _move(
            [(path, old / path.name) for path in _model_files(folder)]
            + [
                (path, folder / path.name)
                for path in sorted(ready.iterdir(), key=lambda file: file.name == CONFIG)
            ]
        )
    finally:
        clean_up(folder)


def _name_target(error: OSError, new: Path, folder: Path) -> None:
    """Have an error name the file as the user will see it, and not the hidden one."""
    inside = os.path.join(new, "")
    if isinstance(error.filename, str | os.PathLike):
        name = os.fspath(error.filename)
        if name == str(new) or name.startswith(inside):
            error.filename, error.filename2 = str(folder / name[len(inside) :]), None


def clean_up(folder: Path) -> None:
    """Remove unfinished files that a killed process has left."""
    for name in FILES:
        remove_temporary(folder / name)
    ends = [_NEW]
    if (folder / CONFIG).exists():  # else what is ready may be all that there is
        ends += [_READY, _OLD]
    for leftover in (path for end in ends for path in folder.glob(f".????????{end}")):
        shutil.rmtree(leftover)


def check_whole(folder: Path) -> None:
    """Raise an error if a process was killed while it replaced a model."""
    if not (folder / CONFIG).is_file() and (ready := list(folder.glob(f".????????{_READY}"))):
        raise ParserError(
            f"{folder}: a command was cut short as it put a new model here; all that is left to do "
            f"is to move the files of {ready[0]} to {folder}, and to remove it"
        )


def _model_files(folder: Path) -> list[Path]:
    """The files of a model and of its training, the settings first."""
    files = [folder / name for name in FILES]
    if files[0].exists():  # else an encoder that is there is somebody's own
        files.append(folder / ENCODER)
    if (folder / CARD).exists():  # else a README.md is somebody's own too
        files += [folder / CARD, folder / TEXT]
    found = [path for path in files if path.exists() or path.is_symlink()]
    return [*found, *folder.glob(SHARDS)]


def _move(moves: list[tuple[Path, Path]]) -> None:
    """Rename files in this order; if one fails, move all back."""
    done = []
    try:
        for path, target in moves:
            path.rename(target)
            done.append((path, target))
    except OSError:
        for path, target in reversed(done):
            target.rename(path)
        raise
