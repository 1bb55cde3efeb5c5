"""Speed of parsing on the CPU with onnxruntime, beside torch.

The graph is exported first, which compares its scores with torch's. Then both must give the same
trees for all sentences before anything is timed. They parse by turns, and what counts is the
processor time of the best round: the rest is what else the machine did. Without `--model`, one of
the default size is trained for an epoch: speed does not depend on how good it is.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import torch

import treecrf
from benchmarks.corpus import train_demo
from benchmarks.report import add_json, print_facts, print_table, write_json
from benchmarks.timing import machine
from treecrf.demo import generate_treebank
from treecrf.integrations.onnx.export import export_onnx
from treecrf.integrations.onnx.runtime import load_onnx
from treecrf.parser import Parser
from treecrf.treebank import Sentence, read_conllu


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    facts = machine(torch.device("cpu")) | {"threads": str(arguments.threads)}
    print_facts(facts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = arguments.model or train_demo(folder, arguments.config)
        graph, difference = export_onnx(model, graph=folder / "model.onnx")
        parsers = {
            "torch": treecrf.load(model, device="cpu", precision="float32"),
            "onnx": load_onnx(model, graph=graph),
        }
        size = graph.stat().st_size
    sentences = _sentences(arguments)
    words = sum(map(len, sentences))
    trees = {name: _trees(parser, sentences) for name, parser in parsers.items()}
    pairs = zip(sentences, trees["torch"], trees["onnx"], strict=True)
    for number, (sentence, ours, theirs) in enumerate(pairs, 1):
        if ours != theirs:
            forms = " ".join(sentence.forms)
            sys.exit(f"sentence {number} has two trees, so nothing is timed: {forms}")
    print(
        f"{len(sentences):,} sentences of {words:,} words, the same trees for all; scores differ "
        f"by at most {difference:.1e}; the graph has {size / 1e6:.1f} MB\n"
    )
    tasks = {
        name: lambda parser=parser: _trees(parser, sentences) for name, parser in parsers.items()
    }
    seconds = in_turns(tasks, rounds=arguments.rounds)
    print_table(
        ["runtime", "CPU s", "sentences / CPU s", "words / CPU s", "times as fast"],
        [
            [
                name,
                f"{taken:.2f}",
                f"{len(sentences) / taken:,.0f}",
                f"{words / taken:,.0f}",
                f"{seconds['torch'] / taken:.2f}",
            ]
            for name, taken in seconds.items()
        ],
    )
    if arguments.json:
        counts = {"sentences": len(sentences), "words": words, "difference": difference}
        write_json(arguments.json, {"machine": facts, **counts, "seconds": seconds})


def _trees(parser: Parser, sentences: list[Sentence]) -> list[tuple[list[int], list[str]]]:
    return [(s.heads, s.deprels) for s in parser.parse_stream(sentences, probs=False)]


def in_turns(tasks: dict[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """CPU seconds of the fastest round of each task, after a warm-up round."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - start)
    return best


def _sentences(arguments: argparse.Namespace) -> list[Sentence]:
    if arguments.file:
        return list(islice(read_conllu(arguments.file), arguments.sentences))
    return list(generate_treebank(arguments.sentences, seed=3))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.onnx", description=__doc__)
    parser.add_argument("--model", type=Path, help="a model folder")
    parser.add_argument("--config", default="default", help="of the model that is trained")
    parser.add_argument("--file", type=Path, help="a treebank; else sentences are generated")
    parser.add_argument("--sentences", type=int, default=2000, help="so many are parsed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="of both")
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
