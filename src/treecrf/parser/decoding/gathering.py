"""Sentences decoded in batches of similar length, gathered in the order that they came in."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from treecrf.parser.batching.batch import CELLS, allowed_arcs, cut_batches, make_batch
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.batching.encoding import EncodedSentences
from treecrf.parser.batching.memory import LONG, TooLongError, available_memory, needed_bytes
from treecrf.parser.config import Config
from treecrf.parser.constraints import Constraints
from treecrf.parser.decoding.assigning import TreeArrays
from treecrf.parser.decoding.decoder import Decoded, decode
from treecrf.parser.device import fast_products
from treecrf.parser.files.stopping import stop_of_thread
from treecrf.parser.network.scorer import Network
from treecrf.threads import run_side_by_side

__all__ = ["BATCH_WORDS", "Gathered", "gather", "is_small_grid"]

BATCH_WORDS = {"cpu": 500, "cuda": 20_000}
"""In a batch: enough to keep the device busy."""
# A batch of fewer words is not cut for the sake of another thread.
_LEAST_WORDS = 100
# Cells `[batch, dependent, head, sibling]` of batches that may be in memory several at once.
_SMALL_CELLS = 1 << 22


def is_small_grid(grid: tuple[int, int], device: torch.device) -> bool:
    """Whether a batch of so many sentences and tokens is one for a single thread of a CPU."""
    sentences, width = grid
    return device.type == "cpu" and sentences * width**3 <= _SMALL_CELLS


class Gathered:
    """The trees of batches, put where their sentences are among those that were encoded."""

    def __init__(self, encoded: EncodedSentences) -> None:
        self.encoded = encoded
        self.tokens: dict[str, npt.NDArray[Any]] = {}
        self.sentences: dict[str, npt.NDArray[Any]] = {}
        self.marginals: dict[int, npt.NDArray[np.float32]] = {}  # [token, token] by sentence

    def add(self, rows: Integers, decoded: Decoded) -> None:
        """Take in the trees of the sentences with these numbers."""
        starts, lengths = self.encoded.starts[rows], self.encoded.lengths[rows]
        inside = np.arange(decoded.heads.shape[1]) <= lengths[:, None]  # the root symbol too
        row, step = np.nonzero(inside)
        token = starts[row] + step
        for name in ("heads", "relations", "upos", "probs"):
            if (values := getattr(decoded, name)) is not None:
                whole = self.tokens.setdefault(
                    name, np.zeros(len(self.encoded.forms), values.dtype)
                )
                whole[token] = values[row, step]
        if decoded.marginals is not None:
            for place, (number, length) in enumerate(zip(rows, lengths, strict=True)):
                tokens = slice(int(length) + 1)
                self.marginals[int(number)] = decoded.marginals[place, tokens, tokens]
        for name in ("log_probs", "crossing", "entropies"):
            if (values := getattr(decoded, name)) is not None:
                empty = np.zeros(len(self.encoded), values.dtype)
                self.sentences.setdefault(name, empty)[rows] = values

    def arrays(self) -> TreeArrays:
        """All of them."""
        none = np.zeros(0, np.int64)  # of no sentence at all
        return TreeArrays(
            heads=self.tokens.get("heads", none),
            relations=self.tokens.get("relations", none),
            upos=self.tokens.get("upos"),
            probs=self.tokens.get("probs"),
            log_probs=self.sentences.get("log_probs"),
            crossing=self.sentences.get("crossing"),
        )


def gather(
    scorer: Network,
    encoded: EncodedSentences,
    limits: Sequence[Constraints],
    *,
    config: Config,
    device: torch.device,
    probs: bool = False,
    details: bool = False,
) -> Gathered:
    """The trees of encoded sentences, each under its constraints; see `decode`."""
    order = np.argsort(-encoded.lengths, kind="stable")
    if device.type == "cpu":
        _check_memory(encoded, order, config)
    gathered = Gathered(encoded)
    check_stopped = stop_of_thread()

    def one(rows: Integers) -> tuple[Integers, Decoded]:
        check_stopped()
        batch = make_batch(encoded, rows, device=device)
        allowed = allowed_arcs([limits[row] for row in batch.rows], batch.grid[1], device=device)
        return batch.rows, decode(
            scorer, batch, config=config, allowed=allowed, probs=probs, details=details
        )

    tokens = BATCH_WORDS[device.type]
    if device.type == "cpu":  # batches are computed side by side, each on one thread
        share = -(-int(encoded.lengths.sum()) // torch.get_num_threads())
        tokens = min(tokens, max(share, _LEAST_WORDS))
    # Entropies hold several tensors of siblings at once, in double precision.
    cells = CELLS // 8 if details else CELLS
    alone: list[Integers] = []
    together: list[Integers] = []
    for rows in cut_batches(encoded.lengths, order, tokens=tokens, cells=cells):
        grid = len(rows), int(encoded.lengths[rows].max()) + 1
        (together if is_small_grid(grid, device) else alone).append(rows)
    with fast_products():
        for rows in alone:
            gathered.add(*one(rows))
        for found in run_side_by_side([partial(one, rows) for rows in together]):
            gathered.add(*found)
    return gathered


def _check_memory(encoded: EncodedSentences, order: Integers, config: Config) -> None:
    """An error where the longest sentence takes more memory than there is."""
    words = int(encoded.lengths[order[0]]) if len(order) else 0
    if words > LONG:
        needed, available = needed_bytes(words, config), available_memory()
        if needed > available:
            raise TooLongError(int(order[0]), words, needed, available)
