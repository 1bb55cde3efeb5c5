"""Sentences as arrays of numbers, on the host: what batches are cut from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from treecrf.parser.batching.distinct import FormTable, Integers
from treecrf.parser.batching.pieces import PieceTable
from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.parser.vocab import ROOT, UNKNOWN, Vocabulary
from treecrf.treebank import Sentence

__all__ = ["Annotation", "EncodedSentences", "check_tags", "encode", "encode_annotation"]


# Characters of a word that a model looks at. More are no word of a language, and normalising a long
# run of combining marks takes time with the square of it.
_LONGEST_READ = 512


@dataclass(frozen=True, slots=True)
class EncodedSentences:
    """Sentences one after the other, each with the root symbol before its first word.

    What depends on the form alone is in the table of what the model reads: forms or their pieces.
    """

    starts: Integers  # [sentence], where its root symbol is among the tokens
    lengths: Integers  # [sentence], in words
    forms: Integers  # [token], the number of its form
    tags: Integers | None  # [token]
    form_table: FormTable | None
    piece_table: PieceTable | None

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True, slots=True)
class Annotation:
    """What is to be learnt of encoded sentences, by token; -1 is what is not annotated."""

    heads: Integers  # 0 for the root symbol
    relations: Integers  # -1 for the root symbol and for relations never seen
    upos: Integers | None  # of a model that gives tags
    siblings: Integers | None  # of the second order: the adjacent sibling, 0 for none


def check_tags(sentences: Sequence[Sentence], config: Config) -> None:
    """An error where a model reads tags and no word has one: the tree would be worth nothing."""
    if config.tags == "none":
        return
    for sentence in sentences:
        if set(sentence.column(config.tags)) == {"_"}:
            raise ParserError(
                f"{sentence.where}: the model reads tags ({config.tags}), and there are none: tag "
                "the words first, or take a model that reads words alone"
            )


def encode(
    sentences: Sequence[Sentence], vocabulary: Vocabulary, config: Config
) -> EncodedSentences:
    """The words of sentences as numbers."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    starts = np.cumsum(lengths + 1) - (lengths + 1)
    numbering = _Numbering({None: 0})  # the root symbol, which no string is
    number = numbering.__getitem__
    forms = np.fromiter(
        map(number, chain.from_iterable((None, *sentence.forms) for sentence in sentences)),
        np.int64,
        int((lengths + 1).sum()),
    )
    distinct = [_as_read(form or "") for form in numbering]
    tags = None
    if config.tags != "none":
        known = vocabulary.tag_numbers
        columns = (sentence.column(config.tags) for sentence in sentences)
        tags = _numbers(columns, known, root=ROOT, unknown=UNKNOWN)
    form_table = piece_table = None
    if vocabulary.pieces is None:
        form_table = FormTable.of(
            distinct, vocabulary, lowercase=config.lowercase, max_chars=config.max_chars
        )
    else:
        pieces = vocabulary.pieces
        piece_table = PieceTable.of(
            [pieces.cut(form) for form in distinct],
            start=pieces.start,
            end=pieces.end,
            longest=pieces.longest,
        )
    return EncodedSentences(starts, lengths, forms, tags, form_table, piece_table)


def _as_read(form: str) -> str:
    """A form as models read it: a longer one by its first and last characters."""
    half = _LONGEST_READ // 2
    return form if len(form) <= _LONGEST_READ else form[:half] + form[-half:]


def encode_annotation(
    sentences: Sequence[Sentence], vocabulary: Vocabulary, config: Config
) -> Annotation:
    """Heads, relations and, where the model gives them, tags of sentences as numbers."""
    heads = np.fromiter(
        chain.from_iterable((0, *sentence.heads) for sentence in sentences), np.int64
    )
    deprels = (sentence.deprels for sentence in sentences)
    relations = _numbers(deprels, vocabulary.relation_numbers, root=-1, unknown=-1)
    relations[heads < 0] = -1
    upos = None
    if config.predict_upos:
        columns = (sentence.column("upos") for sentence in sentences)
        upos = _numbers(columns, vocabulary.upos_numbers, root=-1, unknown=-1)
    siblings = None
    if config.loss == "crf2o":
        siblings = _adjacent_siblings(heads, np.fromiter(map(len, sentences), np.int64))
        if not config.multiroot:  # then the root symbol has no two children
            siblings[heads == 0] = 0
    return Annotation(heads, relations, upos, siblings)


def _adjacent_siblings(heads: Integers, lengths: Integers) -> Integers:
    """Of each token the nearest child of its head that lies between the two; 0 for none."""
    sentence = np.repeat(np.arange(len(lengths)), lengths + 1)
    starts = np.cumsum(lengths + 1) - (lengths + 1)
    dependent = np.arange(len(heads)) - starts[sentence]
    distance = dependent - heads
    # Children by sentence, head and side, the nearest first: each is the next one's sibling.
    order = np.lexsort((np.abs(distance), distance > 0, heads, sentence))
    order = order[(dependent[order] > 0) & (heads[order] >= 0)]
    nearer, farther = order[:-1], order[1:]
    together = (
        (sentence[nearer] == sentence[farther])
        & (heads[nearer] == heads[farther])
        & ((distance[nearer] > 0) == (distance[farther] > 0))
    )
    siblings = np.zeros_like(heads)
    siblings[farther[together]] = dependent[nearer[together]]
    return siblings


def _numbers(
    columns: Iterable[Sequence[str]], known: dict[str, int], *, root: int, unknown: int
) -> Integers:
    """The numbers of items, sentence by sentence, each after that of the root symbol."""

    def each() -> Iterator[int]:
        for column in columns:
            yield root
            for item in column:
                yield known.get(item, unknown)

    return np.fromiter(each(), np.int64)


class _Numbering(dict[str | None, int]):
    """Gives each new key the next number."""

    def __missing__(self, key: str | None) -> int:
        number = self[key] = len(self)
        return number
