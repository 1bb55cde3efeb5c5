"""DistributedDataParallel, torch's exporter and Ray Data, where we keep code of our own."""

import argparse
import re
import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, distributed, multiprocessing, nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils.rnn import PackedSequence

from benchmarks.onnx import in_turns
from treecrf.nn.affine import TriaffineSiblings
from treecrf.nn.transformer.bert import BertEncoder, BertShape
from treecrf.parser import load_config, set_up
from treecrf.parser.batching.batch import Batch, make_batch
from treecrf.parser.batching.encoding import encode, encode_annotation
from treecrf.parser.batching.gold import WordCounts, count_words
from treecrf.parser.config import Config
from treecrf.parser.network.loss import training_loss
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.training.ranks import Ranks
from treecrf.treebank import Sentence, write_conllu

_PATIENCE = timedelta(seconds=5)


def ranks(options: argparse.Namespace, sentences: list[Sentence]) -> list[list[str]]:
    """CPU seconds of a training step in each of two processes, 64 sentences a batch."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_conllu(sentences, folder / "train.conllu")
        answer = multiprocessing.get_context("spawn").SimpleQueue()
        given = (folder, options.config, options.rounds, answer)
        multiprocessing.spawn(_rank, given, nprocs=2)
        seconds, alone = answer.get()
    first = seconds["DistributedDataParallel"]
    rows = [
        ["a step", *(f"{taken:.3f} ({first / taken:.2f}x)" for taken in seconds.values())],
        ["another process has no sentence", alone, "its gradients are zero"],
    ]
    return [["", *seconds], *rows]


class _Loss(nn.Module):
    """The loss of a batch as `forward`, which is all that DistributedDataParallel hooks into."""

    def __init__(self, scorer: Scorer, config: Config) -> None:
        super().__init__()
        self.scorer, self.config = scorer, config

    def forward(self, batch: Batch, counts: WordCounts) -> Tensor:
        return training_loss(self.scorer, batch, self.config, counts=counts)


def _rank(
    rank: int,
    folder: Path,
    config: str,
    rounds: int,
    answer: "multiprocessing.SimpleQueue[tuple[dict[str, float], str]]",
) -> None:
    torch.set_num_threads(1)
    place = f"file://{folder / 'store'}"
    distributed.init_process_group("gloo", init_method=place, rank=rank, world_size=2)
    files = {"train": [folder / "train.conllu"], "dev": folder / "train.conllu"}
    training = set_up(folder / f"{rank}", load_config(config), device="cpu", **files)
    encoded = encode(training.prepared.sentences, training.vocabulary, training.config)
    annotation = encode_annotation(
        training.prepared.sentences, training.vocabulary, training.config
    )
    rows, own = np.arange(64), Ranks(rank, 2, connected=True)
    counts = count_words(encoded, annotation, rows)
    batch = make_batch(encoded, own.part_of(rows, encoded.lengths), annotation=annotation)
    ours = _Loss(training.scorer.eval(), training.config)
    library = DistributedDataParallel(deepcopy(ours))

    def by_library() -> None:
        library.zero_grad()
        (2 * library(batch, counts)).backward()  # it takes means, where losses of parts add up

    def by_hand() -> None:
        ours.zero_grad()
        loss = ours(batch, counts)
        loss.backward()
        own.add_gradients(list(ours.parameters()), loss.detach())

    tasks = {"DistributedDataParallel": by_library, "ours": by_hand}
    for task in tasks.values():
        task()
    for one, other in zip(library.parameters(), ours.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)
    seconds = in_turns(tasks, rounds=rounds)
    impatient = distributed.new_group(timeout=_PATIENCE)
    library = DistributedDataParallel(deepcopy(ours), process_group=impatient)
    if rank == 0:
        answer.put((seconds, _problem(by_library)))
    distributed.barrier()
    distributed.destroy_process_group()


def _problem(call: Callable[[], object]) -> str:
    """The first line of the error of a call, if it has one."""
    try:
        call()
    except Exception as error:  # several unrelated classes
        line = re.sub(r"^\[[^]]*\] ", "", str(error).strip().splitlines()[0])
        return f"{type(error).__name__}: {line:.70}"
    return ""


def exporter(options: argparse.Namespace, sentences: list[Sentence]) -> list[list[str]]:
    """Whether `torch.export`, the first step of torch's exporter, makes one graph for all sizes."""
    lstm = nn.LSTM(6, 8, bidirectional=True)
    shape = BertShape(vocabulary=9, size=8, layers=1, heads=2, feed_forward=8, positions=99)
    bert = BertEncoder(shape, dropout=0.0).eval()
    siblings = TriaffineSiblings(5)
    nn.init.normal_(siblings.weight)

    def words(count: int, length: int) -> tuple[Tensor, Tensor]:
        return torch.randn(count * length, 6), torch.full((length,), count)

    def pieces(count: int, length: int) -> tuple[Tensor, Tensor]:
        return torch.randint(9, (count, length)), torch.full((count,), length)

    def tokens(count: int, length: int) -> tuple[Tensor, ...]:
        return tuple(torch.randn(3, count, length, 5))

    parts: dict[str, tuple[Callable[..., Tensor], Callable[[int, int], tuple[Tensor, ...]]]] = {
        "LSTM over packed words": (lambda *given: lstm(PackedSequence(*given))[0].data, words),
        "BERT over padded pieces": (lambda *given: bert(*given)[-1], pieces),
        "sibling scores": (siblings.forward, tokens),
    }
    return [["part of the network", "torch.export"]] + [
        [name, _try_export(call, make)] for name, (call, make) in parts.items()
    ]


class _FunctionModule(nn.Module):
    def __init__(self, call: Callable[..., Tensor]) -> None:
        super().__init__()
        self.call = call

    def forward(self, *given: Tensor) -> Tensor:
        return self.call(*given)


@torch.no_grad()
def _try_export(call: Callable[..., Tensor], make: Callable[[int, int], tuple[Tensor, ...]]) -> str:
    """Whether a call can be exported, and holds for other numbers and lengths of sentences."""
    given = make(7, 20)
    sizes = tuple(dict.fromkeys(range(one.dim()), torch.export.Dim.AUTO) for one in given)
    graph: nn.Module

    def export() -> None:
        nonlocal graph
        module = _FunctionModule(call)
        graph = torch.export.export(module, given, dynamic_shapes=(sizes,), strict=False).module()

    if problem := _problem(export):
        return f"refused: {problem}"
    for count, length in ((7, 20), (3, 31), (12, 9)):
        other = make(count, length)
        check = partial(lambda one: torch.testing.assert_close(graph(*one), call(*one)), other)
        if problem := _problem(check):
            return f"wrong for {count} sentences of {length}: {problem}"
    return "one graph for all sizes"


def ray_data(options: argparse.Namespace, sentences: list[Sentence]) -> list[list[str]]:
    """Order and number of files that Ray Data makes of three, in blocks of 1 kB, not 128 MB."""
    import ray
    from ray.data import ActorPoolStrategy, DataContext, read_text

    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    context = DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    context.target_max_block_size = 1000
    table = [["", "found"]]
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name) / f"{number}.txt" for number in range(3)]
        for file in files:
            file.write_text("".join(f"{file.stem} {line}\n" for line in range(400)))
        lines = read_text([str(file) for file in files], override_num_blocks=3).map_batches(
            _FirstSlow, batch_size=50, compute=ActorPoolStrategy(size=2)
        )
        for kept in (False, True):
            lines.context.execution_options.preserve_order = kept
            rows = [row["text"].split() for row in lines.iter_rows()]
            orders = [[int(line) for own, line in rows if own == file.stem] for file in files]
            right = sum(all(a < b for a, b in pairwise(order)) for order in orders)
            table.append([f"files in order, preserve_order={kept}", f"{right} of 3"])
        for run in ("first", "second"):
            lines.write_json(str(Path(name) / "output"))
            count = sum(1 for _ in (Path(name) / "output").iterdir())
            table.append([f"files after the {run} write_json", f"{count}"])
    ray.shutdown()
    return table


class _FirstSlow:
    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        time.sleep(0.3 if batch["text"][0].endswith(" 0") else 0)
        return batch
