"""What a loss compares scores with: the annotation of a batch, by packed token and by cell.

It is found on the host, where a batch is made while a GPU computes another one: on the device, the
parts of a tree are found in some fifty small operations a step.
"""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from treecrf.parser.encoding import Annotation, EncodedSentences
from treecrf.parser.forms import Integers

__all__ = ["Gold", "WordCounts", "count_words", "gold_arrays"]


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How many words have what a loss is divided by: a head, a relation, a tag."""

    heads: int
    relations: int
    upos: int


@dataclass(frozen=True, slots=True)
class Gold:
    """What is annotated of the packed tokens of a batch."""

    counts: WordCounts
    places: Tensor  # [token], where its head is among the packed tokens; the root's for none
    relations: Tensor  # [token], -1 for none
    upos: Tensor | None  # [token], -1 for none
    arcs: Tensor | None  # [word], cells of arc scores; None where some word has no head
    siblings: Tensor | None  # [pair], cells of sibling scores, of the second order


def count_words(encoded: EncodedSentences, annotation: Annotation, rows: Integers) -> WordCounts:
    """The counts of the sentences with these numbers."""
    starts, lengths = encoded.starts[rows], encoded.lengths[rows] + 1
    before = np.cumsum(lengths) - lengths
    token = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    return _count(annotation, token, len(rows))


def _count(annotation: Annotation, token: Integers, sentences: int) -> WordCounts:
    def count(values: Integers | None) -> int:
        return 0 if values is None else int(np.count_nonzero(values[token] >= 0))

    return WordCounts(
        heads=count(annotation.heads) - sentences,  # root symbols are no words
        relations=count(annotation.relations),
        upos=count(annotation.upos),
    )


def gold_arrays(
    annotation: Annotation, token: Integers, *, cells: Integers, places: Integers
) -> tuple[WordCounts, dict[str, Integers | None]]:
    """The counts and the arrays of `Gold`, by name, of packed tokens with these numbers.

    `cells [token]` say where each token goes in the grid that `places [sentence, token]` is of.
    """
    sentences, width = places.shape
    counts = _count(annotation, token, sentences)
    heads = annotation.heads[token]
    arrays: dict[str, Integers | None] = {
        "places": places.ravel()[cells - cells % width + np.maximum(heads, 0)],
        "relations": annotation.relations[token],
        "upos": None if annotation.upos is None else annotation.upos[token],
        "arcs": None,
        "siblings": None,
    }
    if counts.heads == len(token) - sentences:
        # The root symbols come first.
        arcs = arrays["arcs"] = cells[sentences:] * width + heads[sentences:]
        if annotation.siblings is not None:
            sibling = annotation.siblings[token[sentences:]]
            has_one = sibling > 0
            arrays["siblings"] = arcs[has_one] * width + sibling[has_one]
    return counts, arrays
