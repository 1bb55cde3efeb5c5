"""Pieces of whole sentences give what the text as a whole gives."""

from hypothesis import given
from hypothesis import strategies as st

from tests.segment.texts import untrained
from treecrf.segment import Segmenter
from treecrf.segment.scored import assemble, cut_scored

SEGMENTERS = [untrained(seed=seed) for seed in range(3)]
TEXTS = st.text("ab c.\n\t\u00a0\ufeffé'", min_size=100, max_size=400)


@given(text=TEXTS, which=st.sampled_from(SEGMENTERS), size=st.integers(101, 300))
def test_pieces_give_the_sentences_of_the_whole(text: str, which: Segmenter, size: int) -> None:
    scored = list(cut_scored(which.score_stream([text]), joins=which.joins, size=size))
    assert "".join(piece.block.text for piece in scored) == text
    found = [
        sentence
        for piece in scored
        for sentence in assemble(piece, splitter=which.splitter, joins=which.joins)
    ]
    assert found == which.segment(text)


def test_a_text_is_cut() -> None:
    segmenter = untrained(bias=(0.0, 3.0, 0.0))
    text = "ab cab. abc é, cca.\n\n" * 200
    scored = list(cut_scored(segmenter.score_stream([text]), joins=segmenter.joins, size=50))
    assert len(scored) > 5
    assert [piece.new_text for piece in scored] == [True] + [False] * (len(scored) - 1)
    assert any(piece.new_paragraph for piece in scored[1:])


def test_where_no_sentence_ends_it_is_cut_anywhere() -> None:
    never = untrained(bias=(0.0, -1000.0, 0.0))
    scored = list(cut_scored(never.score_stream(["abc " * 1000]), joins=never.joins, size=50))
    assert len(scored) > 5
    assert max(len(piece.block.text) for piece in scored) < 5 * 50 + 32 * 10
