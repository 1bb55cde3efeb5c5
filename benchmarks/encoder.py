"""The encoder alone: its batches, its time, and the least operations and bytes it needs."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch
from torch import nn

from benchmarks.timing import finish, median_ms
from treecrf.parser.batching.batch import Batch, WordInputs
from treecrf.parser.device import fast_products
from treecrf.parser.network.readers import WordReader
from treecrf.parser.network.scorer import Scorer
from treecrf.threads import run_side_by_side

# Sides of the matrices that show what a device can do.
_MATRIX = {"cpu": 2048, "cuda": 8192}
# Numbers that no cache of the device holds.
_COPIED = {"cpu": 1 << 25, "cuda": 1 << 28}


@contextmanager
def watched_batches(scorer: Scorer) -> Iterator[list[Batch]]:
    """Record the batches that the scorer gets, in a list that fills meanwhile."""
    batches: list[Batch] = []
    hook = scorer.register_forward_pre_hook(lambda _, given: batches.append(given[0]))
    try:
        yield batches
    finally:
        hook.remove()


def best_seconds(call: Callable[[], object], device: torch.device, *, rounds: int) -> float:
    """Wall time of the fastest round; the others shared the machine with other work."""
    times = []
    for _ in range(rounds):
        finish(device)
        start = time.perf_counter()
        call()
        finish(device)
        times.append(time.perf_counter() - start)
    return min(times)


def encoding_seconds(
    scorer: Scorer, batches: list[Batch], device: torch.device, *, rounds: int
) -> float:
    """Seconds that the encoder takes for batches that are on the device already.

    On a CPU they go side by side, as when a parser reads them.
    """

    @torch.inference_mode()
    def read(batch: Batch) -> None:
        scorer.reader(batch)

    @fast_products()
    def encode() -> None:
        calls = [partial(read, batch) for batch in batches]
        for _ in run_side_by_side(calls) if device.type == "cpu" else map(_call, calls):
            pass

    encode()
    return best_seconds(encode, device, rounds=rounds)


def _call(call: Callable[[], object]) -> object:
    return call()


def operations(reader: WordReader, batches: list[Batch]) -> dict[str, int]:
    """Multiplications and additions of the products with weights: two a weight and token."""
    inputs = _inputs(batches)
    return {
        "CharLSTM": 2
        * sum(read.characters.numel() for read in inputs)
        * _weights(reader.characters.lstm),
        "BiLSTM": 2 * sum(read.words.numel() for read in inputs) * _weights(reader.bilstm),
    }


def least_bytes(reader: WordReader, batches: list[Batch]) -> int:
    """Bytes through memory if a batch reads the weights of a layer, its input and output once."""
    total = 0
    for read in _inputs(batches):
        layers = [(layer, read.words) for layer in reader.bilstm.layers]
        for layer, items in [*layers, (reader.characters.lstm, read.characters)]:
            assert isinstance(layer, nn.LSTM)
            vectors = layer.input_size + 2 * layer.hidden_size
            total += 4 * (_weights(layer) + vectors * items.numel())
    return total


def recurrence_steps(reader: WordReader, batches: list[Batch]) -> int:
    """Steps each of which waits for the one before; the two directions may go side by side."""
    words = sum(len(reader.bilstm.layers) * len(batch.batch_sizes) for batch in batches)
    return words + sum(len(read.character_sizes) for read in _inputs(batches))


def peak_operations(device: torch.device) -> float:
    """Operations a second of a large product of matrices, as precise as those of a parser."""
    size = _MATRIX[device.type]
    left, right = torch.randn(2, size, size, device=device)
    with fast_products():
        return 2 * size**3 / (median_ms(lambda: left @ right, device) / 1000)


def peak_bandwidth(device: torch.device) -> float:
    """Bytes a second that a large copy reads and writes."""
    source = torch.zeros(_COPIED[device.type], device=device)
    target = torch.empty_like(source)
    return 2 * 4 * source.numel() / (median_ms(lambda: target.copy_(source), device) / 1000)


def _inputs(batches: list[Batch]) -> list[WordInputs]:
    return [batch.words for batch in batches if batch.words is not None]


def _weights(module: nn.Module) -> int:
    """Numbers in matrices; biases are added, not multiplied."""
    return sum(weight.numel() for weight in module.parameters() if weight.dim() > 1)
