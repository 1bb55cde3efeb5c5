"""Gold annotation of a batch, by packed token and by cell of the scores.

It is found on the host, while a GPU computes another batch: on the device it would take some fifty
small operations a step.
"""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from treecrf.parser.batching.distinct import Integers
from treecrf.parser.batching.encoding import Annotation, EncodedSentences

__all__ = ["Gold", "WordCounts", "count_words", "gold_arrays"]


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Words with a head, a relation, a class in a column: the losses are divided by these."""

    heads: int
    relations: int
    columns: dict[str, int]


@dataclass(frozen=True, slots=True)
class Gold:
    """Annotation of the packed tokens of a batch."""

    counts: WordCounts
    places: Tensor  # [token], packed place of the head; that of the root symbol for none
    relations: Tensor  # [token], -1 for none
    columns: dict[str, Tensor]  # [token] of each predicted column, -1 for none
    arcs: Tensor | None  # [word], cells of arc scores; None where some word has no head
    siblings: Tensor | None  # [pair], cells of sibling scores, of the second order
    grandparents: Tensor | None = None  # [arc], cells of grandparent scores, of the third order
    targets: dict[str, tuple[Tensor, Tensor]] | None = None
    """Soft targets by the name of the scores: cells, and probabilities in parts of `WEIGHT`."""


def count_words(encoded: EncodedSentences, annotation: Annotation, rows: Integers) -> WordCounts:
    """Counts of some of the sentences."""
    if annotation.targets is not None:
        return _count_all(int(encoded.lengths[rows].sum()), annotation)
    starts, lengths = encoded.starts[rows], encoded.lengths[rows] + 1
    before = np.cumsum(lengths) - lengths
    token = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    heads, relations, columns = _of_tokens(annotation, token)
    return _count(np.delete(heads, before), relations, columns)  # root symbols are no words


def _of_tokens(
    annotation: Annotation, token: Integers
) -> tuple[Integers, Integers, dict[str, Integers]]:
    columns = {name: column.take(token) for name, column in annotation.columns.items()}
    return annotation.heads.take(token), annotation.relations.take(token), columns


def _count(heads: Integers, relations: Integers, columns: dict[str, Integers]) -> WordCounts:
    return WordCounts(
        heads=int(np.count_nonzero(heads >= 0)),
        relations=int(np.count_nonzero(relations >= 0)),
        columns={name: int(np.count_nonzero(column >= 0)) for name, column in columns.items()},
    )


def _count_all(words: int, annotation: Annotation) -> WordCounts:
    """Counts where teachers say something of every word."""
    return WordCounts(words, words, dict.fromkeys(annotation.columns, words))


def gold_arrays(
    annotation: Annotation, token: Integers, *, cells: Integers, places: Integers
) -> tuple[WordCounts, dict[str, Integers | None], dict[str, Integers]]:
    """The counts, the arrays of `Gold` by name, and its columns, of packed tokens.

    `cells [token]` are their places in the grid `[sentence, token]`, `places` the way back.
    """
    sentences, width = places.shape
    heads, relations, columns = _of_tokens(annotation, token)
    words = heads[sentences:]  # the root symbols come first
    if annotation.targets is not None:
        counts = _count_all(len(words), annotation)
        heads = annotation.targets.heads.take(token)
    else:
        counts = _count(words, relations, columns)
    arrays: dict[str, Integers | None] = {
        "places": places.take(cells - cells % width + np.maximum(heads, 0)),
        "relations": relations,
        "arcs": None,
        "siblings": None,
        "grandparents": None,
    }
    if not (words < 0).any():
        arcs = arrays["arcs"] = cells[sentences:] * width + words
        if annotation.siblings is not None:
            sibling = annotation.siblings.take(token[sentences:])
            has_one = np.flatnonzero(sibling)
            arrays["siblings"] = arcs.take(has_one) * width + sibling.take(has_one)
        if annotation.grandparents is not None:
            grandparent = annotation.grandparents.take(token[sentences:])
            has_one = np.flatnonzero(grandparent >= 0)
            arrays["grandparents"] = arcs.take(has_one) * width + grandparent.take(has_one)
    return counts, arrays, columns
