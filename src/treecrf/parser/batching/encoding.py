"""Sentences as arrays of numbers, on the host; batches are cut from these."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from treecrf.parser.batching.distinct import FormTable, Integers
from treecrf.parser.batching.pieces import PieceTable
from treecrf.parser.batching.spelling import spellings_of
from treecrf.parser.batching.targets import Targets
from treecrf.parser.batching.words import SentenceTable, WordTable, word_places
from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.parser.vocab import ROOT, UNKNOWN, Vocabulary, classes_of
from treecrf.treebank import Sentence
from treecrf.treebank.trees import adjacent_siblings

__all__ = [
    "Annotation",
    "EncodedSentences",
    "check_tags",
    "encode",
    "encode_annotation",
    "encode_words",
]

# Characters of a word that a model reads. A longer one is no word of a language, and the time to
# normalise a run of combining marks grows with its square.
_LONGEST_READ = 512


@dataclass(frozen=True, slots=True)
class EncodedSentences:
    """Sentences one after the other, each with the root symbol before its first word.

    What depends on the form alone is in a table: words and characters, or pieces.
    """

    starts: Integers  # [sentence], the place of its root symbol among the tokens
    lengths: Integers  # [sentence], in words
    forms: Integers  # [token], the number of its form
    tags: Integers | None  # [token]
    spellings: Integers | None  # [form, feature]
    form_table: FormTable | None
    piece_table: PieceTable | None

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True, slots=True)
class Annotation:
    """Gold annotation of encoded sentences, by token; -1 where there is none."""

    heads: Integers  # 0 for the root symbol
    relations: Integers  # -1 for the root symbol and for relations never seen
    columns: dict[str, Integers]  # classes in each column that the model predicts
    siblings: Integers | None  # second order: the adjacent sibling, 0 for none
    grandparents: Integers | None = None  # third order: the head of the head, -1 for none
    targets: Targets | None = None  # of teachers: the loss uses them instead of the fields above


def check_tags(words: WordTable, config: Config) -> None:
    """Raise an error if the model reads tags and a sentence has none: its tree would be wrong."""
    if config.tags == "none":
        return
    names, numbers = words.column(config.tags)
    if "_" not in names:
        return
    lengths = words.lengths
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    tagged = np.bincount(sentence[numbers != names.index("_")], minlength=len(lengths))
    for row in np.flatnonzero((tagged == 0) & (lengths > 0)).tolist():
        raise ParserError(
            f"{words.sentence(row).where}: the model reads tags ({config.tags}), and there are "
            "none: tag the words first, or take a model that reads words alone"
        )


def encode(
    sentences: Sequence[Sentence], vocabulary: Vocabulary, config: Config
) -> EncodedSentences:
    """The words of sentences as numbers."""
    return encode_words(SentenceTable(sentences), vocabulary, config)


def encode_words(words: WordTable, vocabulary: Vocabulary, config: Config) -> EncodedSentences:
    """The words of sentences as numbers."""
    lengths = words.lengths
    starts = np.cumsum(lengths + 1) - (lengths + 1)
    names, numbers = words.column("form")
    # The first form stands for the root symbol; each new one has the next number.
    distinct = ["", *map(_as_read, names)]
    places, size = word_places(lengths), int((lengths + 1).sum())
    forms = np.zeros(size, np.int64)
    forms[places] = numbers + 1
    tags = form_table = piece_table = None
    if config.tags != "none":
        names, numbers = words.column(config.tags)
        known = vocabulary.tag_numbers
        tags = np.full(size, ROOT, np.int64)
        tags[places] = np.array([known.get(name, UNKNOWN) for name in names], np.int64)[numbers]
    if vocabulary.pieces is None:
        form_table = FormTable.of(
            distinct, vocabulary, lowercase=config.lowercase, max_chars=config.max_chars
        )
    else:
        pieces, cut = vocabulary.pieces, [vocabulary.pieces.cut(form) for form in distinct]
        piece_table = PieceTable.of(cut, start=pieces.start, end=pieces.end, longest=pieces.longest)
    spellings = spellings_of(distinct) if config.reads_spelling else None
    return EncodedSentences(starts, lengths, forms, tags, spellings, form_table, piece_table)


def _as_read(form: str) -> str:
    """The form, or the first and last characters of a very long one."""
    half = _LONGEST_READ // 2
    return form if len(form) <= _LONGEST_READ else form[:half] + form[-half:]


def encode_annotation(
    sentences: Sequence[Sentence], vocabulary: Vocabulary, config: Config
) -> Annotation:
    """Heads, relations and the columns that the model predicts, as numbers."""
    heads = np.fromiter(
        chain.from_iterable((0, *sentence.heads) for sentence in sentences), np.int64
    )
    deprels = (sentence.deprels for sentence in sentences)
    relations = _numbers(deprels, vocabulary.relation_numbers, root=-1, unknown=-1)
    relations[heads < 0] = -1
    columns: dict[str, Integers] = {}
    for name in config.predict:
        classes = (classes_of(sentence, name) for sentence in sentences)
        columns[name] = _numbers(classes, vocabulary.column_numbers[name], root=-1, unknown=-1)
    siblings = None
    lengths = np.fromiter(map(len, sentences), np.int64)
    if config.scores_siblings:
        siblings = np.zeros_like(heads)
        starts = np.cumsum(lengths + 1) - (lengths + 1)
        for start, sentence in zip(starts.tolist(), sentences, strict=True):
            for _, sibling, dependent in adjacent_siblings([0, *sentence.heads]):
                siblings[start + dependent] = sibling
        if not config.multiroot:  # then the root symbol has no two children
            siblings[heads == 0] = 0
    grandparents = _grandparents(heads, lengths) if config.scores_grandparents else None
    return Annotation(heads, relations, columns, siblings, grandparents)


def _grandparents(heads: Integers, lengths: Integers) -> Integers:
    """For each token the head of its head; -1 where the head is the root symbol or unknown."""
    starts = np.cumsum(lengths + 1) - (lengths + 1)
    head = np.repeat(starts, lengths + 1) + heads
    return np.where(heads > 0, heads[head.clip(0)], -1)


def _numbers(
    columns: Iterable[Sequence[str | None]], known: Mapping[Any, int], *, root: int, unknown: int
) -> Integers:
    """Numbers of the items of each sentence, after that of the root symbol."""

    def each() -> Iterator[int]:
        for column in columns:
            yield root
            for item in column:
                yield known.get(item, unknown)

    return np.fromiter(each(), np.int64)
