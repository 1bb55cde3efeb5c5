"""A training in the place of another: nothing of the old one goes before the new one is there."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from treecrf.parser.folder import CONFIG, ENCODER, FILES, READY, SHARDS
from treecrf.storage import copy_modes, remove_temporary

__all__ = ["clean_up", "remove_model", "replacing"]


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A new folder to write a model or a training into: at the end it is what `folder` has.

    Until then nothing that is there goes, and nothing at all does after an error. What else is in
    the folder stays. The settings go first and come last: where they are, all is there. Killed in
    between, all is in a folder that `check_whole` names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    clean_up(folder)
    new = folder / f".{os.urandom(4).hex()}.new"
    try:
        new.mkdir(0o700)  # what it replaces may be for its owner alone
        yield new
        copy_modes(folder, new)
        ready = new.rename(new.with_suffix(READY))
    finally:
        shutil.rmtree(new, ignore_errors=True)
    remove_model(folder)
    for path in sorted(ready.iterdir(), key=lambda path: path.name == CONFIG):
        path.rename(folder / path.name)
    ready.rmdir()


def remove_model(folder: Path) -> None:
    """Remove the files of a model and of its training, and nothing else that is in the folder.

    The settings go first: without them there is no training to go on with.
    """
    was_here = (folder / CONFIG).exists()
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    for path in folder.glob(SHARDS):
        path.unlink()
    if not was_here:
        return  # an encoder that is there is somebody's own
    if (folder / ENCODER).is_symlink():
        (folder / ENCODER).unlink()
    elif (folder / ENCODER).is_dir():
        shutil.rmtree(folder / ENCODER)


def clean_up(folder: Path) -> None:
    """Remove what a training that was killed has left of files that it was writing."""
    for name in FILES:
        remove_temporary(folder / name)
    leftovers = [*folder.glob(".????????.new")]
    if (folder / CONFIG).exists():  # else what is ready may be all that there is
        leftovers += folder.glob(f".????????{READY}")
    for leftover in leftovers:
        shutil.rmtree(leftover)
