"""Input of a BiLSTM: numbers of words and characters, once for each distinct form."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treecrf.parser.vocab import ROOT, UNKNOWN, Vocabulary

__all__ = ["FormTable", "Integers", "pack", "pack_forms", "packed_places"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FormTable:
    """Numbers of the words and characters of distinct forms."""

    words: Integers  # [form]
    vectors: Integers | None  # [form], its row in the file of vectors
    characters: Integers  # [form, max_chars]
    counts: Integers  # [form], how many characters it has

    @classmethod
    def of(
        cls, forms: Sequence[str], vocabulary: Vocabulary, *, lowercase: bool, max_chars: int
    ) -> "FormTable":
        """The table of forms; the first stands for the root symbol and is not read."""
        known = vocabulary.word_numbers
        numbers = [known.get(form.lower() if lowercase else form, UNKNOWN) for form in forms]
        characters, counts = _characters(forms, vocabulary, max_chars)
        numbers[0] = characters[0, 0] = ROOT
        counts[0] = 1
        vectors = None
        if vocabulary.vectors:
            known = vocabulary.vector_numbers
            rows = (known.get(form) or known.get(form.lower(), 0) for form in forms[1:])
            vectors = np.array([0, *rows], np.int64)
        return cls(np.array(numbers, np.int64), vectors, characters, counts)


def pack_forms(table: FormTable, forms: Integers) -> tuple[dict[str, Integers | None], Integers]:
    """The arrays of `WordInputs`, by name, for tokens of these forms, and `character_sizes`."""
    # Forms are rows of the table, so a mask finds the distinct ones without sorting.
    present = np.zeros(len(table.counts), bool)
    present[forms] = True
    distinct = np.flatnonzero(present)
    counts = table.counts.take(distinct)
    # Packing has the longest form first; small integer types are sorted faster.
    longest = int(counts.max())
    shorter = (longest - counts).astype(np.min_scalar_type(longest))
    distinct = distinct.take(np.argsort(shorter, kind="stable"))
    rank = np.empty(len(table.counts), np.int64)
    rank[distinct] = np.arange(len(distinct))
    step, form, sizes = pack(table.counts.take(distinct))
    cell = distinct.take(form) * table.characters.shape[1] + step
    arrays = {
        "words": table.words.take(forms),
        "vectors": None if table.vectors is None else table.vectors.take(forms),
        "forms": rank.take(forms),
        "characters": table.characters.take(cell),
    }
    return arrays, sizes


def pack(counts: Integers) -> tuple[Integers, Integers, Integers]:
    """Pack sequences of these lengths, the longest first, for an LSTM.

    Returns the step and the sequence of each packed item, and the number of sequences at each step.
    """
    alive = counts > np.arange(int(counts[0]))[:, None]  # [step, sequence]
    step, sequence = np.nonzero(alive)
    return step, sequence, np.count_nonzero(alive, axis=1)


def packed_places(sizes: Integers) -> Integers:
    """Packed places `[sequence, step]` of items, from the number of sequences at each step."""
    before = np.cumsum(sizes) - sizes
    sequence = np.arange(int(sizes[0]))[:, None]
    return np.where(sequence < sizes, before + sequence, 0)


def _characters(
    forms: Sequence[str], vocabulary: Vocabulary, most: int
) -> tuple[Integers, Integers]:
    """Characters `[form, most]` of forms, and their counts `[form]`."""
    start = most // 2
    read = [form if len(form) <= most else form[:start] + form[start - most :] for form in forms]
    sizes = np.fromiter(map(len, read), np.int64, len(read))
    codes = np.frombuffer("".join(read).encode("utf-32-le", "surrogatepass"), np.uint32)
    known = vocabulary.codes
    characters = np.full((len(forms), most), UNKNOWN, np.int64)
    inside = np.arange(most) < sizes[:, None]
    characters[inside] = known.take(np.minimum(codes, len(known) - 1))
    return characters, np.maximum(sizes, 1)  # a word without characters has an unknown one
