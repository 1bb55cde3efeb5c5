"""Data that parsers are timed on: a treebank or an even sample of it, and a demo model."""

import argparse
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.report import treebank_files
from treecrf.demo import generate_treebank
from treecrf.treebank import read_conllu, write_conllu


@dataclass(frozen=True)
class Corpus:
    """The files of a treebank, and how many sentences and words are trained on and parsed."""

    name: str
    train: Path
    dev: Path
    sentences: int
    words: int

    def to_dict(self) -> dict[str, str | int]:
        """Name and sizes, for JSON."""
        return {"name": self.name, "sentences": self.sentences, "words": self.words}

    def __str__(self) -> str:
        return f"{self.name}, {self.sentences:,} sentences of {self.words:,} words"


def add_arguments(parser: argparse.ArgumentParser, *, sentences: int) -> None:
    """Add the arguments that choose a corpus, with this default number of sentences."""
    parser.add_argument("treebanks", type=Path, help="the folder of treebanks")
    parser.add_argument("--treebank", default="en_ewt-2.3", metavar="DIR", help="which one of it")
    parser.add_argument(
        "--sentences",
        type=int,
        default=sentences,
        metavar="N",
        help="take so many, evenly spread; 0: all",
    )


def make_corpus(arguments: argparse.Namespace, folder: Path) -> Corpus:
    """Make the corpus that the arguments choose; a sample of it is written to the folder."""
    files = {}
    for part in ("train", "dev"):
        (path,) = treebank_files(arguments.treebanks / arguments.treebank, f"{part}.conllu")
        kept = list(read_conllu(path))
        wanted = arguments.sentences
        if wanted and wanted < len(kept):
            kept = [kept[number * len(kept) // wanted] for number in range(wanted)]
            path = folder / f"{part}.conllu"
            write_conllu(kept, path)
        files[part] = (path, kept)
    train, sentences = files["train"]
    name = (arguments.treebanks / arguments.treebank).name
    return Corpus(name, train, files["dev"][0], len(sentences), sum(map(len, sentences)))


def repeated(corpus: Corpus, folder: Path, copies: int) -> Corpus:
    """The corpus with its training part repeated `copies` times, in a file in the folder."""
    if copies == 1:
        return corpus
    path = folder / "copies.conllu"
    text = corpus.train.read_bytes()
    with path.open("wb") as file:
        for _ in range(copies):
            file.write(text)
    return replace(
        corpus, train=path, sentences=copies * corpus.sentences, words=copies * corpus.words
    )


def train_demo(folder: Path, config: str) -> Path:
    """Train for one epoch on generated sentences: speed does not depend on accuracy."""
    for name, count, seed in (("train", 300, 1), ("dev", 20, 2)):
        write_conllu(generate_treebank(count, seed=seed), folder / f"{name}.conllu")
    data = ["--train", str(folder / "train.conllu"), "--dev", str(folder / "dev.conllu")]
    model = folder / "model"
    command = [sys.executable, "-m", "treecrf", "train", *data, "--out", str(model)]
    options = ["--config", config, "--set", "epochs=1", "--device", "cpu"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    return model
