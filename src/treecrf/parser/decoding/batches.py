"""Sentences decoded in batches of similar length, on the device and in threads that suit them."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from treecrf.memory import available_memory
from treecrf.parser.batching.batch import CELLS, allowed_arcs, cut_batches, make_batch
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.batching.encoding import EncodedSentences
from treecrf.parser.config import Config
from treecrf.parser.constraints import Constraints
from treecrf.parser.decoding.decoder import LONGEST_ENTROPY, Decoding
from treecrf.parser.decoding.trees import Trees
from treecrf.parser.device import fast_products
from treecrf.parser.estimates import LONG, TooLongError, needed_bytes
from treecrf.parser.files.pipeline import stop_of_thread
from treecrf.parser.network.scorer import Network
from treecrf.threads import run_side_by_side

__all__ = ["BATCH_WORDS", "decode_sentences", "is_small_grid", "words_of_batch"]

BATCH_WORDS = {"cpu": 500, "cuda": 20_000}
"""Words in a batch: enough to keep the device busy."""
_LEAST_WORDS = 100  # of a batch that is not cut for the sake of another thread
# Cells `[batch, dependent, head, sibling]` of batches that may be in memory several at once.
_SMALL_CELLS = 1 << 22


def is_small_grid(grid: tuple[int, int], device: torch.device) -> bool:
    """Whether a batch of so many sentences and tokens is one for a single thread of a CPU."""
    sentences, width = grid
    return device.type == "cpu" and sentences * width**3 <= _SMALL_CELLS


def decode_sentences(
    scorer: Network,
    encoded: EncodedSentences,
    constraints: Sequence[Constraints],
    *,
    config: Config,
    device: torch.device,
    probs: bool = False,
    details: bool = False,
    topk: Sequence[int] | None = None,
    batch_words: int | None = None,
    longest_entropy: int = LONGEST_ENTROPY,
) -> Trees:
    """The trees of encoded sentences, each under its constraints; see `Decoding`.

    `topk` says how many of the best trees to list for each sentence; 0 is no list. A batch has at
    most `batch_words`, or one sentence.
    """
    order = np.argsort(-encoded.lengths, kind="stable")
    if device.type == "cpu":
        _check_memory(encoded, order, config)
    check_stopped = stop_of_thread()

    def one(rows: Integers) -> tuple[Integers, Trees]:
        check_stopped()
        with torch.inference_mode():
            return decoded(rows)

    def decoded(rows: Integers) -> tuple[Integers, Trees]:
        batch = make_batch(encoded, rows, device=device)
        own = [constraints[row] for row in batch.rows]
        allowed = allowed_arcs(own, batch.grid[1], device=device)
        decoding = Decoding(
            scorer, batch, config=config, allowed=allowed, longest_entropy=longest_entropy
        )
        trees = decoding.best(probs=probs, details=details)
        if topk is not None:
            lists = [decoding.list_best(k) if (k := topk[row]) else None for row in batch.rows]
            trees = replace(trees, best=lists)
        return batch.rows, trees

    tokens = words_of_batch(encoded.lengths, device, most=batch_words)
    # Entropies hold several tensors of siblings at once, in double precision.
    cells = CELLS // 8 if details else CELLS
    alone: list[Integers] = []
    together: list[Integers] = []
    longest = longest_entropy if details else None
    for part in _parts(encoded.lengths, order, longest=longest, topk=topk):
        for rows in cut_batches(
            encoded.lengths, part, tokens=tokens, cells=cells, apart=config.longest_together
        ):
            grid = len(rows), int(encoded.lengths[rows].max()) + 1
            (together if is_small_grid(grid, device) else alone).append(rows)
    with fast_products() if device.type == "cuda" else nullcontext():
        parts = [one(rows) for rows in alone]
        parts += run_side_by_side([partial(one, rows) for rows in together])
    return Trees.joined(parts)


def words_of_batch(lengths: Integers, device: torch.device, *, most: int | None = None) -> int:
    """Words of a batch of these sentences, so that there is something for each thread of a CPU."""
    most = most or BATCH_WORDS[device.type]
    if device.type != "cpu":
        return most
    share = -(-int(lengths.sum()) // torch.get_num_threads())
    return min(most, max(share, _LEAST_WORDS))


def _parts(
    lengths: Integers, order: Integers, *, longest: int | None, topk: Sequence[int] | None
) -> Iterator[Integers]:
    """Sentences that may share a batch: with lists none, and those too long for entropies apart."""
    if topk is not None:
        listed = np.array(topk, bool)[order]
        yield from order[listed, None]
        order = order[~listed]
    if longest is not None:
        too_long = lengths[order] > longest
        yield order[too_long]
        order = order[~too_long]
    yield order


def _check_memory(encoded: EncodedSentences, order: Integers, config: Config) -> None:
    """Raise an error if the longest sentence takes more memory than there is."""
    words = int(encoded.lengths[order[0]]) if len(order) else 0
    if words > LONG:
        needed, available = needed_bytes(words, config), available_memory()
        if needed > available:
            raise TooLongError(int(order[0]), words, needed, available)
