"""Inputs of a graph from a batch: sentences padded with zeros."""

from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from treecrf.parser.batching.batch import Batch, PieceInputs, WordInputs

__all__ = ["graph_inputs"]

Array = npt.NDArray[np.int64]


def graph_inputs(batch: Batch) -> dict[str, Array]:
    """Inputs by name for the graph of the model that the batch was made for."""
    inputs: dict[str, Array] = {"lengths": batch.lengths.numpy()}
    if batch.tags is not None:
        inputs["tags"] = _padded(batch, batch.tags)
    if batch.words is not None:
        inputs |= _words(batch, batch.words)
    if batch.pieces is not None:
        inputs |= _pieces(batch, batch.pieces)
    return inputs


def _words(batch: Batch, read: WordInputs) -> dict[str, Array]:
    sizes = read.character_sizes.numpy()
    inside = np.arange(sizes[0]) < sizes[:, None]  # [character, form], as they are packed
    characters = np.zeros(inside.shape, np.int64)
    characters[inside] = read.characters.numpy()
    inputs = {
        "words": _padded(batch, read.words),
        "forms": _padded(batch, read.forms),
        "characters": np.ascontiguousarray(characters.T),
        "character_counts": inside.sum(0),
    }
    if read.vectors is not None:
        inputs["vectors"] = _padded(batch, read.vectors)
    return inputs


def _pieces(batch: Batch, read: PieceInputs) -> dict[str, Array]:
    sentences, width = batch.grid
    place = batch.cells.numpy()[read.token.numpy()]  # of the token of each state, in the grid
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place, minlength=sentences * width)
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    pieces = np.zeros((sentences * width, int(counts.max())), np.int64)
    pieces[place[order], within] = read.cells.numpy()[order]
    return {
        "windows": read.windows.numpy(),
        "window_lengths": read.lengths.numpy(),
        "token_pieces": pieces.reshape(sentences, width, -1),
        "token_piece_counts": counts.reshape(sentences, width),
    }


def _padded(batch: Batch, tokens: Tensor) -> npt.NDArray[Any]:
    return batch.unpack(tokens.unsqueeze(1)).squeeze(2).numpy()
