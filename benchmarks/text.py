"""Speed from raw text to CoNLL-U: words a second, by stage.

The text is that of a treebank, without its segmentation, repeated until it is long enough to time.
What is read must be what is written: the text is rebuilt from the parsed sentences before anything
is timed. Trees that came with workers must be those of one process before anything is printed. The
stages are timed in a run of their own, one after the other.
"""

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from benchmarks.report import add_json, print_table, write_json
from benchmarks.stages import Stages
from benchmarks.timing import finish, machine
from treecrf.nn.int8.linear import ByteLinear
from treecrf.nn.int8.lstm import ByteLSTM
from treecrf.parser import Parser, ParserError, load
from treecrf.parser import api as predict
from treecrf.parser.decoding import batches, states
from treecrf.parser.files import conllu
from treecrf.parser.files.sources import FileOptions
from treecrf.parser.files.workers import parse_with_workers
from treecrf.segment import rebuild_text, segmenter
from treecrf.segment.training.raw_text import raw_sentences, raw_text
from treecrf.threads import run_on_one_thread
from treecrf.treebank import Sentence, evaluate_conll18, read_conllu
from treecrf.treebank.files.streams import open_target

LEAST_AGREEMENT = 0.998  # share of the heads: devices and shapes of batches round differently


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    try:
        parser = load(arguments.model, device=arguments.device, precision=arguments.precision)
    except ParserError as error:
        sys.exit(str(error))
    text = raw_text(raw_sentences(read_conllu(arguments.file)))
    if rebuild_text(parser.parse(text)) != text:
        sys.exit("the text that comes out is not the one that went in, so nothing is timed")
    repeated = text * -(-arguments.characters // len(text))
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "text.txt"
        source.write_text(repeated, encoding="utf-8")
        words, seconds, processor = _speed(parser, source, rounds=arguments.rounds)
        clock = time.process_time if arguments.cpu_time else time.perf_counter
        stages = _stages(parser, source, clock=clock)
    speeds = {"clock": words / seconds, "processor and thread": words / processor}
    if arguments.workers:
        long = repeated * arguments.copies
        seconds = _seconds_with_workers(
            parser, long, workers=arguments.workers, rounds=arguments.rounds
        )
        named = f"clock, file to file with {arguments.workers} workers"
        speeds[named] = words * arguments.copies / seconds
    precision = precision_used(parser)
    print(f"{words:,} words on {parser.device}, {arguments.threads} threads, {precision}")
    print_table(["by the", "words/s"], [[name, f"{x:,.0f}"] for name, x in speeds.items()])
    total = sum(stages.values())
    print()
    print_table(
        ["stage", "seconds", "share"],
        [[name, f"{x:.3f}", f"{100 * x / total:.0f}%"] for name, x in stages.items()],
    )
    if arguments.json:
        content = {
            "words": words,
            "words_per_second": speeds,
            "stages": stages,
            "threads": arguments.threads,
            "copies": arguments.copies,
            "precision": precision,
        }
        write_json(arguments.json, content | {"machine": machine(parser.device)})


def precision_used(parser: Parser) -> str:
    """Arithmetic that the network uses here, whatever the model asks for."""
    if any(isinstance(module, (ByteLinear, ByteLSTM)) for module in parser.scorer.modules()):
        return "int8"
    return "tf32" if parser.device.type == "cuda" else "float32"


def check_same_trees(expected: list[Sentence], found: list[Sentence]) -> None:
    """Exit with an error if more than a few heads differ between trees of the same text."""
    share = evaluate_conll18(expected, found)["UAS"].f1
    if share < LEAST_AGREEMENT:
        problem = f"with workers {share:.2%} of the heads are those of one process"
        sys.exit(f"{problem}, so nothing is reported")


def _speed(parser: Parser, source: Path, *, rounds: int) -> tuple[int, float, float]:
    """Words, and the shortest wall time and CPU time that they take."""
    times = []
    for _ in range(rounds):
        started, processor = time.perf_counter(), time.process_time()
        written = _written(parser, source)
        finish(parser.device)
        times.append((time.perf_counter() - started, time.process_time() - processor))
    clock, processor = map(min, zip(*times, strict=True))
    return sum(map(len, read_conllu(io.BytesIO(written)))), clock, processor


def _seconds_with_workers(parser: Parser, text: str, *, workers: int, rounds: int) -> float:
    """Shortest time from file to file, the start of the workers included."""
    times = []
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name) / "text.txt", Path(name) / "parsed.conllu"
        source.write_text(text, encoding="utf-8")
        for _ in range(rounds):
            started = time.perf_counter()
            options = FileOptions(input="text")
            with open_target(target) as write:
                for piece in parse_with_workers(parser, source, options, workers=workers):
                    write(piece)
            times.append(time.perf_counter() - started)
        found = list(read_conllu(target))
        if rebuild_text(found) != text:
            sys.exit("the text that comes out is not the one that went in, so nothing is reported")
        check_same_trees(list(parser.parse_text([text], probs=False)), found)
    return min(times)


def _written(parser: Parser, source: Path) -> bytes:
    return b"".join(conllu.parse_to_conllu(parser, source, FileOptions(input="text")))


def _stages(parser: Parser, source: Path, *, clock: Callable[[], float]) -> dict[str, float]:
    """Seconds by stage, one after the other; each batch on one thread of a CPU, as it always is."""
    with Stages(parser.device, clock=clock) as stages:
        stages.replace(conllu, "pipelined", lambda items, work: map(work, items))
        for module in (batches, states):
            stages.replace(module, "run_side_by_side", partial(map, run_on_one_thread))
        stages.watch(segmenter.Segmenter, "_ask_again", "segmenter: unsure sentence ends")
        stages.watch(segmenter.Segmenter, "_read", "segmenter: network")
        stages.watch(predict, "encode_words", "words to numbers", host=True)
        stages.watch(batches, "make_batch", "batches")
        stages.watch(parser.scorer.reader, "forward", "encoder")
        stages.watch(batches.Decoding, "best", "scores and trees")
        stages.watch(conllu, "write_columns", "naming and writing", host=True)
        with stages.stage("segmenter: sentences"):
            _written(parser, source)
    return dict(stages.seconds)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.text", description=__doc__)
    parser.add_argument("file", type=Path, help="a treebank in CoNLL-U")
    parser.add_argument("--model", metavar="DIR", help="without it, the English model")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", choices=("float32", "int8"), help="as the model says if not")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=0, help="processes beside the device")
    parser.add_argument(
        "--copies", type=int, default=1, help="so many of the text, for workers take time to start"
    )
    parser.add_argument("--characters", type=int, default=500_000, help="at least so many")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--cpu-time", action="store_true", help="stages by processor time, beside other work"
    )
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
