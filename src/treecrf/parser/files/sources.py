"""Input files of any kind, and the trees of their sentences."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import IO, TYPE_CHECKING, cast

from treecrf.parser.choices import Decoder, InputKind
from treecrf.parser.decoding.sentences import RANK
from treecrf.parser.errors import ParserError
from treecrf.parser.files.pipeline import windows
from treecrf.treebank import Sentence
from treecrf.treebank.files.documents import Document, document_file, read_documents
from treecrf.treebank.files.streams import File, open_source, read_chunks
from treecrf.treebank.files.text import look_at, parse_input, read_tokens, text_pieces
from treecrf.treebank.probs import with_written_probs

if TYPE_CHECKING:
    from treecrf.parser.api import Parser

__all__ = ["FileOptions", "check_has_heads", "look_into", "parse_file", "read_input"]


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


def parse_file(parser: "Parser", source: File, options: FileOptions) -> Iterator[Sentence]:
    """Parse the sentences of a file, in order; memory stays bounded."""
    sentences = read_input(parser, source, options, trees=options.keep_heads)
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


def read_input(
    parser: "Parser", source: File, options: FileOptions, *, trees: bool = True
) -> Iterator[Sentence]:
    """Read the sentences of a file; raw text is segmented. `trees`: whether heads must be trees."""
    kind = options.input
    if kind == "auto" and isinstance(source, str):
        kind = document_file(source) or kind
    if kind in ("jsonl", "parquet"):
        check_has_heads(kind, str(source), keep_heads=options.keep_heads)
        documents = read_documents(source, kind=kind, column=options.text_column)
        yield from _sentences_of(parser, documents)
        return
    with open_source(source) as (stream, name):
        kind, stream = look_into(parser, stream, name, kind=kind)
        check_has_heads(kind, name, keep_heads=options.keep_heads)
        if kind == "conllu" or kind == "tokens":
            yield from parse_input(
                read_chunks(stream), name, kind=kind, multiroot=True, trees=trees
            )
        else:
            yield from parser.segmenter.segment_stream(text_pieces(stream, name))


def look_into(
    parser: "Parser", stream: IO[bytes] | IO[str], name: str, *, kind: InputKind
) -> tuple[InputKind, IO[bytes] | IO[str]]:
    """The kind of an open file, and the file from its start.

    With "auto", a file that is not CoNLL-U is raw text if the model has a segmenter, else words.
    """
    if kind != "auto":
        return kind, stream
    found, stream = look_at(cast(IO[bytes], stream), name)
    return ("text" if found == "tokens" and parser.has_segmenter else found), stream


def check_has_heads(kind: InputKind, name: str, *, keep_heads: bool) -> None:
    """Raise an error if heads are to be kept and this kind of file has none."""
    if keep_heads and kind != "conllu":
        raise ParserError(f"{name}: --keep-heads is for CoNLL-U, and this is none: it has no heads")


def _sentences_of(parser: "Parser", documents: Iterable[Document]) -> Iterator[Sentence]:
    """The sentences of documents; a comment marks the first of each document."""
    # Windows are bounded in words: four characters count as one.
    for together in windows(documents, size=lambda document: len(document.text) // 4):
        if parser.has_segmenter:
            cut = parser.segmenter.segment_texts([document.text for document in together])
        else:  # a sentence a line, as in a file of words
            cut = [list(read_tokens(StringIO(document.text))) for document in together]
        for document, sentences in zip(together, cut, strict=True):
            if sentences:
                sentences[0].comments.insert(0, document.comment)
            yield from sentences


def _ranked(
    parser: "Parser", sentences: Iterable[Sentence], k: int, *, keep_heads: bool
) -> Iterator[Sentence]:
    for trees in parser.parse_best(sentences, k, keep_heads=keep_heads):
        for rank, tree in enumerate(trees, 1):
            tree.comments.append(f"{RANK}{rank}")
            yield tree
