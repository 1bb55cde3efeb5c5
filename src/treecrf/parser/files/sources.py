"""Input files of any kind, and the trees of their sentences."""

import io
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol, cast

from treecrf.parser.choices import Decoder, InputKind
from treecrf.parser.decoding.sentences import RANK
from treecrf.parser.errors import ParserError
from treecrf.parser.files.language import LanguageCheck
from treecrf.parser.files.live import More, more_of, paragraphs, parts, whole_lines
from treecrf.parser.files.pipeline import windows
from treecrf.segment.assembly import join_sentences
from treecrf.treebank import Sentence, TreebankError
from treecrf.treebank.document import Document, newdoc_comment
from treecrf.treebank.files.documents import document_file, read_documents
from treecrf.treebank.files.streams import File, open_source, read_chunks
from treecrf.treebank.files.text import (
    SentenceIds,
    look_at,
    parse_input,
    read_tokens,
    text_pieces,
)
from treecrf.treebank.probs import with_written_probs
from treecrf.treebank.tokens import surfaces

if TYPE_CHECKING:
    from treecrf.parser.api import Parser
    from treecrf.segment.segmenter import Segmenter

__all__ = [
    "FileOptions",
    "Opened",
    "check_has_heads",
    "look_into",
    "moved",
    "open_input",
    "parse_file",
    "parts_of",
    "read_input",
    "read_parts",
    "tag_file",
]


class HasSegmenter(Protocol):
    """Object with a segmenter: a parser, or the segmenter alone."""

    @property
    def language(self) -> str: ...

    @property
    def has_segmenter(self) -> bool: ...

    @property
    def segmenter(self) -> "Segmenter": ...


@dataclass(frozen=True, slots=True)
class FileOptions:
    """Options for parsing a file."""

    input: InputKind = "auto"
    text_column: str = "text"  # of documents in JSON lines or Parquet
    decoder: Decoder | None = None
    keep_heads: bool = False
    topk: int | None = None
    probs: bool = False  # whether sentences have probabilities
    write_probs: bool = False  # whether CoNLL-U has them
    raw: bool = False  # whether CoNLL-U is refused, as nothing is to be cut there


def parse_file(parser: "Parser", source: File, options: FileOptions) -> Iterator[Sentence]:
    """Parse the sentences of a file, in order; memory stays bounded."""
    for sentences in read_parts(parser, source, options, trees=options.keep_heads):
        parsed: Iterable[Sentence]
        if options.topk is not None:
            parsed = _ranked(parser, sentences, options.topk, keep_heads=options.keep_heads)
        else:
            parsed = parser.parse_stream(
                sentences,
                keep_heads=options.keep_heads,
                decoder=options.decoder,
                probs=options.probs or options.write_probs,
            )
        yield from map(with_written_probs, parsed) if options.write_probs else parsed


def tag_file(parser: "Parser", source: File, options: FileOptions) -> Iterator[Sentence]:
    """The sentences of a file with the columns that the model predicts; their heads stay."""
    for sentences in read_parts(parser, source, options):
        given: deque[Sentence] = deque()
        for parsed in parser.parse_stream(_noted(sentences, given), probs=False):
            columns = {str(name): parsed.column(name) for name in parser.config.predict}
            yield given.popleft().with_columns(columns)


def _noted(sentences: Iterable[Sentence], given: "deque[Sentence]") -> Iterator[Sentence]:
    for sentence in sentences:
        given.append(sentence)
        yield sentence


def read_parts(
    parser: HasSegmenter, source: File, options: FileOptions, *, trees: bool = True
) -> Iterator[Iterable[Sentence]]:
    """The sentences of a file; of a pipe, those that are complete each time that it pauses.

    Those of a text have ids. A warning tells of text that is not in the language of the model.
    """
    with open_input(parser, source, options) as opened:
        more = None if opened.kind == "parquet" else more_of(source)
        yield from parts_of(parser, opened, options, trees=trees, more=more)


def parts_of(
    parser: HasSegmenter,
    opened: "Opened",
    options: FileOptions,
    *,
    trees: bool,
    more: More | None = None,
) -> Iterator[Iterable[Sentence]]:
    """The sentences of an open file; see `read_parts`. `more` tells of a pipe whether it pauses."""
    stream, name, kind = opened
    ids, check = SentenceIds(), LanguageCheck(parser.language)
    if kind == "lines":
        groups = whole_lines(text_pieces(stream, name), name, more or (lambda: True))
        found: Iterable[Iterable[Sentence]] = _sentences_of_lines(parser, groups, name)
    elif more is None:
        found = [_read(parser, opened, options, trees=trees)]
    elif kind == "text":
        found = _live_text(parser, text_pieces(stream, name), more)
    else:

        def read(data: bytes, lines: int) -> Iterator[Sentence]:
            part = Opened(_part(data, name), name, kind)
            return _read(parser, part, options, trees=trees, before=lines)

        chunks = parts(cast(IO[bytes], stream), name, blocks=kind == "conllu", more=more)
        found = (moved(read(data, lines), lines) for lines, data in chunks)
    for sentences in found:
        seen = check.watch(sentences)
        yield seen if kind == "conllu" else map(ids.give, seen)
    check.finish()


def _live_text(
    parser: HasSegmenter, pieces: Iterable[str], more: More
) -> Iterator[Iterable[Sentence]]:
    """The sentences of each paragraph, which the segmenter reads by itself."""
    start = 0
    for found in paragraphs(pieces, more):
        if isinstance(found, list):
            starts = list(accumulate(map(len, found), initial=start))
            yield chain.from_iterable(parser.segmenter.segment_texts(found, starts=starts))
            start = starts[-1]
        else:
            yield parser.segmenter.segment_stream(found, start=start)


def _part(data: bytes, name: str) -> io.BytesIO:
    part = io.BytesIO(data)
    part.name = name
    return part


def moved(sentences: Iterable[Sentence], lines: int) -> Iterator[Sentence]:
    """The sentences of a part of a file, which has so many lines before it."""
    try:
        for sentence in sentences:
            sentence.line += lines if sentence.line else 0
            yield sentence
    except TreebankError as error:
        line = error.line and error.line + lines
        raise TreebankError(error.problem, source=error.source, line=line) from None


def read_input(
    parser: HasSegmenter, source: File, options: FileOptions, *, trees: bool = True
) -> Iterator[Sentence]:
    """Read the sentences of a file; raw text is segmented. `trees`: whether heads must be trees."""
    with open_input(parser, source, options) as opened:
        yield from _read(parser, opened, options, trees=trees)


class Opened(NamedTuple):
    """A file to read from, its name and its kind."""

    stream: IO[bytes] | IO[str]
    name: str
    kind: InputKind


@contextmanager
def open_input(parser: HasSegmenter, source: File, options: FileOptions) -> Iterator[Opened]:
    """Open a file and find out its kind."""
    kind = options.input
    if kind == "auto" and isinstance(source, str):
        kind = document_file(source) or kind
    with open_source(source) as (stream, name):
        kind, stream = look_into(parser, stream, name, kind=kind)
        check_has_heads(kind, name, keep_heads=options.keep_heads)
        if options.raw and kind == "conllu":
            advice = "`treecrf data convert --to text` makes text of it"
            raise ParserError(f"{name}: this is CoNLL-U, which has its words already; {advice}")
        yield Opened(stream, name, kind)


def _read(
    parser: HasSegmenter, opened: Opened, options: FileOptions, *, trees: bool, before: int = 0
) -> Iterator[Sentence]:
    """The sentences of a file, or of a part of it that has so many lines before it."""
    stream, name, kind = opened
    if kind == "jsonl" or kind == "parquet":
        documents = read_documents(stream, kind=kind, column=options.text_column, before=before)
        yield from _sentences_of(parser, documents)
    elif kind == "conllu" or kind == "tokens":
        yield from parse_input(read_chunks(stream), name, kind=kind, multiroot=True, trees=trees)
    else:
        yield from parser.segmenter.segment_stream(text_pieces(stream, name))


def look_into(
    parser: HasSegmenter, stream: IO[bytes] | IO[str], name: str, *, kind: InputKind
) -> tuple[InputKind, IO[bytes] | IO[str]]:
    """The kind of an open file, and the file from its start.

    With "auto", a file that is not CoNLL-U is raw text if the model has a segmenter, else words.
    """
    if kind != "auto":
        return kind, stream
    found, stream = look_at(stream, name)
    return ("text" if found == "tokens" and parser.has_segmenter else found), stream


def check_has_heads(kind: InputKind, name: str, *, keep_heads: bool) -> None:
    """Raise an error if heads are to be kept and this kind of file has none."""
    if keep_heads and kind != "conllu":
        raise ParserError(f"{name}: --keep-heads is for CoNLL-U, and this is none: it has no heads")


def _sentences_of_lines(
    parser: HasSegmenter, groups: Iterable[list[str]], name: str
) -> Iterator[list[Sentence]]:
    """A sentence a line of raw text; empty lines are left out, and end a paragraph."""
    start = 0
    number = 0
    new_paragraph = True
    for lines in groups:
        sentences = []
        for line, found in zip(lines, parser.segmenter.segment_texts(lines), strict=True):
            number += 1
            if found:
                sentence = join_sentences(found, start=start, new_paragraph=new_paragraph)
                sentence.source, sentence.line = name, number
                sentences.append(sentence)
            new_paragraph = not found
            start += len(line)
        yield sentences


def _sentences_of(parser: HasSegmenter, documents: Iterable[Document]) -> Iterator[Sentence]:
    """The sentences of documents; a comment marks the first of each document."""
    # Windows are bounded in words: four characters count as one.
    for together in windows(documents, size=lambda document: len(document.text) // 4):
        if parser.has_segmenter:
            cut = parser.segmenter.segment_texts([document.text for document in together])
        else:  # a sentence a line, as in a file of words
            cut = [list(read_tokens(io.StringIO(document.text))) for document in together]
        for document, sentences in zip(together, cut, strict=True):
            if sentences:
                sentences[0].comments.insert(0, newdoc_comment(document.id))
                _end_document(sentences[-1])
            yield from sentences


def _end_document(sentence: Sentence) -> None:
    """Say no more that no space follows: in Universal Dependencies, none joins documents."""
    if sentence.misc_may_have("SpaceAfter=No"):
        *_, last = surfaces(sentence.tokens, sentence.multiwords)
        entries = [entry for entry in last.misc.split("|") if entry != "SpaceAfter=No"]
        last.misc = "|".join(entries) or "_"


def _ranked(
    parser: "Parser", sentences: Iterable[Sentence], k: int, *, keep_heads: bool
) -> Iterator[Sentence]:
    for trees in parser.parse_best(sentences, k, keep_heads=keep_heads):
        for rank, tree in enumerate(trees, 1):
            tree.comments.append(f"{RANK}{rank}")
            yield tree
