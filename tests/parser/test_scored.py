"""Pieces of a text give the sentences that the text as a whole gives, whatever it is."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.segment.texts import untrained
from treecrf.parser.files.scored import ScoredText, assemble, cut_scored
from treecrf.segment import Segmenter, rebuild_text
from treecrf.segment.assembly import sentences_of as sentences_of_cut
from treecrf.segment.boundaries import BOUNDS, Bounds
from treecrf.treebank import Sentence

SEGMENTERS = [untrained(seed=seed) for seed in range(3)]
NEVER = untrained(bias=(0.0, -1000.0, 0.0))
TEXTS = st.text("ab c.\n\t\u00a0\ufeffé'🇩", min_size=1, max_size=900)


def cut(segmenter: Segmenter, text: str, *, size: int, bounds: Bounds = BOUNDS) -> list[ScoredText]:
    blocks = segmenter.score_stream([text])
    return list(cut_scored(blocks, joins=segmenter.joins, size=size, bounds=bounds))


def sentences_of(
    segmenter: Segmenter, scored: list[ScoredText], *, bounds: Bounds = BOUNDS
) -> list[Sentence]:
    splitter, joins = segmenter.splitter, segmenter.joins
    return [
        sentence
        for piece in scored
        for cut in assemble(piece, splitter=splitter, joins=joins, bounds=bounds)
        for sentence in sentences_of_cut(cut, splitter)
    ]


@given(text=TEXTS, which=st.sampled_from([*SEGMENTERS, NEVER]), size=st.integers(10, 600))
@example(text="paper\n" * 150, which=NEVER, size=10)
@example(text=" " * 700 + "a" + "\n " * 400 + "b" + " " * 700, which=NEVER, size=10)
def test_pieces_give_the_sentences_of_the_whole(text: str, which: Segmenter, size: int) -> None:
    bounds = Bounds(sentence=7, width=60, token=20)
    whole = ScoredText(list(which.score_stream([text])), new_paragraph=True)
    found = sentences_of(which, cut(which, text, size=size, bounds=bounds), bounds=bounds)
    assert found == sentences_of(which, [whole], bounds=bounds)
    assert rebuild_text(found) == (text if text.removeprefix("\ufeff").strip() else "")


@pytest.mark.parametrize(
    "text",
    ["paper\n" * 8000, "日本" * 24_000, "ab\n\n" * 12_000, ("a" + " " * 96_000) * 3],
    ids=["a word a line", "no spaces", "blank lines", "white space"],
)
@pytest.mark.parametrize("ends", [-1000.0, 0.0], ids=["never", "anywhere"])
def test_text_without_ends_is_cut_too(text: str, ends: float) -> None:
    segmenter = untrained(bias=(0.0, ends, 0.0), window=512)
    scored = cut(segmenter, text, size=1000)
    longest = max(sum(len(block.text) for block, _ in piece.blocks) for piece in scored)
    assert longest < 3 * BOUNDS.token + 2 * 32 * 512
    assert len(scored) > 1
    assert sentences_of(segmenter, scored) == segmenter.segment(text)


def test_a_piece_knows_of_a_paragraph() -> None:
    segmenter = untrained(bias=(0.0, 3.0, 0.0))
    scored = cut(segmenter, "ab cab. abc é, cca.\n\n" * 200, size=50)
    assert len(scored) > 5
    assert scored[0].new_paragraph
    assert any(piece.new_paragraph for piece in scored[1:])
