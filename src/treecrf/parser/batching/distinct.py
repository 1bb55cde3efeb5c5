"""The words and characters that a BiLSTM reads: numbers of distinct forms, and those of a batch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treecrf.parser.vocab import ROOT, UNKNOWN, Vocabulary

__all__ = ["FormTable", "PackedForms", "pack", "pack_forms", "packed_places"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FormTable:
    """What depends on the form of a word alone, once for each distinct form."""

    words: Integers  # [form]
    vectors: Integers | None  # [form], its row in the file of vectors
    characters: Integers  # [form, max_chars]
    counts: Integers  # [form], how many characters it has

    @classmethod
    def of(
        cls, forms: Sequence[str], vocabulary: Vocabulary, *, lowercase: bool, max_chars: int
    ) -> "FormTable":
        """The table of forms, the first of which stands for the root symbol and is not read."""
        known = vocabulary.word_numbers
        numbers = [known.get(form.lower() if lowercase else form, UNKNOWN) for form in forms]
        characters, counts = _characters(forms, vocabulary, max_chars)
        vectors = _vectors(forms, vocabulary) if vocabulary.vectors else None
        numbers[0] = characters[0, 0] = ROOT
        counts[0] = 1
        if vectors is not None:
            vectors[0] = 0
        return cls(np.array(numbers, np.int64), vectors, characters, counts)


@dataclass(frozen=True, slots=True)
class PackedForms:
    """The words of packed tokens, and the characters of their distinct forms."""

    words: Integers  # [token]
    vectors: Integers | None  # [token]
    forms: Integers  # [token], rows of the distinct forms
    characters: Integers  # [character], packed: the first of every form, the longest form first
    sizes: Integers  # [step], forms that have a character there


def pack_forms(table: FormTable, forms: Integers) -> PackedForms:
    """What is read of tokens that have these forms."""
    # Forms are numbers of rows of the table, so that those there are need not be sorted.
    present = np.zeros(len(table.counts), bool)
    present[forms] = True
    distinct = np.flatnonzero(present)
    counts = table.counts.take(distinct)
    # The longest form first, as packing has it; numbers of few bits are sorted faster.
    longest = int(counts.max())
    shorter = (longest - counts).astype(np.min_scalar_type(longest))
    distinct = distinct.take(np.argsort(shorter, kind="stable"))
    rank = np.empty(len(table.counts), np.int64)
    rank[distinct] = np.arange(len(distinct))
    step, form, sizes = pack(table.counts.take(distinct))
    cell = distinct.take(form) * table.characters.shape[1] + step
    return PackedForms(
        words=table.words.take(forms),
        vectors=None if table.vectors is None else table.vectors.take(forms),
        forms=rank.take(forms),
        characters=table.characters.take(cell),
        sizes=sizes,
    )


def pack(counts: Integers) -> tuple[Integers, Integers, Integers]:
    """How sequences of these lengths, the longest first, are packed for an LSTM.

    For each packed item its step and its sequence; and the sequences alive at each step.
    """
    alive = counts > np.arange(int(counts[0]))[:, None]  # [step, sequence]
    step, sequence = np.nonzero(alive)
    return step, sequence, np.count_nonzero(alive, axis=1)


def packed_places(sizes: Integers) -> Integers:
    """The packed place of each item `[sequence, step]`, by how many there are at each step."""
    before = np.cumsum(sizes) - sizes
    sequence = np.arange(int(sizes[0]))[:, None]
    return np.where(sequence < sizes, before + sequence, 0)


def _vectors(forms: Sequence[str], vocabulary: Vocabulary) -> Integers:
    known = vocabulary.vector_numbers
    numbers = [known.get(form) or known.get(form.lower(), 0) for form in forms]
    return np.array(numbers, np.int64)


def _characters(
    forms: Sequence[str], vocabulary: Vocabulary, most: int
) -> tuple[Integers, Integers]:
    """Characters `[form, most]` of forms and how many each has."""
    known = vocabulary.character_numbers
    characters = np.zeros((len(forms), most), np.int64)
    counts = np.empty(len(forms), np.int64)
    start = most // 2
    for row, form in enumerate(forms):
        if len(form) > most:
            form = form[:start] + form[start - most :]
        counts[row] = max(len(form), 1)  # a word without characters has an unknown one
        characters[row, : len(form)] = [known.get(character, UNKNOWN) for character in form]
    return characters, counts
