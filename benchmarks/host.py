"""Speed of the way from file to file without the network: CoNLL-U in, trees out, on one thread.

Each sentence gets a chain for a tree, with relations in turn. It goes over `Sentence` objects and
in columns, in turn; both must write the same bytes, for every file, before anything is timed. What
counts is the processor time of the best round, by stage: the rest is what else the machine did.
"""

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.report import add_json, print_facts, print_table, treebank_files, write_json
from benchmarks.timing import machine
from treecrf.parser.batching.batch import cut_batches, make_batch
from treecrf.parser.batching.encoding import EncodedSentences, encode, encode_words
from treecrf.parser.columns.reading import column_windows, read_columns, whole_blocks
from treecrf.parser.columns.writing import write_columns
from treecrf.parser.config import Config
from treecrf.parser.constraints import NO_CONSTRAINTS
from treecrf.parser.decoding.batches import BATCH_WORDS
from treecrf.parser.decoding.sentences import TreeNamer
from treecrf.parser.decoding.trees import Trees
from treecrf.parser.files.pipeline import windows
from treecrf.parser.vocab import Vocabulary, build_vocabulary
from treecrf.treebank import read_conllu
from treecrf.treebank.files.conllu import ConlluReader
from treecrf.treebank.files.streams import open_source, open_target, read_chunks
from treecrf.treebank.probs import with_written_probs

STAGES = ("reading", "words to numbers", "batches", "naming and writing")


class Host:
    """The two ways, for one model; seconds of their stages add up in `seconds`."""

    def __init__(self, vocabulary: Vocabulary, config: Config, *, probs: bool) -> None:
        self.vocabulary = vocabulary
        self.config = config
        self.probs = probs
        self.namer = TreeNamer(vocabulary, config)
        self.seconds: dict[str, float] = defaultdict(float)
        self._since = 0.0

    def over_objects(self, source: Path, target: Path) -> None:
        """From file to file with a `Sentence` for each sentence."""
        with open_source(source) as (file, name), open_target(target) as write:
            self._since = time.process_time()
            sentences = ConlluReader(name, trees=False).read(read_chunks(file))
            for window in windows(sentences, size=len):
                self._charge("reading")
                encoded = encode(window, self.vocabulary, self.config)
                trees = self._trees(encoded)
                parsed = self.namer.with_trees(window, [NO_CONSTRAINTS] * len(window), trees)
                for sentence in map(with_written_probs, parsed) if self.probs else parsed:
                    write(sentence.to_conllu())
                self._charge("naming and writing")

    def in_columns(self, source: Path, target: Path) -> None:
        """From file to file without an object a word."""
        with open_source(source) as (file, name), open_target(target) as write:
            self._since = time.process_time()
            reader = ConlluReader(name, trees=False)
            pieces = whole_blocks(read_chunks(file), name, size=1 << 18)
            parts = (read_columns(reader, data, line=line) for line, data in pieces)
            for columns in column_windows(chain.from_iterable(parts)):
                self._charge("reading")
                encoded = encode_words(columns, self.vocabulary, self.config)
                trees = self._trees(encoded)
                nothing = [NO_CONSTRAINTS] * len(columns)
                write(write_columns(self.namer, columns, nothing, trees, write_probs=self.probs))
                self._charge("naming and writing")

    def _trees(self, encoded: EncodedSentences) -> Trees:
        """The trees that are given, after batches that nobody scores."""
        self._charge("words to numbers")
        order = np.argsort(-encoded.lengths, kind="stable")
        for rows in cut_batches(encoded.lengths, order, tokens=BATCH_WORDS["cuda"]):
            make_batch(encoded, rows)
        self._charge("batches")
        tokens = int((encoded.lengths + 1).sum())
        heads = np.arange(tokens) - np.repeat(encoded.starts, encoded.lengths + 1) - 1
        relations = np.arange(tokens) % len(self.vocabulary.relations)
        trees = Trees(encoded.lengths, heads.clip(0), relations)
        if self.probs:
            probs = np.random.default_rng(0).random(tokens)
            log_probs = np.log(probs[encoded.starts])
            trees = replace(trees, probs=probs, relation_probs=probs[::-1], log_probs=log_probs)
        self._since = time.process_time()  # making trees up is no part of it
        return trees

    def _charge(self, stage: str) -> None:
        now = time.process_time()
        self.seconds[stage] += now - self._since
        self._since = now

    def stages(self, way: Callable[[Path, Path], None], *files: Path) -> dict[str, float]:
        """Seconds of each stage from one file to the other."""
        self.seconds.clear()
        way(*files)
        return dict(self.seconds)


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(1)
    facts = machine(torch.device("cpu"))
    print_facts(facts)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for source in treebank_files(arguments.treebanks, arguments.file):
            sentences = list(read_conllu(source))
            host = Host(build_vocabulary(sentences, Config()), Config(), probs=arguments.probs)
            check_same(host, source, Path(folder))
            rounds = [_round(host, source, Path(folder)) for _ in range(arguments.rounds)]
            words = sum(map(len, sentences))
            rows.append({"file": str(source.relative_to(arguments.treebanks)), "words": words})
            for way in rounds[0]:
                rows[-1][way] = min((seconds[way] for seconds in rounds), key=_total)
    for row in rows:
        print(f"\n{row['file']}: {row['words']:,} words; the same bytes both ways")
        print_speeds(row["words"], row["objects"], row["columns"])
    if arguments.json:
        write_json(arguments.json, {"machine": facts, "probs": arguments.probs, "rows": rows})


def check_same(host: Host, source: Path, folder: Path) -> None:
    """Exit with an error unless both ways write the same bytes."""
    host.over_objects(source, folder / "objects")
    host.in_columns(source, folder / "columns")
    if (folder / "objects").read_bytes() != (folder / "columns").read_bytes():
        sys.exit(f"{source} is written differently, so nothing is timed")


def _round(host: Host, source: Path, folder: Path) -> dict[str, dict[str, float]]:
    ways = {"objects": host.over_objects, "columns": host.in_columns}
    return {name: host.stages(way, source, folder / name) for name, way in ways.items()}


def _total(seconds: dict[str, float]) -> float:
    return sum(seconds.values())


def print_speeds(words: int, objects: dict[str, float], columns: dict[str, float]) -> None:
    """Print a row for each stage, and one for all."""
    rows = [(name, objects[name], columns[name]) for name in STAGES]
    rows.append(("all", _total(objects), _total(columns)))
    print_table(
        ["stage", "objects, µs a word", "columns, µs a word", "columns, words/s", "times as fast"],
        [
            [
                name,
                f"{1e6 * before / words:.3f}",
                f"{1e6 * after / words:.3f}",
                f"{words / after:,.0f}",
                f"{before / after:.1f}",
            ]
            for name, before, after in rows
        ],
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.host", description=__doc__)
    parser.add_argument("treebanks", type=Path, help="the folder of treebanks")
    parser.add_argument("--file", default="en_ewt-2.3/train.conllu", help="which files of it")
    parser.add_argument("--probs", action="store_true", help="write probabilities as well")
    parser.add_argument("--rounds", type=int, default=5)
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
