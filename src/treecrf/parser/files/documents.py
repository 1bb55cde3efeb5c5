"""Many texts parsed together: a document for each."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from numbers import Integral
from typing import TYPE_CHECKING, Any

from treecrf.parser.arguments import check_text
from treecrf.parser.errors import ParserError
from treecrf.parser.files.language import LanguageCheck
from treecrf.parser.files.pipeline import pipelined, windows
from treecrf.treebank.document import Document

if TYPE_CHECKING:
    from treecrf.parser.api import Parser

__all__ = ["parse_documents"]

Pair = tuple[Document, Any]
"""A document and its context, which is given back with it."""


def parse_documents(
    parser: "Parser", texts: Iterable[Any], *, as_tuples: bool, batch_size: int | None, probs: bool
) -> Iterator[Pair]:
    """Parse texts, or pairs of a text and its context; see `Parser.pipe`."""
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise ParserError("`pipe` takes a list or another iterable of texts; `parse` takes one")
    if batch_size is not None and (not isinstance(batch_size, Integral) or batch_size < 1):
        raise ParserError(f"batch_size is {batch_size!r:.60}; it is a number of texts, at least 1")
    pairs = map(_with_context, texts) if as_tuples else ((_blank(text), None) for text in texts)
    segmenter = parser.segmenter

    def cut() -> Iterator[list[Pair]]:
        # Windows are bounded in words: four characters count as one.
        for window in windows(pairs, size=lambda pair: len(pair[0].text) // 4, most=batch_size):
            cut = segmenter.segment_texts([document.text for document, _ in window])
            for (document, _), sentences in zip(window, cut, strict=True):
                document[:] = LanguageCheck(parser.language).watch_all(sentences)
            yield window

    def work(window: list[Pair]) -> list[Pair]:
        sentences = chain.from_iterable(document for document, _ in window)
        parsed = iter(parser.parse_tokens(sentences, probs=probs))
        for document, _ in window:
            document[:] = islice(parsed, len(document))
        return window

    return chain.from_iterable(pipelined(cut(), work))


def _blank(text: Any, id: str | None = None, meta: Mapping[str, Any] | None = None) -> Document:
    if isinstance(text, tuple):
        raise ParserError("a text is a string, and not a tuple; pairs need `as_tuples=True`")
    check_text(text)
    return Document(text=text, id=id, meta=meta)


def _with_context(pair: Any) -> Pair:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ParserError(f"with as_tuples, give pairs (text, context), and not {pair!r:.60}")
    text, context = pair
    meta = context if isinstance(context, Mapping) else {}
    id = meta.get("id") if isinstance(context, Mapping) else context
    return _blank(text, str(id) if isinstance(id, (str, int)) else None, meta), context
