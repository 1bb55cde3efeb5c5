"""Data frames have what sentences have, whichever library makes them."""

from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import treecrf
from treecrf import Sentence
from treecrf.treebank import read_conllu
from treecrf.treebank.tokens import COLUMNS

GOLDEN = Path(__file__).parent.parent / "treebank" / "data" / "golden.conllu"
PARTIAL = Sentence(["I", "saw", "her"], [2, -1, 2], deprels=["nsubj", "_", "obj"])
PARSED = Sentence(
    ["It", "rained"],
    [2, 0],
    deprels=["expl", "root"],
    comments=["# sent_id = b"],
    probs=[0.75, 1.0],
)


def rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame of either library, None for what is missing."""
    if isinstance(frame, polars.DataFrame):
        return frame.to_dicts()
    return [
        {key: None if pandas.isna(value) else value for key, value in row.items()}
        for row in frame.to_dict("records")
    ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_has_one_row_a_word(library: Any) -> None:
    frame = treecrf.to_frame([PARTIAL, PARSED], library=library)
    assert type(frame).__module__.partition(".")[0] == library
    assert list(frame.columns) == ["sentence", "sent_id", *COLUMNS, "prob"]
    found = rows(frame)
    assert [row["sentence"] for row in found] == [1, 1, 1, 2, 2]
    assert [row["sent_id"] for row in found] == [None] * 3 + ["b"] * 2
    assert [row["id"] for row in found] == [1, 2, 3, 1, 2]
    assert [row["form"] for row in found] == ["I", "saw", "her", "It", "rained"]
    assert [row["head"] for row in found] == [2, None, 2, 2, 0]
    assert [row["deprel"] for row in found] == ["nsubj", "_", "obj", "expl", "root"]
    assert [row["prob"] for row in found] == [None] * 3 + [0.75, 1.0]
    assert {row["lemma"] for row in found} == {"_"}
    assert rows(treecrf.to_frame(PARSED, library=library)) == [
        row | {"sentence": 1} for row in found[3:]
    ]


@pytest.mark.parametrize("doc", ["It rained", ["It rained"], [PARSED, None]])
def test_what_is_no_sentence_is_named(doc: Any) -> None:
    with pytest.raises(TypeError, match=r"a frame is of sentences, .* not of ('I|None)"):
        treecrf.to_frame(doc)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_no_sentence_is_an_empty_frame_of_the_same_kinds(library: Any) -> None:
    frame, full = (treecrf.to_frame(doc, library=library) for doc in ([], [PARSED]))
    assert len(frame) == 0
    assert list(frame.columns) == list(full.columns)
    assert [frame[name].dtype for name in ("id", "head", "prob")] == [
        full[name].dtype for name in ("id", "head", "prob")
    ]


def test_the_rows_of_a_treebank_are_its_words() -> None:
    sentences = list(read_conllu(GOLDEN))
    frame = treecrf.to_frame(sentences)
    assert isinstance(frame, pandas.DataFrame)
    assert frame["form"].tolist() == [form for s in sentences for form in s.forms]
    assert frame["upos"].tolist() == [tag for s in sentences for tag in s.column("upos")]


def test_another_library_is_refused() -> None:
    with pytest.raises(ValueError, match=r"pandas and of polars, not of 'arrow'"):
        treecrf.to_frame([], library="arrow")  # type: ignore[arg-type]
