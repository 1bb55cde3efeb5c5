"""Speed from raw text to CoNLL-U by the number of layers of a model's transformer.

    python -m benchmarks.layers DEV.conllu --layers 4 6 8 12

Each model has the first layers of the one that is there, so its trees mean nothing: this tells what
layers cost, and nothing about what they are worth. Models take turns, and the best round of each
counts.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import torch

from benchmarks.report import add_json, print_table, write_json
from benchmarks.text import precision_used
from benchmarks.timing import machine
from treecrf.parser import Parser, ParserError, load
from treecrf.parser import folder as checkpoint
from treecrf.parser.bundled import model_folder
from treecrf.segment.training.raw_text import raw_sentences, raw_text
from treecrf.treebank import read_conllu

_LAYER = "reader.transformer.layers."


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    text = raw_text(raw_sentences(read_conllu(arguments.file)))
    times: dict[int, list[tuple[float, float]]] = {count: [] for count in arguments.layers}
    with tempfile.TemporaryDirectory() as name:
        try:
            parsers = {
                count: first_layers(model_folder(arguments.model), Path(name) / f"{count}", count)
                for count in arguments.layers
            }
        except ParserError as error:
            sys.exit(str(error))
        for _ in range(1 + arguments.rounds):  # the first one only compiles
            for count, parser in parsers.items():
                started, processor = time.perf_counter(), time.process_time()
                words = sum(map(len, parser.parse_text([text], probs=False)))
                times[count].append(
                    (time.perf_counter() - started, time.process_time() - processor)
                )
    precision = precision_used(next(iter(parsers.values())))
    print(f"{words:,} words, {arguments.threads} threads, {precision}")
    rows = {
        count: [words / min(column) for column in zip(*rounds[1:], strict=True)]
        for count, rounds in times.items()
    }
    print_table(
        ["layers", "words/s by the clock", "by processor and thread"],
        [[f"{count}", *(f"{speed:,.0f}" for speed in speeds)] for count, speeds in rows.items()],
    )
    if arguments.json:
        facts = {"machine": machine(torch.device("cpu")), "precision": precision}
        write_json(arguments.json, facts | {"words": words, "words_per_second": rows})


def first_layers(model: Path, folder: Path, count: int) -> Parser:
    """A parser with so many layers, on the CPU, from a folder that is made for it."""
    shutil.copytree(model, folder)
    path = folder / checkpoint.ENCODER / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    if not 0 < count <= config["num_hidden_layers"]:
        raise ParserError(
            f"--layers {count}: the encoder of {model} has {config['num_hidden_layers']}"
        )
    path.write_text(json.dumps(config | {"num_hidden_layers": count}), encoding="utf-8")
    weights = {
        name: tensor
        for name, tensor in checkpoint.load_weights(model).items()
        if not name.startswith(_LAYER) or int(name.removeprefix(_LAYER).split(".")[0]) < count
    }
    checkpoint.save_weights(folder, weights)
    return load(folder, device="cpu")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.layers", description=__doc__)
    parser.add_argument("file", type=Path, help="a treebank in CoNLL-U")
    parser.add_argument("--model", metavar="DIR", help="without it, the English model")
    parser.add_argument("--layers", type=int, nargs="+", default=[4, 6, 8, 12], metavar="N")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
