"""From CoNLL-U or raw text to CoNLL-U in one process, without an object a word."""

from collections.abc import Iterable, Iterator
from itertools import chain

from treecrf.parser.api import Parser
from treecrf.parser.columns.columns import Columns
from treecrf.parser.columns.reading import column_windows, read_columns, whole_blocks
from treecrf.parser.columns.text import text_columns
from treecrf.parser.columns.writing import write_columns
from treecrf.parser.constraints import NO_CONSTRAINTS, Constraints, constraints_from
from treecrf.parser.files.language import LanguageCheck
from treecrf.parser.files.pipeline import pipelined, windows
from treecrf.parser.files.sources import FileOptions, Opened, open_input, parts_of
from treecrf.segment.segmenter import Segmenter
from treecrf.treebank import Sentence
from treecrf.treebank.files.conllu import ConlluReader
from treecrf.treebank.files.streams import File, read_chunks
from treecrf.treebank.files.text import text_pieces

__all__ = ["parse_to_conllu"]

Window = tuple[Columns, list[Constraints]]

_PIECE = 1 << 18  # bytes of a file that are cut at once


def parse_to_conllu(parser: Parser, source: File, options: FileOptions) -> Iterator[bytes]:
    """Parse a file to pieces of CoNLL-U, in order; one tree a sentence. Memory stays bounded."""
    done = 0

    def work(window: Window) -> bytes:
        nonlocal done
        columns, constraints = window
        trees = parser.decode(
            columns,
            constraints,
            decoder=options.decoder,
            first=done + 1,
            probs=options.write_probs,
        )
        done += len(columns)
        return write_columns(
            parser.namer, columns, constraints, trees, write_probs=options.write_probs
        )

    with open_input(parser, source, options) as opened:
        if opened.kind == "conllu" and not options.keep_heads:
            found = _windows(parser, _read(opened))
        elif opened.kind == "text":
            found = _windows(parser, _cut(parser.segmenter, opened))
        else:  # lines and documents are cut one by one, or sentences are checked to have trees
            parts = parts_of(parser, opened, options, trees=options.keep_heads)
            found = chain.from_iterable(_of_sentences(part, options) for part in parts)
        yield from pipelined(found, work)


def _read(opened: Opened) -> Iterator[Columns]:
    """The sentences of a CoNLL-U file."""
    reader = ConlluReader(opened.name, trees=False)
    pieces = whole_blocks(read_chunks(opened.stream), opened.name, size=_PIECE)
    return chain.from_iterable(read_columns(reader, data, line=line) for line, data in pieces)


def _cut(segmenter: Segmenter, opened: Opened) -> Iterator[Columns]:
    """The sentences of a raw text."""
    cuts = segmenter.cut_stream(text_pieces(opened.stream, opened.name))
    return text_columns(cuts, segmenter.splitter)


def _windows(parser: Parser, parts: Iterable[Columns]) -> Iterator[Window]:
    """The windows of a file, with a warning if it is in another language."""
    check = LanguageCheck(parser.language)
    for columns in column_windows(parts):
        check.see(columns)
        yield columns, [NO_CONSTRAINTS] * len(columns)
    check.finish()


def _of_sentences(sentences: Iterable[Sentence], options: FileOptions) -> Iterator[Window]:
    for window in windows(sentences, size=len):
        keep = options.keep_heads
        constraints = [constraints_from(one) if keep else NO_CONSTRAINTS for one in window]
        yield Columns.of(window), constraints
