"""Sentences are the same wherever the blocks end that their characters come in."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.segment.texts import untrained
from treecrf.segment import rebuild_text
from treecrf.segment.assembly import Assembly, Scores
from treecrf.segment.blocks import cut_blocks
from treecrf.segment.boundaries import BOUNDS, Bounds
from treecrf.treebank import Sentence

SEGMENTER = untrained()


def assembled(text: str, scores: Scores, *, size: int, bounds: Bounds = BOUNDS) -> list[Sentence]:
    """The sentences of a text that comes in blocks of this size."""
    made = Assembly(splitter=SEGMENTER.splitter, joins=SEGMENTER.joins, bounds=bounds)
    sentences: list[Sentence] = []
    for block in cut_blocks([text], size=size, context=17):
        sentences += made.add(block, scores[block.start : block.start + len(block.text)])
    return [*sentences, *made.finish()]


def scores_of(text: str, values: Sequence[float]) -> Scores:
    """The same scores for each character of the text."""
    return np.tile(np.array(values, np.float32), (len(text), 1))


@given(
    text=st.text("ab ", min_size=1, max_size=60),
    size=st.integers(1, 20),
    longest=st.integers(2, 9),
    seed=st.integers(0, 1000),
    tokens=st.floats(-3, 0),
)
def test_long_tokens_are_cut_alike_in_blocks_of_any_size(
    text: str, size: int, longest: int, seed: int, tokens: float
) -> None:
    scores = np.random.default_rng(seed).normal(size=(len(text), 3)).astype(np.float32)
    scores[:, 0] += tokens
    bounds = Bounds(token=longest)
    whole = assembled(text, scores, size=len(text), bounds=bounds)
    assert assembled(text, scores, size=size, bounds=bounds) == whole
    assert rebuild_text(whole) == (text if text.strip() else "")
    forms = [form for sentence in whole for form in sentence.forms]
    assert max(map(len, forms), default=0) <= longest


@pytest.mark.parametrize("size", range(BOUNDS.token - 3, BOUNDS.token + 4))
@pytest.mark.parametrize("letters", range(BOUNDS.token - 3, BOUNDS.token + 2))
def test_a_token_with_a_space_inside_is_cut_at_the_limit(letters: int, size: int) -> None:
    text = "x" * letters + " yz ab"
    sentences = assembled(text, scores_of(text, (-9, -9, -9)), size=size)
    assert rebuild_text(sentences) == text
    whole = assembled(text, scores_of(text, (-9, -9, -9)), size=len(text))
    assert sentences == whole


@given(
    text=st.text("a \n\r", max_size=60).filter(str.strip),
    size=st.integers(1, 20),
    longest=st.sampled_from([2, 4, 6]),
)
def test_long_white_space_is_shortened_alike_in_blocks_of_any_size(
    text: str, size: int, longest: int
) -> None:
    scores = scores_of(text, (9, -9, -9))
    whole = assembled(text, scores, size=len(text))
    bounds = Bounds(space=longest)
    short = assembled(text, scores, size=len(text), bounds=bounds)
    assert assembled(text, scores, size=size, bounds=bounds) == short
    # Neither sentences nor paragraphs depend on it.
    assert [sentence.comments for sentence in short] == [sentence.comments for sentence in whole]
    half = longest // 2
    for kept, full in zip(rebuild_text(short).split("a"), text.split("a"), strict=True):
        assert kept == full or (kept[:half], kept[-half:]) == (full[:half], full[-half:])
        assert kept == full if len(full) <= longest else len(kept) <= longest + 4


@pytest.mark.parametrize("size", range(1, 12))
def test_flags_are_apart_in_blocks_of_any_size(size: int) -> None:
    text = "a 🇩🇪🇫🇷🇺🇸🇯🇵 b"
    (sentence,) = assembled(text, scores_of(text, (9, -9, -9)), size=size)
    assert sentence.forms == ["a", "🇩🇪", "🇫🇷", "🇺🇸", "🇯🇵", "b"]
