"""Accuracy and speed of a segmenter on the raw text of a treebank.

The text is the treebank's own, without its segmentation; it is repeated until it is long enough to
time. What comes out must give the text back before anything is timed. Without `--model`, a
segmenter of the default size is trained for two epochs on generated sentences: the speed does not
depend on how good it is.
"""

import argparse
import sys
import time
from pathlib import Path

import torch

from benchmarks.report import add_json, print_table, write_json
from benchmarks.timing import machine
from treecrf.demo import generate_treebank
from treecrf.segment import Segmenter, SegmenterConfig, rebuild_text, train_segmenter
from treecrf.segment.training.loop import Gold
from treecrf.segment.training.raw_text import raw_sentences, raw_text
from treecrf.treebank import read_conllu


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    device = torch.device(arguments.device)
    segmenter = Segmenter.load(arguments.model, device=device) if arguments.model else _trained()
    gold = list(read_conllu(arguments.file))
    text = raw_text(raw_sentences(gold))
    found = segmenter.segment(text)
    if rebuild_text(found) != text:
        sys.exit("the text that comes out is not the one that went in, so nothing is timed")
    scores = Gold(gold).evaluate(found)
    names = ("tokens", "words", "sentences")
    figures = {name: 100 * getattr(scores, name).f1 for name in names}
    print_table(["", "F1"], [[name, f"{figure:.2f}"] for name, figure in figures.items()])

    repeated = text * -(-arguments.characters // len(text))
    times = []
    for _ in range(arguments.rounds):
        started, processor = time.perf_counter(), time.process_time()
        words = sum(map(len, segmenter.segment_stream([repeated])))
        times.append((time.perf_counter() - started, time.process_time() - processor))
    rows = []
    for name, seconds in zip(
        ("clock", "processor"), map(min, zip(*times, strict=True)), strict=True
    ):
        rows.append({"by": name, "characters": len(repeated) / seconds, "words": words / seconds})
    print(f"\n{len(repeated):,} characters, {arguments.threads} threads")
    print_table(
        ["by the", "characters/s", "words/s"],
        [[str(row["by"]), f"{row['characters']:,.0f}", f"{row['words']:,.0f}"] for row in rows],
    )
    if arguments.json:
        content = {"f1": figures, "speeds": rows, "threads": arguments.threads}
        write_json(arguments.json, content | {"machine": machine(device)})


def _trained() -> Segmenter:
    sentences = list(generate_treebank(300))
    return train_segmenter(sentences, sentences[:50], SegmenterConfig(epochs=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.segment", description=__doc__)
    parser.add_argument("file", type=Path, help="a treebank in CoNLL-U")
    parser.add_argument("--model", type=Path, help="a folder with a segmenter")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--characters", type=int, default=1_000_000, help="at least so many")
    parser.add_argument("--rounds", type=int, default=3)
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
