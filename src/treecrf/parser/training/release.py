"""Treebanks of Universal Dependencies as they are released: a folder with parts by name."""

import re
from dataclasses import dataclass
from pathlib import Path

from treecrf.parser.errors import ParserError

__all__ = ["Release", "find_release"]

# it_partut-ud-train.conllu; cs_pdt-ud-train-c.conllu is one of several; train.conllu is plain.
_FILE = re.compile(r"(?:(?P<name>.+)-ud-)?(?P<part>train|dev)(?:-[a-zA-Z0-9]+)?\.conllu(?:\.gz)?")
_LANGUAGE = re.compile(r"[a-z]{2,8}(?=_|$)")  # at the start of a name
_LICENCE = re.compile(r"^License:[ \t]*(\S.*)$", re.MULTILINE)
_LISTED = re.compile(r"(?:CC-BY(?:-[A-Z]{2})*|CC0|A?GPL|LGPL|Apache|MIT|PDDL)(?:-[0-9.]+)?")


@dataclass(frozen=True, slots=True)
class Release:
    """The files of a treebank, and what its names and its README say of it."""

    name: str
    """Such as it_partut; of plain file names, that of the folder."""
    language: str
    """Code of the language, with which released names start; empty of plain names."""
    licence: str
    """As an SPDX identifier; empty if README.md states none."""
    train: list[str]
    dev: str


def find_release(folder: Path) -> Release:
    """Find the training and dev parts in a folder; an error says what it lacks."""
    if not folder.is_dir():
        problem = "this is a file" if folder.exists() else "no such folder"
        raise ParserError(f"{folder}: {problem}; --treebank takes the folder of a treebank")
    found = [match for path in folder.iterdir() if (match := _FILE.fullmatch(path.name))]
    names = sorted({match["name"] or "" for match in found})
    if len(names) > 1:
        shown = ", ".join(name or "train.conllu" for name in names)
        raise ParserError(
            f"{folder}: it has several treebanks ({shown}); put one into a folder of its own, or "
            "give --train and --dev"
        )
    parts = {
        part: sorted(str(folder / match[0]) for match in found if match["part"] == part)
        for part in ("train", "dev")
    }
    for part, files in parts.items():
        if not files:
            raise ParserError(
                f"{folder}: it has no *-ud-{part}.conllu and no {part}.conllu; give the files with "
                "--train and --dev instead"
            )
    if both := [file for file in parts["train"] if f"{file}.gz" in parts["train"]]:
        name = Path(both[0]).name
        raise ParserError(f"{folder}: it has {name} and {name}.gz; remove one of them")
    if len(parts["dev"]) > 1:
        raise ParserError(f"{folder}: it has several dev parts; give --train and --dev instead")
    language = _LANGUAGE.match(names[0])
    return Release(
        name=names[0] or folder.resolve().name,
        language=language[0] if language else "",
        licence=_licence(folder),
        train=parts["train"],
        dev=parts["dev"][0],
    )


def _licence(folder: Path) -> str:
    """The licence in the metadata at the end of README.md, such as `License: CC BY-SA 4.0`."""
    for name in ("README.md", "README.txt"):
        try:
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if stated := _LICENCE.search(text):
            return _as_spdx(stated[1])
    return ""


def _as_spdx(licence: str) -> str:
    """`CC-BY-SA-4.0` of `CC BY-SA 4.0`; what SPDX does not list is a LicenseRef."""
    words = re.sub("[^A-Za-z0-9.]+", "-", licence.removeprefix("GNU ")).strip("-")
    if words == "LGPL-LR":
        return "LGPLLR"
    if not words:  # in another script than Latin
        return ""
    return words if _LISTED.fullmatch(words) else f"LicenseRef-{words}"
