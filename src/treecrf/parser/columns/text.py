"""Columns of raw text that was cut into sentences and words."""

from collections.abc import Iterable, Iterator

import numpy as np

from treecrf.parser.columns.columns import Columns, as_strings
from treecrf.parser.columns.kernels import LINE
from treecrf.parser.columns.text_kernels import write_cut
from treecrf.segment.assembly import CutText
from treecrf.segment.characters import codes_of
from treecrf.segment.multiwords import Splitter

__all__ = ["text_columns"]

_BYTES_A_TOKEN = 160  # of what is around its form, at most
_BYTES_A_WORD = 48
_BYTES_A_SENTENCE = 64
_BYTES_A_CHARACTER = 8  # a form stands in the text as well


def text_columns(
    cuts: Iterable[CutText], splitter: Splitter, *, before: int = 0
) -> Iterator[Columns]:
    """The sentences of each part of a text, numbered after those `before`.

    `sentences_of` and `SentenceIds` give the same.
    """
    for cut in cuts:
        if cut.ends:
            yield _columns(cut, splitter, before=before)
            before += len(cut.ends)


def _columns(cut: CutText, splitter: Splitter, *, before: int) -> Columns:
    words: list[str] = []
    counts = np.zeros(len(cut.stops), np.int64)  # of words, of a token that has several
    for token in np.flatnonzero(cut.multiwords).tolist():
        parts = splitter.split(cut.text[cut.starts[token] : cut.stops[token]])
        if len(parts) > 1:
            words += parts
            counts[token] = len(parts)
    split = as_strings(words)
    size = _BYTES_A_CHARACTER * len(cut.text) + _BYTES_A_TOKEN * len(cut.stops) + len(split[0])
    size += _BYTES_A_WORD * len(words) + _BYTES_A_SENTENCE * len(cut.ends)
    target = np.empty(size, np.uint8)
    end = write_cut(
        codes_of(cut.text),
        cut.starts,
        cut.stops,
        cut.places,
        counts,
        split,
        np.array([0, *cut.ends]),
        np.array(cut.new_paragraphs, np.bool_),
        before,
        cut.new_text,
        target,
    )
    columns = Columns.find(target[:end].tobytes(), "", line=1, known=True)
    assert len(columns) == len(cut.ends), "a sentence that cannot be read again"
    columns.bounds[:-1, LINE] = 0  # they are at no line of a file
    return columns
