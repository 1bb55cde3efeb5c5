"""Speed of a model that predicts all columns beside the same model that predicts UPOS alone.

    python -m benchmarks.columns DEV.conllu --model FOLDER

From CoNLL-U to CoNLL-U. The models have the same encoder, so they must give the same heads before a
ratio is printed. They take turns, and the best round of each counts.
"""

import argparse
import io
import sys
import tempfile
import time
from pathlib import Path

import torch

from benchmarks.report import add_json, print_facts, print_table, write_json
from benchmarks.text import precision_used
from benchmarks.timing import finish, machine
from treecrf.nn.int8.linear import has_byte_products
from treecrf.parser import Parser, ParserError, load
from treecrf.parser import folder as checkpoint
from treecrf.parser.bundled import model_folder
from treecrf.parser.files.conllu import parse_to_conllu
from treecrf.parser.files.sources import FileOptions
from treecrf.treebank import read_conllu

_ROLES = "roles.linear."


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    device = torch.device(arguments.device)
    precisions = ["float32"]
    if device.type == "cpu" and has_byte_products():
        precisions.append("int8")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        try:
            model = model_folder(arguments.model)
            alone = upos_alone(model, Path(name) / "upos")
            for precision in precisions:
                parsers = [
                    load(one, device=arguments.device, precision=precision)
                    for one in (alone, model)
                ]
                rows.append(_speeds(parsers, arguments.file, rounds=arguments.rounds))
        except ParserError as error:
            sys.exit(str(error))
    facts = machine(device)
    print_facts(facts)
    print("words a second")
    print_table(
        ["precision", "by the", "UPOS alone", "all columns", "share"],
        [
            [
                row["precision"],
                clock,
                *(f"{x:,.0f}" for x in speeds),
                f"{speeds[1] / speeds[0]:.3f}",
            ]
            for row in rows
            for clock, speeds in row["words_per_second"].items()
        ],
    )
    if arguments.json:
        write_json(arguments.json, {"machine": facts, "speeds": rows})


def upos_alone(model: Path, folder: Path) -> Path:
    """A model without the columns that come after UPOS, in a folder that is made for it."""
    config, vocabulary, pretrained = checkpoint.load_settings(model)
    if config.predict[:1] != ("upos",) or len(config.predict) == 1:
        raise ParserError(f"{model}: this model predicts no columns beside UPOS")
    others = config.predict[1:]
    dropped = ("lemma_tags.", *(f"column_scores.{name}." for name in others))
    weights = {
        # The rows of columns are the last ones, in the order of the columns.
        name: tensor[: -config.column_size * len(others)] if name.startswith(_ROLES) else tensor
        for name, tensor in checkpoint.load_weights(model).items()
        if not name.startswith(dropped)
    }
    checkpoint.save_settings(
        folder,
        config.changed({"predict": ["upos"]}),
        vocabulary,
        vectors=checkpoint.load_vectors(model, vocabulary),
        pretrained=pretrained,
    )
    checkpoint.save_weights(folder, weights)
    return folder


def _speeds(parsers: list[Parser], file: Path, *, rounds: int) -> dict[str, object]:
    """Words a second of each parser, by the clock and by CPU time."""
    times: list[list[tuple[float, float]]] = [[] for _ in parsers]
    heads = []
    for turn in range(1 + rounds):  # the first one compiles
        for parser, own in zip(parsers, times, strict=True):
            started, processor = time.perf_counter(), time.process_time()
            written = b"".join(parse_to_conllu(parser, file, FileOptions(input="conllu")))
            finish(parser.device)
            own.append((time.perf_counter() - started, time.process_time() - processor))
            if not turn:
                heads.append([sentence.heads for sentence in read_conllu(io.BytesIO(written))])
    if heads[0] != heads[1]:
        sys.exit("the models give different heads, so nothing is reported")
    words = sum(map(len, heads[0]))
    best = [list(map(min, zip(*own[1:], strict=True))) for own in times]
    return {
        "precision": precision_used(parsers[0]),
        "words_per_second": {
            clock: [words / one[place] for one in best]
            for place, clock in enumerate(("clock", "processor"))
        },
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.columns", description=__doc__)
    parser.add_argument("file", type=Path, help="a treebank in CoNLL-U")
    parser.add_argument("--model", metavar="DIR", help="without it, the English model")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
