"""Time of one sentence of 18 words from raw text to its tree with probabilities, once all is warm.

The tree must be the one that the sentence has within a longer document, else nothing is timed. A
call is timed from outside, so that on a GPU it ends when the tree is on the host.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import treecrf
from benchmarks.busy import PLACES, TEXT
from benchmarks.report import add_json, print_facts, print_table, write_json
from benchmarks.timing import machine
from treecrf.parser import Parser
from treecrf.treebank import Sentence

_WARM_UP = 20
_NEAR = 0.02  # probabilities of a batch on a GPU are this near to those of the sentence alone


def main() -> None:
    arguments = _arguments()
    parser = treecrf.load(arguments.model, device=arguments.device)
    print_facts(machine(parser.device))
    texts = [TEXT.format(place) for place in PLACES]
    check_same_tree(parser, texts)
    wall, cpu = time_parses(parser, texts[0], repeats=arguments.repeats)
    figures = summary(wall) | {"CPU time, median": statistics.median(cpu)}
    words = sum(map(len, parser.parse(texts[0])))
    name = f"{words} words, {arguments.repeats} times, ms"
    print_table([name, *figures], [["raw text to tree", *(f"{v:.2f}" for v in figures.values())]])
    if arguments.json:
        write_json(arguments.json, figures)


def summary(milliseconds: list[float]) -> dict[str, float]:
    """Median, 90th and 99th percentile: the smallest time that so many are not above."""
    ordered = sorted(milliseconds)
    last = len(ordered) - 1
    found = {"median": statistics.median(ordered)}
    return found | {f"p{share}": ordered[-(-share * last // 100)] for share in (90, 99)}


def check_same_tree(parser: Parser, texts: list[str]) -> None:
    """Exit with an error unless a text alone has the trees that it has within a document."""
    alone = [sentence for text in texts for sentence in parser.parse(text)]
    together = list(parser.parse(" ".join(texts)))
    if len(alone) != len(together) or not all(map(_same_tree, alone, together)):
        sys.exit("a sentence has another tree within a document, so nothing is timed")


def _same_tree(one: Sentence, other: Sentence) -> bool:
    same = (one.forms, one.heads, one.deprels) == (other.forms, other.heads, other.deprels)
    if not same or one.probs is None or other.probs is None:
        return False
    return all(abs(a - b) < _NEAR for a, b in zip(one.probs, other.probs, strict=True))


def time_parses(parser: Parser, text: str, *, repeats: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each parse by the clock, and of the processor."""
    wall, cpu = [], []
    for number in range(_WARM_UP + repeats):
        started, spent = time.perf_counter(), time.process_time()
        parser.parse(text)
        if number >= _WARM_UP:
            wall.append(1000 * (time.perf_counter() - started))
            cpu.append(1000 * (time.process_time() - spent))
    return wall, cpu


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1; auto for a GPU")
    parser.add_argument("--model", type=Path, help="model folder; else the English model")
    parser.add_argument("--repeats", type=int, default=200)
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
