"""Experiments at toy size: a generated treebank, the tiny preset, two epochs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from treecrf.demo import generate_treebank
from treecrf.treebank import write_conllu

Main = Callable[[list[str]], int]

OPTIONS = ["--config", "tiny", "--epochs", "2", "--device", "cpu"]


def make_treebank(folder: Path, *, seed: int = 1, test: bool = True) -> Path:
    """A treebank of a few dozen sentences, some of them with crossing arcs."""
    folder.mkdir(parents=True)
    parts = {"train": 60, "dev": 15} | ({"test": 15} if test else {})
    for number, (part, count) in enumerate(parts.items()):
        sentences = generate_treebank(count, seed=10 * seed + number, crossing=0.2)
        write_conllu(sentences, folder / f"{part}.conllu")
    return folder


def run(main: Main, treebank: Path, out: Path, *arguments: str) -> None:
    """An experiment as its command line has it."""
    assert main(["--treebank", str(treebank), "--out", str(out), *OPTIONS, *arguments]) == 0


def result_of(folder: Path, name: str) -> dict[str, Any]:
    """The JSON that an experiment wrote, whose other files must be there as well."""
    for suffix in ("md", "png", "svg"):
        assert (folder / f"{name}.{suffix}").stat().st_size > 100
    content: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    assert content["experiment"] == name
    assert content["command"].startswith(f"python -m experiments.{name} --treebank ")
    assert content["machine"].keys() >= {"commit", "processor", "cores", "python", "torch"}
    assert content["trained"]
    return content
