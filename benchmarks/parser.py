"""Training and parsing speed of a second-order parser, beside its encoder and SuPar.

Parsing is from file to file: reading, trees by MBR, writing; a first pass is not counted. The bare
encoder is given the batches of that pass, already on the device. A CPU that multiplies bytes fast
does both in products of bytes as well. SuPar is given the same sentences and a model of the same
size, trained for as many epochs. Before a ratio is printed, the files that came out must have one
tree for each sentence, over its words, and those by products of bytes nearly the same heads.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from benchmarks.corpus import Corpus, add_arguments, make_corpus, repeated
from benchmarks.encoder import best_seconds, encoding_seconds, watched_batches
from benchmarks.report import add_json, print_facts, print_table, write_json
from benchmarks.timing import machine
from treecrf.cores import usable_cores
from treecrf.nn.int8.linear import has_byte_products
from treecrf.parser import Config, Parser, load, load_config, set_up
from treecrf.parser.files.conllu import parse_to_conllu
from treecrf.parser.files.sources import FileOptions
from treecrf.parser.files.workers import parse_with_workers
from treecrf.parser.training.loop import Epoch, train
from treecrf.treebank import read_conllu
from treecrf.treebank.files.streams import open_target
from treecrf.treebank.trees import is_projective, is_tree

PAPER_BATCH_TOKENS = 5000
FILE_TO_FILE = "parsing, file to file"
SHARE = "of the encoder"
OURS, WITH_WORKERS, THEIRS = "ours.conllu", "workers.conllu", "theirs.conllu"
BYTES = "int8.conllu"
LEAST_AGREEMENT = 0.98  # share of the heads that products of bytes leave as they are


@dataclass
class Row:
    """One question, and how many of what in a second; None where SuPar was not asked."""

    question: str
    unit: str
    ours: float
    supar: float | None = None


def main() -> None:
    arguments = _arguments()
    device = torch.device(arguments.device)
    facts = machine(device)
    print_facts(facts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = make_corpus(arguments, folder)
        rows, model = [], arguments.model
        if model is None:
            config = load_config(arguments.config)
            model = folder / "model"
            for tokens in sorted({PAPER_BATCH_TOKENS, config.batch_tokens}, reverse=True):
                sized = replace(config, batch_tokens=tokens)
                speed = training_speed(model, sized, corpus, arguments)
                rows.append(Row(_training(tokens), "sentences/s", speed))
                print(f"  {speed:,.0f} sentences/s", file=sys.stderr, flush=True)
        parser = load(model, device=arguments.device, precision="float32")
        copies = repeated(corpus, folder, arguments.copies)
        parsed = {OURS: corpus} | ({WITH_WORKERS: copies} if arguments.workers else {})
        rows += parsing_speeds(
            parser, parsed, folder, rounds=arguments.rounds, workers=arguments.workers
        )
        if device.type == "cpu" and has_byte_products():
            by_bytes = load(model, device=arguments.device, precision="int8")
            bytes_only = {BYTES: corpus}
            rows += parsing_speeds(by_bytes, bytes_only, folder, rounds=arguments.rounds, workers=0)
            parsed |= bytes_only
            share = agreement(folder / OURS, folder / BYTES)
            print(f"products of bytes: {share:.2%} of the heads are those of float32")
            if share < LEAST_AGREEMENT:
                sys.exit("products of bytes give other trees, so nothing is reported")
        for name, source in parsed.items():
            # Arcs that were lifted in training come back, and may cross.
            if wrong := wrong_trees(source, folder / name, projective=not parser.config.pseudo):
                sys.exit(f"our trees are wrong, so nothing is reported: {wrong}")
        if arguments.peers == "all":
            compare_with_supar(rows, parser.config, corpus, folder, arguments)
    often = f", with workers {arguments.copies} copies of it" if WITH_WORKERS in parsed else ""
    print(f"{corpus}{often}; {parser.config.loss}, {parser.config.resolved_decoder}\n")
    _print_rows(rows)
    if arguments.json:
        content = {"machine": facts, "corpus": corpus.to_dict(), "config": parser.config.to_dict()}
        asked = ("epochs", "seconds", "rounds", "copies")
        taken = {name: getattr(arguments, name) for name in asked}
        content |= {"arguments": taken, "rows": [asdict(row) for row in rows]}
        write_json(arguments.json, content)


def _training(tokens: int) -> str:
    return f"training, {tokens:,} words a batch"


def training_speed(
    model: Path, config: Config, corpus: Corpus, arguments: argparse.Namespace
) -> float:
    """Sentences a second of the epochs after the first, or of the first if there is no other."""
    print(f"training with {config.batch_tokens} words a batch ...", file=sys.stderr, flush=True)
    config = replace(config, epochs=arguments.epochs, patience=arguments.epochs)
    training = set_up(
        model,
        config,
        train=[corpus.train],
        dev=corpus.dev,
        overwrite=True,
        device=arguments.device,
    )
    epochs: list[Epoch] = []
    training.on_epoch = epochs.append
    training.max_minutes = arguments.seconds / 60
    train(training, model)
    speeds = [epoch.sentences_per_second for epoch in epochs]
    if len(speeds) == 1:
        print("  one epoch, the first: give it more --seconds or --epochs", file=sys.stderr)
    return max(speeds[1:] or speeds)


def parsing_speeds(
    parser: Parser, corpora: dict[str, Corpus], folder: Path, *, rounds: int, workers: int
) -> list[Row]:
    """Speed from file to file in one process and with worker processes, and of the encoder."""
    print("parsing ...", file=sys.stderr, flush=True)
    precision = "" if parser.config.precision == "float32" else f", {parser.config.precision}"
    name, corpus = next(iter(corpora.items()))  # what one process parses

    def parse() -> None:
        with open_target(folder / name) as write:
            for text in parse_to_conllu(parser, corpus.train, FileOptions()):
                write(text)

    def parse_with_others() -> None:
        with open_target(folder / WITH_WORKERS) as write:
            source = corpora[WITH_WORKERS].train
            for text in parse_with_workers(parser, source, FileOptions(), workers=workers):
                write(text)

    with watched_batches(parser.scorer) as batches:
        parse()
    alone = FILE_TO_FILE + precision
    seconds = {alone: (corpus, best_seconds(parse, parser.device, rounds=rounds))}
    if workers:
        others = best_seconds(parse_with_others, parser.device, rounds=rounds)
        seconds[f"{FILE_TO_FILE}, {workers} workers"] = (corpora[WITH_WORKERS], others)
    for question, (given, time) in seconds.items():
        speed = f"{given.sentences / time:,.0f} sentences/s"
        print(f"  {question}: {speed}", file=sys.stderr, flush=True)
    encoding = encoding_seconds(parser.scorer, batches, parser.device, rounds=rounds)
    encoded = corpus.words / encoding
    rows = [
        Row(question, unit, count / time)
        for question, (given, time) in seconds.items()
        for unit, count in (("sentences/s", given.sentences), ("words/s", given.words))
    ]
    rows.append(Row("the encoder alone" + precision, "words/s", encoded))
    shares = (Row(q, SHARE, given.words / time / encoded) for q, (given, time) in seconds.items())
    return [*rows, *shares]


def agreement(parsed: Path, other: Path) -> float:
    """The share of the words of one file that have the same head in the other."""
    pairs = [
        (one, two)
        for left, right in zip(read_conllu(parsed), read_conllu(other), strict=True)
        for one, two in zip(left.heads, right.heads, strict=True)
    ]
    return sum(one == two for one, two in pairs) / len(pairs)


def wrong_trees(corpus: Corpus, parsed: Path, *, projective: bool) -> str | None:
    """Problem with the trees of a file, each of which must have a single root; None if none."""
    given, found = list(read_conllu(corpus.train)), list(read_conllu(parsed))
    if len(given) != len(found):
        return f"{parsed.name} has {len(found)} trees for {len(given)} sentences"
    for sentence, tree in zip(given, found, strict=True):
        heads = [0, *tree.heads]
        if tree.forms != sentence.forms or not is_tree(heads):
            return f"no tree over the words of {sentence.where}"
        if projective and not is_projective(heads):
            return f"the tree of {sentence.where} is not projective"
    return None


def compare_with_supar(
    rows: list[Row], config: Config, corpus: Corpus, folder: Path, arguments: argparse.Namespace
) -> None:
    """Fill in SuPar's figures, if it can be imported, from a process of its own."""
    if importlib.util.find_spec("supar") is None:
        print("SuPar cannot be imported: not compared", file=sys.stderr)
        return
    print("SuPar: training and parsing ...", file=sys.stderr, flush=True)
    if arguments.model and not arguments.supar_model:
        print("  its model is a few epochs old, ours may be better: see --supar-model")
    plain, figures = folder / "plain.conllu", folder / "supar.json"
    with plain.open("w", encoding="utf-8") as file:  # it is spared comments and multiword tokens
        for sentence in read_conllu(corpus.train):
            columns = zip(sentence.forms, sentence.heads, sentence.deprels, strict=True)
            for number, (form, head, deprel) in enumerate(columns, 1):
                file.write(f"{number}\t{form}\t_\t_\t_\t_\t{head}\t{deprel}\t_\t_\n")
            file.write("\n")
    order = {
        "config": config.to_dict() | {"batch_tokens": PAPER_BATCH_TOKENS},
        "data": str(plain),
        "parsed": str(folder / THEIRS),
        "model": str(arguments.supar_model or ""),
        "epochs": arguments.epochs,
        "seconds": arguments.seconds,
        "rounds": arguments.rounds,
        "threads": torch.get_num_threads(),
        "figures": str(figures),
    }
    environment = dict(os.environ)
    if arguments.device == "cpu":
        environment["CUDA_VISIBLE_DEVICES"] = ""  # it would take a GPU that it sees
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.supar_parser"]
    result = subprocess.run(
        command, input=json.dumps(order), env=environment, text=True, stdout=subprocess.DEVNULL
    )
    if result.returncode:
        print("SuPar failed: not compared", file=sys.stderr)
        return
    if wrong := wrong_trees(corpus, folder / THEIRS, projective=True):
        print(f"SuPar's trees are wrong: not compared: {wrong}", file=sys.stderr)
        return
    theirs = json.loads(figures.read_text())
    counts = {"sentences/s": corpus.sentences, "words/s": corpus.words}
    for row in rows:
        if row.question == _training(PAPER_BATCH_TOKENS):
            row.supar = theirs["training"]
        elif row.question.startswith(FILE_TO_FILE) and row.unit in counts:
            row.supar = counts[row.unit] / theirs["file_to_file"]
    rows += rows_without_files(rows, corpus.words / theirs["trees_alone"])


def rows_without_files(rows: list[Row], supar: float) -> list[Row]:
    """Rows without files: ours in one float32 process, our fastest setup, SuPar's own figure."""
    ours = {row.question: row.ours for row in rows if row.unit == "words/s" and row.supar}
    fastest = max(ours, key=lambda question: ours[question])
    named = {FILE_TO_FILE: f"{FILE_TO_FILE}, one process, float32"}
    if fastest != FILE_TO_FILE:
        named[fastest] = f"{fastest}, our fastest"
    return [
        Row(f"{name}; SuPar without files", "words/s", ours[question], supar)
        for question, name in named.items()
    ]


def _print_rows(rows: list[Row]) -> None:
    print_table(
        ["what", "unit", "ours", "SuPar", "times as fast"],
        [
            [
                row.question,
                row.unit,
                f"{row.ours:.2f}" if row.unit == SHARE else f"{row.ours:,.0f}",
                "" if row.supar is None else f"{row.supar:,.0f}",
                "" if row.supar is None else f"{row.ours / row.supar:.1f}",
            ]
            for row in rows
        ],
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.parser", description=__doc__)
    default = "cuda" if torch.cuda.is_available() else "cpu"
    add_arguments(parser, sentences=0)
    parser.add_argument("--device", choices=["cpu", "cuda"], default=default)
    parser.add_argument("--config", default="default", help="a preset or a TOML file of settings")
    parser.add_argument("--epochs", type=int, default=3, help="of training, the first not counted")
    parser.add_argument("--seconds", type=float, default=300.0, help="the most for each training")
    parser.add_argument("--rounds", type=int, default=2, help="timed passes; the best one counts")
    parser.add_argument(
        "--copies", type=int, help="so many of the file, one after the other, for the workers"
    )
    parser.add_argument("--workers", type=int, help="processes that read and write; 0: none")
    parser.add_argument("--model", type=Path, metavar="DIR", help="parse with it; train none")
    parser.add_argument("--supar-model", type=Path, metavar="FILE", help="the same for SuPar")
    parser.add_argument("--peers", choices=["all", "none"], default="all")
    add_json(parser)
    arguments = parser.parse_args()
    if arguments.workers is None:  # as `treecrf parse` does with a long file
        arguments.workers = min(6, usable_cores() - 1) if arguments.device == "cuda" else 0
    if arguments.copies is None:  # a GPU is done with one treebank before its workers have started
        arguments.copies = 8 if arguments.device == "cuda" else 1
    return arguments


if __name__ == "__main__":
    main()
