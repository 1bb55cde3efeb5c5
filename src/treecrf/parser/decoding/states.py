"""The states of an encoder at the words of texts, without trees."""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

import torch
from torch import Tensor

from treecrf.parser.batching.batch import cut_batches, make_batch
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.batching.encoding import encode
from treecrf.parser.config import Config
from treecrf.parser.decoding.batches import words_of_batch
from treecrf.parser.device import fast_products
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.vocab import Vocabulary
from treecrf.threads import run_side_by_side
from treecrf.treebank import Sentence

__all__ = ["word_states"]


def word_states(
    scorer: Scorer,
    texts: Sequence[Sequence[str]],
    *,
    vocabulary: Vocabulary,
    config: Config,
    device: torch.device,
) -> list[Tensor]:
    """States `[word, feature]` of the words of each text; the model reads no tags."""
    encoded = encode([Sentence(list(words)) for words in texts], vocabulary, config)

    def read(rows: Integers) -> tuple[Integers, list[Tensor]]:
        batch = make_batch(encoded, rows, device=device)
        states = batch.unpack(scorer.reader(batch))  # [text, token, feature]
        lengths = encoded.lengths[batch.rows].tolist()
        return batch.rows, [one[1 : 1 + size] for one, size in zip(states, lengths, strict=True)]

    found: dict[int, Tensor] = {}
    on_gpu = device.type == "cuda"
    tokens = words_of_batch(encoded.lengths, device)
    batches = cut_batches(encoded.lengths, tokens=tokens)
    calls = [partial(read, rows) for rows in batches]
    with torch.inference_mode(), fast_products() if on_gpu else nullcontext():
        parts = [call() for call in calls] if on_gpu else run_side_by_side(calls)
        for rows, states in parts:
            found.update(zip(rows.tolist(), states, strict=True))
    return [found[row] for row in range(len(texts))]
