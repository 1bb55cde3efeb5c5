"""A worker process: turns text into numbers and trees into text; loads no torch."""

import os
import pickle
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from treecrf.parser.batching.encoding import EncodedSentences, check_tags, encode_words
from treecrf.parser.batching.words import SentenceTable, WordTable
from treecrf.parser.columns.columns import Columns
from treecrf.parser.columns.reading import read_columns
from treecrf.parser.columns.text import text_columns
from treecrf.parser.columns.writing import write_columns
from treecrf.parser.config import Config
from treecrf.parser.constraints import NO_CONSTRAINTS, Constraints, constraints_from
from treecrf.parser.decoding.sentences import TreeNamer
from treecrf.parser.decoding.trees import Trees
from treecrf.parser.errors import ParserError
from treecrf.parser.estimates import LONG
from treecrf.parser.files.language import is_foreign
from treecrf.parser.files.scored import ScoredText, assemble
from treecrf.parser.files.sources import moved
from treecrf.parser.vocab import Vocabulary
from treecrf.segment.assembly import CutText
from treecrf.segment.characters import Joins
from treecrf.segment.multiwords import Splitter
from treecrf.treebank import Sentence, TreebankError
from treecrf.treebank.files.conllu import ConlluReader
from treecrf.treebank.files.text import Input, SentenceIds, parse_input

__all__ = ["Decoded", "FileJob", "Numbers", "Piece", "serve"]


@dataclass(frozen=True, slots=True)
class FileJob:
    """The file that the pieces are of, and the model."""

    vocabulary: Vocabulary
    config: Config
    name: str  # of the file, for messages
    kind: Input
    keep_heads: bool
    write_probs: bool
    cutting: tuple[Splitter, Joins] | None = None  # for raw text


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole sentences of a file."""

    line: int  # where it starts
    data: bytes


@dataclass(frozen=True, slots=True)
class Numbers:
    """The encoded sentences of a piece."""

    encoded: EncodedSentences
    constraints: Sequence[Constraints]
    places: Sequence[str]  # names of the sentences, if an error might need them
    foreign: bool  # whether they are not in the language of the model


@dataclass(frozen=True, slots=True)
class Decoded:
    """The trees of a piece, and how many sentences are before it."""

    trees: Trees
    before: int


def serve() -> None:
    """Answer pieces with numbers, and trees with text, until the input ends."""
    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # anything printed, even by compiled code, goes to standard error
    with suppress(EOFError, OSError, pickle.UnpicklingError):  # the other process has ended
        worker = _Worker(pickle.load(source))
        while True:
            pickle.dump(worker.answer(*pickle.load(source)), target, pickle.HIGHEST_PROTOCOL)
            target.flush()
    os._exit(0)  # flushing a closed pipe at exit would be an error


class _Worker:
    """Keep the sentences of each piece until their trees come."""

    def __init__(self, job: FileJob) -> None:
        self.job = job
        self.namer = TreeNamer(job.vocabulary, job.config)
        # The columns of a piece, given how many sentences are before it.
        self.waiting: dict[int, tuple[Callable[[int], Columns], list[Constraints]]] = {}

    def answer(self, number: int, message: Piece | ScoredText | Decoded) -> object:
        try:
            if isinstance(message, Decoded):
                return self.write(number, message)
            return self.read(number, message)
        except (TreebankError, ParserError) as error:
            return error

    def read(self, number: int, piece: Piece | ScoredText) -> Numbers:
        job = self.job
        words: WordTable
        constraints: list[Constraints] = []
        if isinstance(piece, ScoredText):
            assert job.cutting is not None
            splitter, joins = job.cutting
            cuts = list(assemble(piece, splitter=splitter, joins=joins))
            columns = partial(_columns_of_text, cuts, splitter)
            words = columns(0)
        elif job.kind == "conllu" and not job.keep_heads:
            reader = ConlluReader(job.name, trees=False, seen=piece.line > 1)
            words = found = Columns.joined([*read_columns(reader, piece.data, line=piece.line)])
            columns = partial(_same, found)
        else:
            sentences = self._parse(piece)
            words = SentenceTable(sentences)
            columns = partial(_columns_of_sentences, sentences, ids=job.kind != "conllu")
            if job.keep_heads:
                constraints = [constraints_from(sentence) for sentence in sentences]
        count = len(words.lengths)
        constraints = constraints or [NO_CONSTRAINTS] * count
        self.waiting[number] = columns, constraints
        check_tags(words, job.config)
        encoded = encode_words(words, job.vocabulary, job.config)
        named = any(constraints) or words.lengths.max(initial=0) > LONG
        places = [words.sentence(row).where for row in range(count)] if named else []
        return Numbers(encoded, constraints, places, is_foreign(words, job.config.language))

    def _parse(self, piece: Piece) -> list[Sentence]:
        job = self.job
        chunks = iter([piece.data] if piece.data else [])
        found = parse_input(chunks, job.name, kind=job.kind, multiroot=True, trees=job.keep_heads)
        return list(moved(found, piece.line - 1))

    def write(self, number: int, decoded: Decoded) -> bytes:
        columns, constraints = self.waiting.pop(number)
        return write_columns(
            self.namer,
            columns(decoded.before),
            constraints,
            decoded.trees,
            write_probs=self.job.write_probs,
        )


def _columns_of_text(cuts: list[CutText], splitter: Splitter, before: int) -> Columns:
    return Columns.joined([*text_columns(cuts, splitter, before=before)])


def _columns_of_sentences(sentences: list[Sentence], before: int, *, ids: bool) -> Columns:
    return Columns.of([*map(SentenceIds(before).give, sentences)] if ids else sentences)


def _same(columns: Columns, before: int) -> Columns:
    return columns
