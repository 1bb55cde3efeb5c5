"""Batches of sentences on a device, cut by tokens and by memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from treecrf.parser.batching.distinct import Integers, pack, pack_forms, packed_places
from treecrf.parser.batching.encoding import Annotation, EncodedSentences
from treecrf.parser.batching.gold import Gold, gold_arrays
from treecrf.parser.batching.pieces import cut_windows
from treecrf.parser.constraints import Constraints

__all__ = ["CELLS", "Batch", "allowed_arcs", "cut_batches", "make_batch", "shuffled_batches"]

# Cells of the largest tensor of a batch, [batch, dependent, head, sibling] of the second order: a
# quarter of a gigabyte in single precision. One sentence may be larger.
CELLS = 1 << 26

# Sentences whose lengths differ by less than this share a bucket, where training shuffles them.
_BUCKET_GROWTH = 1.1


@dataclass(frozen=True, slots=True)
class WordInputs:
    """What a BiLSTM reads: words, and the packed characters of the distinct forms of the batch."""

    words: Tensor  # [token]
    vectors: Tensor | None  # [token]
    forms: Tensor  # [token], rows of the distinct forms
    characters: Tensor  # [character]
    character_sizes: Tensor  # [step], on the host: forms that have a character there


@dataclass(frozen=True, slots=True)
class PieceInputs:
    """What a transformer reads: windows over the pieces of words; see `pieces.Windows`."""

    windows: Tensor  # [window, piece]
    lengths: Tensor  # [window]
    cells: Tensor  # [state]
    token: Tensor  # [state]


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences side by side, the longest first.

    Tokens are packed as LSTMs take them: the root symbol of every sentence, then the first word of
    every sentence, and so on. `cells` says where each goes in a grid `[sentence, token]`.
    """

    rows: Integers  # [batch], the sentences by their numbers in what was encoded
    lengths: Tensor  # [batch], in words
    batch_sizes: Tensor  # [step], on the host: sentences that have a token there
    sentence: Tensor  # [token]
    cells: Tensor  # [token]
    places: Tensor  # [batch, N], where each token of the grid is among the packed ones
    tags: Tensor | None  # [token]
    words: WordInputs | None
    pieces: PieceInputs | None
    heads: Tensor | None  # [batch, N]; -1 where not annotated or no word
    gold: Gold | None

    @property
    def grid(self) -> tuple[int, int]:
        """How many sentences there are, and how many tokens the longest has."""
        return self.places.shape[0], self.places.shape[1]

    def unpack(self, tokens: Tensor) -> Tensor:
        """A grid `[sentence, token, feature]` of packed tokens, zero where there is none."""
        sentences, width = self.grid
        grid = tokens.new_zeros(sentences * width, tokens.shape[1])
        return grid.index_copy_(0, self.cells, tokens).view(sentences, width, -1)


def make_batch(
    encoded: EncodedSentences,
    rows: Integers,
    *,
    annotation: Annotation | None = None,
    device: torch.device | str = "cpu",
) -> Batch:
    """The sentences with these numbers."""
    rows = rows[np.argsort(-encoded.lengths[rows], kind="stable")]
    lengths = encoded.lengths[rows]
    step, sentence, batch_sizes = pack(lengths + 1)
    places = packed_places(batch_sizes)
    token = encoded.starts[rows].take(sentence) + step
    forms = encoded.forms.take(token)
    cells = sentence * places.shape[1] + step
    arrays: dict[str, Integers | None] = {
        "lengths": lengths,
        "sentence": sentence,
        "cells": cells,
        "places": places,
        "tags": None if encoded.tags is None else encoded.tags.take(token),
        "heads": None,
    }
    counts = None
    if annotation is not None:
        heads = arrays["heads"] = np.full(places.shape, -1, np.int64)
        heads.ravel()[cells] = annotation.heads.take(token)
        counts, gold = gold_arrays(annotation, token, cells=cells, places=places)
        arrays |= {f"gold {name}": array for name, array in gold.items()}
    packed = windows = None
    if encoded.form_table is not None:
        packed = pack_forms(encoded.form_table, forms)
        for name in ("words", "vectors", "forms", "characters"):
            arrays[f"form {name}"] = getattr(packed, name)
    if encoded.piece_table is not None:
        windows = cut_windows(encoded.piece_table, forms, places, lengths)
        for name in ("windows", "lengths", "cells", "token"):
            arrays[f"piece {name}"] = getattr(windows, name)
    moved = _to_device(arrays, device)
    return Batch(
        rows=rows,
        batch_sizes=torch.from_numpy(batch_sizes),
        words=None
        if packed is None
        else WordInputs(character_sizes=torch.from_numpy(packed.sizes), **_part(moved, "form ")),
        pieces=None if windows is None else PieceInputs(**_part(moved, "piece ")),
        gold=None if counts is None else Gold(counts=counts, **_part(moved, "gold ")),
        **_part(moved, ""),
    )


def _part(tensors: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The tensors whose names have this prefix, without it; those without any for an empty one."""
    if not prefix:
        return {name: tensor for name, tensor in tensors.items() if " " not in name}
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


def _to_device(arrays: dict[str, Integers | None], device: torch.device | str) -> dict[str, Any]:
    """The arrays as tensors on the device, moved in one piece."""
    present = {name: array for name, array in arrays.items() if array is not None}
    flat = torch.from_numpy(np.concatenate([array.ravel() for array in present.values()]))
    if torch.device(device).type == "cuda":
        flat = flat.pin_memory()
    pieces = flat.to(device, non_blocking=True).split([array.size for array in present.values()])
    moved: dict[str, Any] = dict.fromkeys(arrays)
    for (name, array), piece in zip(present.items(), pieces, strict=True):
        moved[name] = piece.view(array.shape)
    return moved


def cut_batches(
    lengths: Integers, order: Integers, *, tokens: int, cells: int = CELLS
) -> Iterator[Integers]:
    """Cuts an order of sentences into batches of at most so many words and cells of the grid."""
    first = 0
    words = longest = 0
    for place, row in enumerate(order):
        length = int(lengths[row])
        widest = max(longest, length)
        count = place - first
        if count and (words + length > tokens or (count + 1) * (widest + 1) ** 3 > cells):
            yield order[first:place]
            first, words, widest = place, 0, length
        words += length
        longest = widest
    if first < len(order):
        yield order[first:]


def shuffled_batches(
    lengths: Integers, *, tokens: int, seed: int, cells: int = CELLS
) -> list[Integers]:
    """Batches of sentences of similar length, drawn and ordered at random."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(lengths))
    bucket = np.log(lengths[order] + 1) // np.log(_BUCKET_GROWTH)
    order = order[np.argsort(bucket, kind="stable")]
    batches = list(cut_batches(lengths, order, tokens=tokens, cells=cells))
    return [batches[place] for place in random.permutation(len(batches))]


def allowed_arcs(
    constraints: Sequence[Constraints], width: int, *, device: torch.device
) -> Tensor | None:
    """Which arcs are allowed, `[batch, dependent, head]`; None where all are."""
    if not any(constraints):
        return None
    allowed = torch.ones(len(constraints), width, width, dtype=torch.bool)
    for row, constraint in enumerate(constraints):
        for dependent, head in constraint.heads.items():
            allowed[row, dependent] = False
            allowed[row, dependent, head] = True
        for dependent, heads in constraint.forbidden.items():
            allowed[row, dependent, list(heads)] = False
    return allowed.to(device)
