"""Batches of sentences on a device, bounded in words and in memory."""

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
from treecrf.parser.batching.targets import target_cells
from treecrf.parser.constraints import Constraints

__all__ = ["CELLS", "Batch", "allowed_arcs", "cut_batches", "make_batch", "shuffled_batches"]

# Cells of the largest tensor of a batch, [batch, dependent, head, sibling] of the second order: a
# quarter of a gigabyte in single precision. One sentence may be larger.
CELLS = 1 << 26

# Sentences whose lengths differ by less than this share a bucket, where training shuffles them.
_BUCKET_GROWTH = 1.1


@dataclass(frozen=True, slots=True)
class WordInputs:
    """Input of a BiLSTM: words, and the characters of the distinct forms of the batch."""

    words: Tensor  # [token]
    vectors: Tensor | None  # [token]
    forms: Tensor  # [token], rows of the distinct forms
    characters: Tensor  # [character], packed: the first of every form, the longest form first
    character_sizes: Tensor  # [step], on the host: number of forms with a character there


@dataclass(frozen=True, slots=True)
class PieceInputs:
    """Input of a transformer: windows over the pieces of words, and the states that tokens have."""

    windows: Tensor  # [window, piece], with the start and end of a text in each
    lengths: Tensor  # [window]
    cells: Tensor  # [state], its place in the grid of all windows
    token: Tensor  # [state], the packed token that it belongs to


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences side by side, the longest first.

    Tokens are packed as LSTMs take them: the root symbols of all sentences, then the first words,
    and so on. `cells` are their places in a grid `[sentence, token]`.
    """

    rows: Integers  # [batch], numbers of the encoded sentences
    lengths: Tensor  # [batch], in words
    batch_sizes: Tensor  # [step], on the host: number of sentences with a token there
    sentence: Tensor  # [token]
    cells: Tensor  # [token]
    places: Tensor  # [batch, N], packed places of the tokens of the grid
    tags: Tensor | None  # [token]
    spellings: Tensor | None  # [token, feature]
    words: WordInputs | None
    pieces: PieceInputs | None
    heads: Tensor | None  # [batch, N]; -1 where not annotated or no word
    gold: Gold | None

    @property
    def grid(self) -> tuple[int, int]:
        """Number of sentences, and of tokens of the longest."""
        return self.places.shape[0], self.places.shape[1]

    def pack(self, grid: Tensor) -> Tensor:
        """Packed tokens `[token]` of a grid `[sentence, token]`."""
        return grid.flatten().index_select(0, self.cells)

    def unpack(self, tokens: Tensor) -> Tensor:
        """Packed tokens in a grid `[sentence, token, feature]`, zero where there is none."""
        sentences, width = self.grid
        if sentences == 1:  # then its tokens are all there are
            return tokens[None]
        grid = tokens.new_zeros(sentences * width, tokens.shape[1])
        return grid.index_copy_(0, self.cells, tokens).view(sentences, width, -1)


def make_batch(
    encoded: EncodedSentences,
    rows: Integers,
    *,
    annotation: Annotation | None = None,
    device: torch.device | str = "cpu",
) -> Batch:
    """A batch of some of the sentences."""
    rows = rows[np.argsort(-encoded.lengths[rows], kind="stable")]
    lengths = encoded.lengths[rows]
    step, sentence, batch_sizes = pack(lengths + 1)
    places = packed_places(batch_sizes)
    token = encoded.starts[rows].take(sentence) + step
    forms = encoded.forms.take(token)
    cells = sentence * places.shape[1] + step
    own: dict[str, Integers | None] = {
        "lengths": lengths,
        "sentence": sentence,
        "cells": cells,
        "places": places,
        "tags": None if encoded.tags is None else encoded.tags.take(token),
        "spellings": None if encoded.spellings is None else encoded.spellings.take(forms, 0),
        "heads": None,
    }
    groups = {"own": own}
    if annotation is not None:
        heads = own["heads"] = np.full(places.shape, -1, np.int64)
        heads.ravel()[cells] = annotation.heads.take(token)
        counts, groups["gold"], columns = gold_arrays(annotation, token, cells=cells, places=places)
        groups["columns"] = {**columns}
        if annotation.targets is not None:
            own_cells = target_cells(annotation.targets, token, cells=cells, width=places.shape[1])
            groups["target cells"] = {name: pair[0] for name, pair in own_cells.items()}
            groups["target weights"] = {name: pair[1] for name, pair in own_cells.items()}
    if encoded.form_table is not None:
        groups["words"], character_sizes = pack_forms(encoded.form_table, forms)
    if encoded.piece_table is not None:
        groups["pieces"] = cut_windows(encoded.piece_table, forms, places, lengths)
    moved = _to_device(groups, device)
    parts: dict[str, Any] = {"gold": None, "words": None, "pieces": None}
    if "gold" in moved:
        weights = moved.get("target weights", {})
        targets = {name: (moved["target cells"][name], weights[name]) for name in weights}
        parts["gold"] = Gold(
            counts=counts, columns=moved["columns"], targets=targets or None, **moved["gold"]
        )
    if "words" in moved:
        sizes = torch.from_numpy(character_sizes)
        parts["words"] = WordInputs(character_sizes=sizes, **moved["words"])
    if "pieces" in moved:
        parts["pieces"] = PieceInputs(**moved["pieces"])
    return Batch(rows=rows, batch_sizes=torch.from_numpy(batch_sizes), **parts, **moved["own"])


def _to_device(
    groups: dict[str, dict[str, Integers | None]], device: torch.device | str
) -> dict[str, dict[str, Any]]:
    """The arrays as tensors on the device, moved in one piece."""
    if torch.device(device).type == "cpu":
        return {
            group: {name: None if a is None else torch.from_numpy(a) for name, a in arrays.items()}
            for group, arrays in groups.items()
        }
    moved: dict[str, dict[str, Any]] = {name: {**arrays} for name, arrays in groups.items()}
    present = [
        (group, name, array)
        for group, arrays in groups.items()
        for name, array in arrays.items()
        if array is not None
    ]
    flat = torch.from_numpy(np.concatenate([array.ravel() for *_, array in present]))
    pieces = (
        flat.pin_memory().to(device, non_blocking=True).split([array.size for *_, array in present])
    )
    for (group, name, array), piece in zip(present, pieces, strict=True):
        moved[group][name] = piece.view(array.shape)
    return moved


def cut_batches(
    lengths: Integers,
    order: Integers | None = None,
    *,
    tokens: int,
    cells: int = CELLS,
    apart: int | None = None,
) -> Iterator[Integers]:
    """Cut sentences into batches of at most `tokens` words and `cells` of the grid.

    The longest come first, unless there is another `order`. Sentences of more than `apart` words
    share no batch with others.
    """
    order = np.argsort(-lengths, kind="stable") if order is None else order
    first = words = longest = 0
    for place, row in enumerate(order):
        length = int(lengths[row])
        widest = max(longest, length)
        count = place - first
        full = words + length > tokens or (count + 1) * (widest + 1) ** 3 > cells
        if apart is not None and count:
            full |= (length > apart) != (longest > apart)
        if count and full:
            yield order[first:place]
            first, words, widest = place, 0, length
        words += length
        longest = widest
    if first < len(order):
        yield order[first:]


def shuffled_batches(
    lengths: Integers, *, tokens: int, seed: int, cells: int = CELLS, apart: int | None = None
) -> list[Integers]:
    """Batches of sentences of similar length, drawn and ordered at random.

    Sentences of more than `apart` words share no batch with others.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(lengths))
    bucket = np.log(lengths[order] + 1) // np.log(_BUCKET_GROWTH)
    if apart is not None:
        bucket += (lengths[order] > apart) * len(lengths)
    order = order[np.argsort(bucket, kind="stable")]
    batches = list(cut_batches(lengths, order, tokens=tokens, cells=cells, apart=apart))
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
