"""A segmenter loses nothing of a text, and how the text is cut into pieces makes no difference."""

import gc
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.segment.texts import ODD, untrained
from treecrf.segment import Segmenter, rebuild_text
from treecrf.segment.boundaries import BOUNDS
from treecrf.segment.spaces import space_after
from treecrf.treebank import Sentence, read_conllu
from treecrf.treebank.tokens import surfaces

SPACES = " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u2009\u2028\u2029\u202f\u3000"

texts = st.one_of(
    st.text(st.sampled_from("abcé.,'A1 " + SPACES), max_size=900),
    st.text(max_size=200),
    st.lists(st.sampled_from([*ODD, " ", "\n\n", "ab c. "]), max_size=12).map("".join),
)


def check_lossless(text: str, sentences: list[Sentence]) -> None:
    """Nothing is lost, and every sentence is what it says it is."""
    assert rebuild_text(sentences) == (text if text.removeprefix("\ufeff").strip() else "")
    for sentence in sentences:
        offsets = sentence.with_tree(range(len(sentence)), sentence.deprels).offsets
        tokens = list(surfaces(sentence.tokens, sentence.multiwords))
        assert sentence.offsets == offsets == [(word.start, word.end) for word in sentence.tokens]
        for token in tokens:
            assert token.misc.endswith(f"TokenRange={token.start}:{token.end}")
            assert text[token.start : token.end] == token.form
        for multiword in sentence.multiwords:
            inside = offsets[multiword.first - 1 : multiword.last]
            assert set(inside) == {(multiword.start, multiword.end)}
            assert token.form == token.form.strip() != ""
        joined = "".join(token.form + " " * bool(space_after(token.misc)) for token in tokens)
        assert sentence.comments[-1] == "# text = " + joined.rstrip(" ")
        assert sentence.heads == [-1] * len(sentence)
        copy = Sentence.from_tokens(
            sentence.copy().tokens, multiwords=sentence.multiwords, comments=sentence.comments
        )
        assert copy.to_conllu() == sentence.to_conllu()


@given(texts, st.integers(0, 20), st.booleans())
def test_nothing_is_lost(text: str, seed: int, joins: bool) -> None:
    check_lossless(text, untrained(seed=seed, joins=joins).segment(text))


@pytest.mark.parametrize("text", ODD)
def test_nothing_is_lost_of_odd_texts(text: str, segmenter: Segmenter) -> None:
    check_lossless(text, segmenter.segment(text))
    check_lossless(text, untrained(bias=(-9, -9, 9)).segment(text))


@given(st.lists(texts, max_size=6), st.integers(0, 20))
def test_pieces_make_no_difference(pieces: list[str], seed: int) -> None:
    segmenter = untrained(seed=seed)
    whole = segmenter.segment("".join(pieces))
    assert list(segmenter.segment_stream(pieces)) == whole
    characters = list("".join(pieces))
    assert list(segmenter.segment_stream(characters)) == whole


def test_sentences_are_written_and_read(tmp_path: Path, segmenter: Segmenter) -> None:
    text = "Anna didn't sleep.\n\nWhy?  Peter's dog  laughed.\u2028"
    sentences = segmenter.segment(text)
    path = tmp_path / "text.conllu"
    path.write_text("".join(sentence.to_conllu() for sentence in sentences), encoding="utf-8")
    again = list(read_conllu(path))
    assert again == sentences
    assert rebuild_text(again) == text


def test_a_blank_line_ends_a_sentence_and_a_paragraph() -> None:
    never = untrained(bias=(-99, -99, -99), joins=False)
    sentences = never.segment("a b\n\nc\r\n \t\r\nd\re\n f\u2029\u2029g\n")
    assert [sentence.forms for sentence in sentences] == [["a", "b"], ["c"], ["d", "e", "f"], ["g"]]
    assert [sentence.comments[0] for sentence in sentences] == ["# newpar"] * 4
    always = untrained(bias=(-99, 99, -99), joins=False)
    starts = [sentence.comments[0] for sentence in always.segment("a\nb\n\nc")]
    assert starts == ["# newpar", "# text = b", "# newpar"]


def test_white_space_is_written_as_udpipe_does() -> None:
    never = untrained(bias=(-99, -99, -99), joins=False)
    (sentence,) = never.segment("\t a|b  c\n\xa0d")
    assert [token.misc for token in sentence.tokens] == [
        "SpacesAfter=\\s\\s|SpacesBefore=\\t\\s|TokenRange=2:5",
        "SpacesAfter=\\n\xa0|TokenRange=7:8",
        "SpaceAfter=No|TokenRange=10:11",
    ]


def test_a_byte_order_mark_is_before_the_text(segmenter: Segmenter) -> None:
    text = "\ufeffThe dog slept."
    (sentence,) = segmenter.segment(text)
    assert sentence.forms == ["The", "dog", "slept", "."]
    assert sentence.comments[-1] == "# text = The dog slept."
    assert sentence.tokens[0].misc == "SpacesBefore=\ufeff|TokenRange=1:4"
    assert segmenter.segment_texts([text, "\ufeff", "\ufeff\n"]) == [[sentence], [], []]
    (sentence,) = untrained(bias=(-99, -99, -99), joins=False).segment("\ufeff\ufeffa \ufeffb")
    assert sentence.forms == ["\ufeffa", "\ufeffb"]  # anywhere else it is a character


def test_a_space_is_inside_a_token_only_where_training_has_shown_it() -> None:
    text = "a b  c\td\n1\xa01"
    assert [sentence.forms for sentence in untrained(bias=(-99, -99, -99)).segment(text)] == [
        ["a b", "c", "d", "1\xa01"]
    ]
    without = untrained(bias=(-99, -99, -99), joins=False)
    assert without.segment(text)[0].forms == ["a", "b", "c", "d", "1", "1"]


LINE = 2_000_000


def pieces_of(piece: str, length: int) -> Iterator[str]:
    return (piece for _ in range(length // len(piece)))


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["x" * 1000, "word " * 200, "\t " * 500])
def test_memory_is_bounded_on_one_line(piece: str) -> None:
    """Where nothing ends by itself; memory is what Python and NumPy hold."""
    never = untrained(bias=(-99, -99, -99), window=512)
    for _ in never.segment_stream([piece]):  # what is loaded once
        pass
    tracemalloc.start()
    characters = 0
    for sentence in never.segment_stream(pieces_of(piece, LINE)):
        characters += len(rebuild_text([sentence]))
        del sentence
        gc.collect()  # tokens know the words of their sentence, which are freed by collection alone
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < LINE
    assert characters == (LINE if piece.strip() else 0)


def test_long_sentences_are_cut_where_one_is_most_likely_to_end() -> None:
    never = untrained(bias=(9, -99, -99), window=512)
    sentences = never.segment("a. " * 3000)
    lengths = [len(sentence) for sentence in sentences]
    assert sum(lengths) == 6000
    assert max(lengths) <= 300
    assert min(lengths[:-1]) >= 150
    long = never.segment(("x" * 300 + " ") * 600)
    assert all(len(rebuild_text([sentence])) < BOUNDS.width + 400 for sentence in long)


def test_long_tokens_and_long_white_space_are_cut() -> None:
    never = untrained(bias=(-99, -99, -99))
    text = "a" + " " * 9 + "x" * 40_000
    sentences = never.segment(text)
    check_lossless(text, sentences)
    lengths = [len(form) for sentence in sentences for form in sentence.forms]
    assert lengths == [1, *[BOUNDS.token] * 2, 40_000 - 2 * BOUNDS.token]
    space = " " * BOUNDS.space
    check_lossless(f"a{space}b", never.segment(f"a{space}b"))
    assert rebuild_text(never.segment(f"a{space}\n b")) == f"a{space[:-2]}\n b"
    before, after = never.segment(f"a{space}\n{space}\n{space}b")
    assert len(rebuild_text([before])) < 2 * BOUNDS.space
    start = 3 * (1 + len(space))
    assert after.tokens[0].misc == f"SpaceAfter=No|TokenRange={start}:{start + 1}"


@given(
    texts=st.lists(st.text("abc é\n.,'", max_size=400), max_size=8),
    seed=st.integers(0, 3),
    window=st.integers(16, 40),
)
def test_many_texts_are_cut_as_each_alone(texts: list[str], seed: int, window: int) -> None:
    segmenter = untrained(seed=seed, window=window)
    assert segmenter.segment_texts(texts) == [segmenter.segment(text) for text in texts]
