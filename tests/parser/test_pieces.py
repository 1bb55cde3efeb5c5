"""Windows over the pieces of words: every piece is read, and each token gets its own states."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treecrf.parser.batching.batch import PieceInputs
from treecrf.parser.batching.distinct import pack, packed_places
from treecrf.parser.batching.pieces import PieceTable, cut_windows

START, END = 1, 2
FORMS = [[10], [11, 12], [13, 14, 15], [16], [17, 18, 19, 20, 21]]


def windows_of(sentences: list[list[int]], longest: int) -> tuple[PieceInputs, list[list[int]]]:
    """The windows over sentences of forms, and the pieces that each packed token must have."""
    sentences = sorted(sentences, key=len, reverse=True)
    lengths = np.array([len(sentence) for sentence in sentences])
    step, sentence, sizes = pack(lengths + 1)
    places = packed_places(sizes)
    forms = np.array([sentences[b][t - 1] if t else 0 for b, t in zip(sentence, step, strict=True)])
    table = PieceTable.of(FORMS, start=START, end=END, longest=longest)
    cut = PieceInputs(**cut_windows(table, forms, places, lengths))
    return cut, [FORMS[form] if t else [START] for form, t in zip(forms, step, strict=True)]


@given(
    st.lists(st.lists(st.integers(0, len(FORMS) - 1), max_size=20), min_size=1, max_size=5),
    st.integers(4, 30),
)
def test_every_token_has_its_own_pieces(sentences: list[list[int]], longest: int) -> None:
    windows, expected = windows_of(sentences, longest)
    pieces = windows.windows.ravel()[windows.cells].tolist()
    found: list[list[int]] = [[] for _ in expected]
    for token, piece in zip(windows.token.tolist(), pieces, strict=True):
        found[token].append(piece)
    assert found == expected
    assert windows.windows.shape[1] <= longest
    for row, length in zip(windows.windows, windows.lengths, strict=True):
        assert (row[0], row[length - 1]) == (START, END)
        assert not row[length:].any()
        assert (row[1 : length - 1] > END).all()


def test_a_sentence_that_fits_is_one_window() -> None:
    windows, _ = windows_of([[0, 1, 2], [3]], 8)
    assert windows.windows.tolist() == [
        [START, 10, 11, 12, 13, 14, 15, END],
        [START, 16, END, 0, 0, 0, 0, 0],
    ]


def test_pieces_of_a_long_sentence_are_taken_where_they_are_central() -> None:
    windows, _ = windows_of([[0] * 12], 10)
    assert windows.lengths.tolist() == [10, 10]  # pieces 0 to 7 and 4 to 11
    window, place = np.divmod(windows.cells[1:], windows.windows.shape[1])
    assert window.tolist() == [0] * 6 + [1] * 6
    assert place.tolist() == [*range(1, 7), *range(3, 9)]
