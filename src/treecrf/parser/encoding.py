"""Sentences as arrays of numbers, on the host: what batches are cut from."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from treecrf.parser.config import Config
from treecrf.parser.vocab import ROOT, UNKNOWN, Vocabulary
from treecrf.treebank import Sentence

__all__ = ["EncodedSentences", "Trees", "encode", "encode_trees"]

Integers = npt.NDArray[np.int64]

_ROOT_FORM = "\0"  # no word of a file: it stands for the root symbol among the forms


@dataclass(frozen=True, slots=True)
class EncodedSentences:
    """Sentences one after the other, each with the root symbol before its first word.

    What depends on the form alone is kept once for each distinct form.
    """

    starts: Integers  # [sentence], where its root symbol is among the tokens
    lengths: Integers  # [sentence], in words
    forms: Integers  # [token], the number of its form
    tags: Integers | None  # [token]
    words: Integers  # [form]
    vectors: Integers | None  # [form], its row in the file of vectors
    characters: Integers  # [form, max_chars]
    character_counts: Integers  # [form]

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True, slots=True)
class Trees:
    """Heads and relations of encoded sentences; -1 is what is not annotated."""

    heads: Integers  # [token], 0 for the root symbol
    relations: Integers  # [token], -1 for the root symbol and for relations never seen


def encode(
    sentences: Sequence[Sentence], vocabulary: Vocabulary, config: Config
) -> EncodedSentences:
    """The words of sentences as numbers."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    starts = np.cumsum(lengths + 1) - (lengths + 1)
    numbering = _Numbering()
    number = numbering.__getitem__
    forms = np.fromiter(
        map(number, chain.from_iterable((_ROOT_FORM, *sentence.forms) for sentence in sentences)),
        np.int64,
        int((lengths + 1).sum()),
    )
    distinct = list(numbering)
    tags = None
    if config.tags != "none":
        column = config.tags
        known = vocabulary.tag_numbers
        tags = np.fromiter(
            chain.from_iterable(
                (ROOT, *(known.get(tag, UNKNOWN) for tag in sentence.column(column)))
                for sentence in sentences
            ),
            np.int64,
            len(forms),
        )
    characters, counts = _characters(distinct, vocabulary, config.max_chars)
    return EncodedSentences(
        starts=starts,
        lengths=lengths,
        forms=forms,
        tags=tags,
        words=_words(distinct, vocabulary, lowercase=config.lowercase),
        vectors=_vectors(distinct, vocabulary) if vocabulary.vectors else None,
        characters=characters,
        character_counts=counts,
    )


def encode_trees(sentences: Sequence[Sentence], vocabulary: Vocabulary) -> Trees:
    """The heads and relations of sentences as numbers."""
    known = vocabulary.relation_numbers
    heads: list[int] = []
    relations: list[int] = []
    for sentence in sentences:
        heads.append(0)
        heads += sentence.heads
        relations.append(-1)
        relations += [known.get(relation, -1) for relation in sentence.deprels]
    encoded = Trees(np.array(heads, np.int64), np.array(relations, np.int64))
    encoded.relations[encoded.heads < 0] = -1
    return encoded


class _Numbering(dict[str, int]):
    """Gives each new key the next number."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


def _words(forms: list[str], vocabulary: Vocabulary, *, lowercase: bool) -> Integers:
    known = vocabulary.word_numbers
    numbers = [known.get(form.lower() if lowercase else form, UNKNOWN) for form in forms]
    return _with_root(numbers, forms)


def _vectors(forms: list[str], vocabulary: Vocabulary) -> Integers:
    known = vocabulary.vector_numbers
    numbers = [known.get(form) or known.get(form.lower(), 0) for form in forms]
    return np.array(numbers, np.int64)


def _with_root(numbers: list[int], forms: list[str]) -> Integers:
    if _ROOT_FORM in forms[:1]:
        numbers[0] = ROOT
    return np.array(numbers, np.int64)


def _characters(forms: list[str], vocabulary: Vocabulary, most: int) -> tuple[Integers, Integers]:
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
    if _ROOT_FORM in forms[:1]:
        characters[0, 0] = ROOT
    return characters, counts
