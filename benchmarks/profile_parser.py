"""Profile of a training step and of a parse, and the encoder's distance from the roofline.

The training loop and the parser run as they are; what they call is timed by stages, between which
the device is waited for. Beside them stands the time without that: of training the same, of parsing
file to file, where reading and writing go on while the device computes.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch

from benchmarks import encoder
from benchmarks.corpus import Corpus, add_arguments, make_corpus
from benchmarks.operations import Operations
from benchmarks.report import add_json, print_facts, print_table, write_json
from benchmarks.stages import Stages
from benchmarks.timing import machine
from treecrf.nn.adam import Adam
from treecrf.nn.bilstm import BiLSTM
from treecrf.nn.mlp import Perceptrons
from treecrf.parser import Config, Parser, api, load, load_config, set_up
from treecrf.parser.batching.batch import Batch
from treecrf.parser.columns.reading import column_windows
from treecrf.parser.decoding import batches as decoding_batches
from treecrf.parser.decoding import decoder, kernels
from treecrf.parser.decoding.sentences import TreeNamer
from treecrf.parser.files import conllu
from treecrf.parser.files.conllu import parse_to_conllu
from treecrf.parser.files.pipeline import Ahead
from treecrf.parser.files.sources import FileOptions
from treecrf.parser.network.loss import TreeScores
from treecrf.parser.network.readers import PieceReader, WordReader
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.training import loop
from treecrf.parser.training.evaluation import DevSet
from treecrf.parser.training.optimiser import Optimisation
from treecrf.parser.training.run import Epoch, Run
from treecrf.struct.distribution import TreeDistribution
from treecrf.threads import run_on_one_thread
from treecrf.treebank.files.streams import open_target

Item = TypeVar("Item")
Result = TypeVar("Result")

REST = "the rest"


def main() -> None:
    arguments = _arguments()
    device = torch.device(arguments.device)
    facts = machine(device)
    print_facts(facts)
    config = load_config(arguments.config, Config.parsed(arguments.set))
    content: dict[str, Any] = {"machine": facts}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = make_corpus(arguments, folder)
        print(corpus)
        model = arguments.model or folder / "model"
        if arguments.model is None:
            content["training"] = profile_training(
                model, config, corpus, device, operations=arguments.operations
            )
        parser = load(model, device=arguments.device)
        content |= {"corpus": corpus.to_dict(), "config": parser.config.to_dict()}
        with encoder.watched_batches(parser.scorer) as batches:
            parse(parser, corpus, folder / "parsed.conllu")
        clock = time.process_time if arguments.cpu_time else time.perf_counter
        content["parsing"] = profile_parsing(parser, corpus, folder / "parsed.conllu", clock)
        content["encoder"] = profile_encoder(parser, corpus, batches, peak=arguments.peak)
    if arguments.json:
        write_json(arguments.json, content)


def profile_training(
    model: Path, config: Config, corpus: Corpus, device: torch.device, *, operations: bool
) -> dict[str, Any]:
    """Time of the second of two epochs by stage, and without stages."""
    print("training ...", file=sys.stderr, flush=True)
    config = replace(config, epochs=2, patience=2)
    with Stages(device) as stages:
        watch_network(stages)
        watch_training(stages)
        _train(model, config, corpus, device, on_epoch=_forgetting(stages.seconds))
    last = _train(model, config, corpus, device, on_epoch=lambda epoch: None)
    steps = last.steps // 2
    figures = {
        "steps": steps,
        "seconds": dict(stages.seconds),
        "total": stages.total,
        "unsynchronised": corpus.sentences / last.sentences_per_second,
    }
    if operations:
        counts = count_operations(model, config, corpus, device)
        figures["operations"] = {name: count / steps for name, count in counts.items()}
    _print_stages(f"step of up to {config.batch_tokens} words", figures, "ms", count=steps)
    return figures


def count_operations(
    model: Path, config: Config, corpus: Corpus, device: torch.device
) -> Counter[str]:
    """Count the operations of the second of two epochs by stage."""
    with Stages(device) as stages, Operations(stages) as operations:
        watch_network(stages)
        watch_training(stages)
        _train(model, config, corpus, device, on_epoch=_forgetting(operations.counts))
    return operations.counts


def _train(
    model: Path,
    config: Config,
    corpus: Corpus,
    device: torch.device,
    *,
    on_epoch: Callable[[Epoch], None],
) -> Epoch:
    files = {"train": [corpus.train], "dev": corpus.dev}
    training = set_up(model, config, **files, overwrite=True, device=device.type)
    training.on_epoch = on_epoch
    return loop.train(training, model)


def _forgetting(found: dict[str, Any]) -> Callable[[Epoch], None]:
    """Make a callback that drops the first epoch, which allocates memory and compiles kernels."""

    def forget(epoch: Epoch) -> None:
        if epoch.epoch == 1:
            found.clear()

    return forget


def watch_training(stages: Stages) -> None:
    """Name the parts of a training step, in one thread."""
    stages.replace(loop, "Ahead", _WhenTaken)
    stages.watch(loop, "train", REST)
    stages.watch(loop, "make_batch", "batch, on the host")
    stages.watch(loop, "training_loss", "loss of relations, rest of the loss")
    stages.watch(TreeScores, "distribution", "TreeCRF")
    stages.watch(TreeDistribution, "log_partition", "TreeCRF")
    stages.watch(TreeDistribution, "score", "TreeCRF")
    stages.watch(torch.Tensor, "backward", "backward")
    stages.watch(Optimisation, "step", "average of weights")
    stages.watch(Adam, "step", "clipping, Adam")
    for owner, attribute in (  # what is no part of a step
        (DevSet, "__init__"),
        (DevSet, "evaluate"),
        (Optimisation, "__init__"),
        (Run, "__init__"),
        (Run, "start"),
        (Run, "finish_epoch"),
        (Run, "end"),
        (loop, "encode"),
        (loop, "encode_annotation"),
        (loop, "shuffled_batches"),
    ):
        stages.watch(owner, attribute, None)


class _WhenTaken(Ahead[Item, Result]):
    """Like `Ahead`, without a thread."""

    def begin(self) -> None:
        """Keep the task for `take`."""

    def take(self) -> Result:
        """Run the next task."""
        return self._work(next(self._items))


def watch_network(stages: Stages) -> None:
    """Name the parts of the network."""
    stages.watch(WordReader, "forward", "embeddings, CharLSTM")
    stages.watch(PieceReader, "forward", "encoder")
    stages.watch(BiLSTM, "forward", "BiLSTM")
    stages.watch(Perceptrons, "forward", "MLPs")
    stages.watch(Scorer, "arcs", "biaffine arcs")
    stages.watch(Scorer, "siblings", "triaffine siblings")
    stages.watch(Scorer, "relations", "biaffine relations")
    stages.watch(Scorer, "relations_at", "biaffine relations")


def parse(parser: Parser, corpus: Corpus, target: Path) -> None:
    """Parse the corpus from file to file."""
    with open_target(target) as write:
        for piece in parse_to_conllu(parser, corpus.train, FileOptions()):
            write(piece)


def profile_parsing(
    parser: Parser, corpus: Corpus, target: Path, clock: Callable[[], float]
) -> dict[str, Any]:
    """Time a parse by stage, one after the other, and from file to file as users see it."""
    print("parsing ...", file=sys.stderr, flush=True)
    whole = encoder.best_seconds(lambda: parse(parser, corpus, target), parser.device, rounds=2)
    with Stages(parser.device, clock=clock) as stages:
        watch_network(stages)
        watch_parsing(stages)
        with stages.stage(REST):
            parse(parser, corpus, target)
    figures = {
        "words": corpus.words,
        "seconds": dict(stages.seconds),
        "total": stages.total,
        "unsynchronised": whole,
    }
    _print_stages("parse, a word", figures, "µs", count=corpus.words)
    return figures


def watch_parsing(stages: Stages) -> None:
    """Name the parts of a parse, in one thread."""
    stages.replace(conllu, "pipelined", _one_by_one)
    stages.replace(decoding_batches, "run_side_by_side", partial(map, run_on_one_thread))
    stages.replace(
        conllu, "column_windows", lambda parts: stages.items(column_windows(parts), "reading")
    )
    stages.watch(api, "encode_words", "words to numbers", host=True)
    stages.watch(decoding_batches, "make_batch", "batch, on the host")
    stages.watch(decoder.Decoding, "best", "decoding")
    stages.watch(TreeScores, "distribution", "marginals")
    stages.watch(TreeDistribution, "marginals", "marginals")
    stages.watch(decoder.Decoding, "_trees", "best relations, to the host")
    # On a CPU, two compiled calls do the same.
    stages.watch(kernels, "find_heads", "marginals", host=True)
    stages.watch(kernels, "choose_classes", "best relations, to the host", host=True)
    stages.watch(TreeNamer, "named", "naming trees", host=True)
    stages.watch(conllu, "write_columns", "writing", host=True)


def _one_by_one(items: Iterable[Item], work: Callable[[Item], Result]) -> Iterator[Result]:
    """Like `pipelined`, without a thread."""
    return map(work, items)


def profile_encoder(
    parser: Parser, corpus: Corpus, batches: list[Batch], *, peak: float | None
) -> dict[str, Any]:
    """Least time that the encoder needs, beside the time that it takes."""
    print("encoding ...", file=sys.stderr, flush=True)
    reader, device = parser.scorer.reader, parser.device
    seconds = encoder.encoding_seconds(parser.scorer, batches, device, rounds=3)
    print(f"\nThe encoder alone: {corpus.words / seconds:,.0f} words a second.")
    if not isinstance(reader, WordReader):  # operations are counted for a BiLSTM over words only
        return {"seconds": seconds}
    operations = encoder.operations(reader, batches)
    total = sum(operations.values())
    per_second = peak * 1e12 if peak else encoder.peak_operations(device)
    bandwidth = encoder.peak_bandwidth(device)
    moved = encoder.least_bytes(reader, batches)
    steps = encoder.recurrence_steps(reader, batches)
    limit = max(total / per_second, moved / bandwidth)
    for name, count in operations.items():
        print(f"- {name}: {count / corpus.words / 1e6:.2f} million operations a word")
    print(
        f"- it does {total / seconds / 1e12:.3f} of {per_second / 1e12:.3f} tera-operations a "
        f"second, and needs at least {moved / corpus.words / 1e3:.1f} kB a word of "
        f"{bandwidth / 1e9:.0f} GB a second"
    )
    print(
        f"- the limit is {corpus.words / limit:,.0f} words a second: {limit / seconds:.0%} of it "
        f"is reached, at {1e6 * seconds / steps:.0f} µs for each of {steps:,} steps that wait for "
        "one another"
    )
    return {
        "seconds": seconds,
        "operations": operations,
        "least_bytes": moved,
        "peak_operations_per_second": per_second,
        "peak_bytes_per_second": bandwidth,
        "recurrence_steps": steps,
        "share_of_limit": limit / seconds,
    }


def _print_stages(title: str, figures: dict[str, Any], unit: str, *, count: int) -> None:
    """Print the stages, the longest first, as times per item."""
    scale = {"ms": 1e3, "µs": 1e6}[unit] / count
    total = figures["total"]
    stages = sorted(figures["seconds"].items(), key=lambda item: -item[1])
    rows = [
        [name, f"{scale * seconds:.2f}", f"{seconds / total:.1%}"]
        for name, seconds in [*stages, ("all stages", total)]
    ]
    header = [title, unit, "share"]
    if "operations" in figures:
        operations = figures["operations"] | {"all stages": sum(figures["operations"].values())}
        header.append("operations")
        rows = [[*row, f"{operations.get(row[0], 0):.0f}"] for row in rows]
    whole = figures["unsynchronised"]
    rows.append(["without stages", f"{scale * whole:.2f}", f"{whole / total:.1%}"])
    rows[-1] += [""] * (len(header) - len(rows[-1]))
    print()
    print_table(header, rows)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.profile_parser", description=__doc__)
    default = "cuda" if torch.cuda.is_available() else "cpu"
    add_arguments(parser, sentences=2000)
    parser.add_argument("--device", choices=["cpu", "cuda"], default=default)
    parser.add_argument("--config", default="default", help="a preset or a TOML file of settings")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; several may be"
    )
    parser.add_argument("--model", metavar="DIR", help="parse with it, such as en; train none")
    parser.add_argument(
        "--cpu-time", action="store_true", help="the parse by processor time, beside other work"
    )
    parser.add_argument(
        "--peak", type=float, metavar="TFLOPS", help="what the device can do; else measured"
    )
    parser.add_argument(
        "--operations", action="store_true", help="count those of a training step as well"
    )
    add_json(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
