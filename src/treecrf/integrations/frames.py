"""Data frames of parsed sentences, one row a word, by pandas or polars."""

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

from treecrf.extras import MissingExtraError, needs_extra
from treecrf.treebank import Sentence
from treecrf.treebank.probs import head_probs
from treecrf.treebank.tokens import COLUMNS

__all__ = ["FrameLibrary", "to_frame"]

FrameLibrary: TypeAlias = Literal["auto", "pandas", "polars"]

_NUMBERS = ("sentence", "id", "head")


def to_frame(doc: Sentence | Iterable[Sentence], *, library: FrameLibrary = "auto") -> Any:
    """A data frame with one row a word, of one sentence or many.

    `sentence` counts from 1, `sent_id` is what a comment says or missing, the columns of CoNLL-U
    follow, and `prob` is how probable the head is. `head` and `prob` are missing where they are not
    known. "auto" takes pandas where it is installed, else polars.
    """
    columns = _columns([doc] if isinstance(doc, Sentence) else doc)
    if _chosen(library) == "pandas":
        with needs_extra("pandas", "this data frame"):
            import pandas
        kinds = dict.fromkeys(_NUMBERS, "Int64") | {"prob": "Float64"}
        return pandas.DataFrame(columns).astype(kinds)
    with needs_extra("polars", "this data frame"):
        import polars
    schema = dict.fromkeys(columns, polars.String) | dict.fromkeys(_NUMBERS, polars.Int64)
    return polars.DataFrame(columns, schema=schema | {"prob": polars.Float64})


def _chosen(library: FrameLibrary) -> FrameLibrary:
    if library not in ("auto", "pandas", "polars"):
        raise ValueError(f"there are frames of pandas and of polars, not of {library!r}")
    if library != "auto":
        return library
    for known in ("pandas", "polars"):
        if find_spec(known) is not None:
            return known
    hint = "pip install 'treecrf[pandas]' or 'treecrf[polars]'"
    raise MissingExtraError(f"a data frame needs pandas or polars: {hint}")


def _columns(sentences: Iterable[Sentence]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in ("sentence", "sent_id", *COLUMNS, "prob")}
    for number, sentence in enumerate(sentences, 1):
        if not isinstance(sentence, Sentence):
            known = "a frame is of sentences, such as a parser gives"
            raise TypeError(f"{known}, and not of {sentence!r:.60}")
        words = len(sentence)
        columns["sentence"] += [number] * words
        columns["sent_id"] += [sentence.sent_id] * words
        columns["id"] += range(1, words + 1)
        columns["head"] += [head if head >= 0 else None for head in sentence.heads]
        columns["prob"] += head_probs(sentence)
        for name in COLUMNS:
            if name not in _NUMBERS:
                columns[name] += sentence.column(name)
    return columns
