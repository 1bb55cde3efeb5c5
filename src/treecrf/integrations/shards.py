"""The files of a corpus, their output files, and those that are done."""

import contextlib
import glob
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from treecrf.parser.errors import ParserError
from treecrf.storage import all_beside, beside, remove_temporary, replace_file

if TYPE_CHECKING:
    from treecrf.parser.files.sources import FileOptions

__all__ = ["Shard", "ShardFormat", "claim_folder", "find_shards", "unfinished"]

ShardFormat: TypeAlias = Literal["conllu", "json", "tree", "svg"]

_QUOTE = "quote a pattern, as in 'corpus/*.txt'"
_CLAIM = ".treecrf.json"
_ATTEMPT = ".attempt"
_EXTENSIONS: dict[ShardFormat, str] = {
    "conllu": "conllu",
    "json": "jsonl",
    "tree": "txt",
    "svg": "svg",
}
_SUFFIXES = (".conllu", ".conll", ".txt", ".jsonl", ".ndjson", ".parquet")


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of a corpus, and the file that its trees go to."""

    source: str
    target: str

    @property
    def done(self) -> bool:
        """Whether the output, written atomically, is there and newer than the file."""
        try:
            return os.path.getmtime(self.target) >= os.path.getmtime(self.source)
        except OSError:
            return False

    @property
    def marks(self) -> list[Path]:
        """Marks of attempts: those of workers that died over it, and the one under way."""
        return all_beside(Path(self.target), _ATTEMPT)

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """Mark that a worker is parsing the file; a killed worker leaves its mark."""
        mark = beside(Path(self.target), _ATTEMPT)
        mark.touch()
        try:
            yield
        finally:
            mark.unlink(missing_ok=True)

    def clean_up(self) -> None:
        """Remove temporary files of killed workers."""
        for path in self.marks:
            path.unlink(missing_ok=True)
        remove_temporary(Path(self.target))


def find_shards(patterns: Sequence[str], output: Path, *, format: ShardFormat) -> list[Shard]:
    """The files that patterns match, `**` for folders of any depth, in the order of their names.

    In the output they lie as below the fixed part of their pattern. Paths are absolute.
    """
    shards: dict[str, Shard] = {}
    for pattern in patterns:
        found = sorted(filter(os.path.isfile, glob.glob(pattern, recursive=True)))
        if os.path.isdir(pattern):
            everything = os.path.join(pattern, "**", "*")
            raise ParserError(f"{pattern}: a folder; '{everything}' is all the files in it")
        if not found:
            raise ParserError(f"{pattern}: no such file, so nothing was begun; {_QUOTE}")
        root = _fixed_part(pattern)
        for source in found:
            name = _target_name(os.path.relpath(source, root), format)
            target = os.path.abspath(output / name)
            shard = Shard(os.path.abspath(source), target)
            other = shards.setdefault(target, shard)
            if other.source != shard.source:
                raise ParserError(f"{other.source} and {shard.source} would both go to {target}")
    sources = {os.path.realpath(shard.source): shard.source for shard in shards.values()}
    for shard in shards.values():
        if (lost := sources.get(os.path.realpath(shard.target))) is not None:
            whose = "its trees" if lost == shard.source else f"the trees of {shard.source}"
            raise ParserError(f"{lost}: {whose} would take its place; name another folder")
    return list(shards.values())


def _fixed_part(pattern: str) -> str:
    folder = os.path.dirname(pattern)
    while glob.has_magic(folder):
        folder = os.path.dirname(folder)
    return folder or os.curdir


def _target_name(name: str, format: ShardFormat) -> str:
    packed = ".gz" if name.endswith(".gz") else ""
    stem = name.removesuffix(".gz")
    for suffix in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    return f"{stem}.{_EXTENSIONS[format]}{packed}"


def claim_folder(output: Path, model: Path, *, options: "FileOptions", format: ShardFormat) -> None:
    """Make the folder of a corpus, or go on with one whose files the same model makes as asked."""
    from treecrf.parser import folder as checkpoint  # which loads torch

    made = {"model": checkpoint.model_digest(model), "options": asdict(options), "format": format}
    if output.exists() and not output.is_dir():
        raise ParserError(f"{output}: not a folder; a corpus of several files goes into one")
    output.mkdir(parents=True, exist_ok=True)
    claim = output / _CLAIM
    if claim.exists():
        with contextlib.suppress(ValueError, RecursionError):
            if json.loads(claim.read_bytes()) == made:
                return
        problem = "what is there was parsed by another model or with other options"
        raise ParserError(f"{output}: {problem}; name another folder, or remove it")
    replace_file(claim, json.dumps(made).encode())


def unfinished(shards: Sequence[Shard]) -> list[Shard]:
    """Shards still to do, the largest first; removes temporary files of killed workers."""
    left = [shard for shard in shards if not shard.done]
    for shard in left:
        Path(shard.target).parent.mkdir(parents=True, exist_ok=True)
        shard.clean_up()
    return sorted(left, key=lambda shard: -os.path.getsize(shard.source))
