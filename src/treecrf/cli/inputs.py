"""What commands read sentences from: CoNLL-U, words with spaces between, or raw text."""

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from treecrf.parser import Parser
    from treecrf.treebank import Sentence

__all__ = ["InputKind", "input_sentences"]

InputKind: TypeAlias = Literal["auto", "conllu", "tokens", "text"]


def input_sentences(
    parser: "Parser", file: str | None, text: str | None, *, input: InputKind
) -> "Iterator[Sentence]":
    """The sentences of a file or text of this kind, cut into words where it is raw text."""
    from io import BytesIO

    from treecrf.treebank.files import open_source, read_chunks
    from treecrf.treebank.plain import look_at, parse_input, text_pieces

    source: Any = file if text is None else BytesIO(text.encode())
    with open_source(source) as (stream, name):
        kind = input
        if kind == "auto":
            kind, stream = look_at(cast(IO[bytes], stream), name)
            if kind == "tokens" and parser.has_segmenter:
                kind = "text"
        if kind == "text":
            pieces = text_pieces(cast(IO[bytes], stream), name)
            yield from parser.segmenter.segment_stream(pieces)
        else:
            yield from parse_input(read_chunks(stream), name, kind=kind, multiroot=True)
