"""The files of a team: one for each annotator, beside the file that the command names."""

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from treecrf.serve.annotate.decisions import Annotations, locked
from treecrf.treebank import TreebankError

__all__ = ["checked_names", "open_annotations", "path_of"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_PACKED = (".gz", ".xz", ".bz2", ".zst")


def checked_names(text: str | None) -> list[str]:
    """The names in `anna,ben`; one without a name for None, who works alone."""
    if text is None:
        return [""]
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if not _NAME.fullmatch(name):
            rule = "letters a to z, digits, - and _, because it is part of the name of a file"
            raise TreebankError(f"--annotators: {name!r} is no name; one has {rule}")
    if len({name.lower() for name in names}) < len(names):
        raise TreebankError("--annotators names somebody twice; give everybody a name of their own")
    return names


def path_of(out: Path, name: str) -> Path:
    """The file of an annotator: `out.anna.conllu` beside `out.conllu`."""
    if not name:
        return out
    ends = out.suffixes[-2:] if out.suffix in _PACKED else out.suffixes[-1:]
    end = "".join(ends)
    return out.with_name(f"{out.name.removesuffix(end)}.{name}{end}")


@contextlib.contextmanager
def open_annotations(out: Path, names: Sequence[str]) -> Iterator[dict[str, Annotations]]:
    """Open the files of these annotators, and lock them together with `out`."""
    out = Path(os.path.realpath(out))
    with ExitStack() as files:
        if names != [""]:  # of a text there is one cut for all, which no other process may make
            files.callback(locked(out).release)
        yield {name: files.enter_context(Annotations(path_of(out, name))) for name in names}
