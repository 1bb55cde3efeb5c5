"""Pieces of words against those of the package tokenizers."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treecrf.nn.transformer.wordpieces import WordPieces

tokenizers = pytest.importorskip("tokenizers")

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "tele",
    "##scope",
    "##s",
    "s",
    "##aw",
    "sa",
    "don",
    "'",
    "t",
    "naive",
    "cafe",
    "##e",
    "e",
    "-",
    ".",
    "日",
    "本",
    "##語",
    "a",
    "b",
    "##a",
    "##b",
]
# What a character is depends on the version of Unicode's tables; those of an old one are in all.
ASSIGNED = st.characters(exclude_categories=["Cn", "Cs"]).filter(
    lambda character: unicodedata.ucd_3_2_0.category(character) == unicodedata.category(character)
)


def both(lowercase: bool) -> tuple[WordPieces, "tokenizers.Tokenizer"]:
    theirs = tokenizers.BertWordPieceTokenizer(
        vocab={piece: number for number, piece in enumerate(PIECES)}, lowercase=lowercase
    )
    return WordPieces(PIECES, lowercase=lowercase, limit=10_000), theirs


@pytest.mark.parametrize("lowercase", [True, False])
@given(
    word=st.text(ASSIGNED, max_size=30)
    | st.text("abesTé-.'日本 \u0301\u200d\t\0", max_size=12)
    | st.sampled_from(["telescopes", "Naïve", "café", "don't", "日本語", "saw-s", "a" * 101])
)
def test_pieces_are_those_of_tokenizers(word: str, lowercase: bool) -> None:
    ours, theirs = both(lowercase)
    expected = theirs.encode(word, add_special_tokens=False).ids
    assert ours.cut(word) == (expected or [PIECES.index("[UNK]")])


def test_a_word_has_at_most_so_many_pieces() -> None:
    ours = WordPieces(PIECES, lowercase=True, limit=3)
    assert ours.cut("a-b-a-b-a") == [PIECES.index(piece) for piece in ("a", "-", "b")]


def test_only_short_words_are_remembered() -> None:
    ours = WordPieces(PIECES, lowercase=True, limit=3)
    assert ours.cut("a-" * 8000) == [PIECES.index(piece) for piece in ("a", "-", "a")]
    assert ours.cut("the") == [PIECES.index("the")]
    assert list(ours._known) == ["the"]


def test_time_grows_with_the_length_of_a_word_alone() -> None:
    pieces, _ = both(lowercase=True)

    def seconds(length: int) -> float:
        def once() -> float:
            started = time.process_time()
            pieces.cut("x" * length)
            return time.process_time() - started

        return min(once() for _ in range(3))

    assert seconds(400_000) < 40 * seconds(20_000)
