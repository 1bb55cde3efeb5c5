"""One writer for a model folder: trainings and `Parser.save` lock it against each other."""

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from treecrf.locks import NO_LOCKS, LockedError, locked_folder
from treecrf.parser.errors import ParserError

if TYPE_CHECKING:
    from treecrf.parser.training.ranks import Ranks

__all__ = ["check_is_folder", "training_in", "writing_to"]


@contextmanager
def training_in(folder: Path, ranks: "Ranks") -> Iterator[None]:
    """Lock the folder for the processes that train together: the one that leads has the lock."""
    with ExitStack() as held:
        # An error of the leader ends the others as well.
        ranks.from_leader(lambda: held.enter_context(writing_to(folder)))
        yield


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Lock a model folder, or say who writes to it; a thread that has the lock may do it again."""
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
    """An error where there is something else than a folder."""
    if folder.exists() and not folder.is_dir():
        raise ParserError(f"{folder}: not a folder; a model is a folder of several files")
