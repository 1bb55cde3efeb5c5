"""Files of word vectors: three formats, what is wrong with a file, and what a model makes of it."""

import gzip
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.parser.models import SMALL, VOCABULARY, batch_of, random_scorer
from treecrf.parser import ParserError
from treecrf.parser.network.vectors import read_vectors
from treecrf.treebank import Sentence, TreebankError

GLOVE = b"the 0.5 -1.5 2\ndog 1 2 3\ncaf\xc3\xa9 -1 -2e0 -.5\n"
ROWS = np.array([[0.5, -1.5, 2], [1, 2, 3], [-1, -2, -0.5]])


def check(
    content: bytes, words: list[str], rows: np.ndarray = ROWS, *, block_lines: int = 10_000
) -> None:
    """Numbers are scaled to a standard deviation of 1, after a row for words that are not there."""
    found, values = read_vectors(io.BytesIO(content), block_lines=block_lines)
    assert found == words
    assert values.dtype == torch.float16
    assert not values[0].any()
    expected = torch.from_numpy(rows / rows.std())
    torch.testing.assert_close(values[1:].double(), expected, rtol=1e-3, atol=1e-3)


WORDS = ["the", "dog", "café"]


def test_glove() -> None:
    check(GLOVE, WORDS)
    check(GLOVE.rstrip(b"\n"), WORDS)
    check(GLOVE.replace(b" ", b"\t"), WORDS)


def test_word2vec_and_fasttext_have_a_header() -> None:
    check(b"3 3\n" + GLOVE, WORDS)
    check(b"3 3\n" + GLOVE.replace(b"\n", b" \n"), WORDS)  # fastText ends lines with a space
    check(b"\xef\xbb\xbf3 3 \r\n" + GLOVE.replace(b"\n", b"\r\n"), WORDS)


def test_the_header_says_how_many_numbers_a_line_has() -> None:
    check(b"2 3\n. . 0.5 -1.5 2\ndog 1 2 3\n", [". .", "dog"], ROWS[:2])
    with pytest.raises(ParserError, match=":2: 3 numbers, not 4"):
        read_vectors(io.BytesIO(b"2 4\nthe 0.5 -1.5 2\ndog 1 2 3\n"))


def test_a_number_may_be_a_word() -> None:
    check(b"2 0.5 -1.5 2\n3 1 2 3\n", ["2", "3"], ROWS[:2])


def test_packed_and_by_a_path(tmp_path: Path) -> None:
    check(gzip.compress(GLOVE), WORDS)
    for name, content in (("plain.txt", GLOVE), ("packed.gz", gzip.compress(GLOVE))):
        path = tmp_path / name
        path.write_bytes(content)
        assert read_vectors(path)[0] == read_vectors(str(path))[0] == WORDS
    with open(tmp_path / "plain.txt", encoding="utf-8") as file:
        assert read_vectors(file)[0] == WORDS


def test_a_word_may_have_spaces_in_it() -> None:
    check(
        GLOVE + b". . . 1 1 1\nto name@domain.com 2 2 2\n",
        [*WORDS, ". . .", "to name@domain.com"],
        np.array([*ROWS, [1] * 3, [2] * 3]),
    )


def test_the_first_vector_of_a_word_counts() -> None:
    check(GLOVE + b"dog 9 9 9\nthe 8 8 8\n", WORDS)


def test_empty_lines_do_not_count() -> None:
    check(b"\n" + GLOVE.replace(b"dog", b"\n  \ndog") + b"\n\n", WORDS)


def test_files_of_many_blocks() -> None:
    check(b"3 3\n" + GLOVE + b"the 1 1 1\ndog 2 2 2\n", WORDS, block_lines=2)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "there are no vectors in it"),
        (b"3 3\n", "there are no vectors in it"),
        (b"\n\n", "there are no vectors in it"),
        (GLOVE + b"cat 1 2\n", ":4: 2 numbers, not 3"),
        (b"\n" + GLOVE + b"\ncat 1 2\n", ":6: 2 numbers, not 3"),
        (GLOVE + b"cat\n", ":4: 0 numbers, not 3"),
        (b"word\n", ":1: no numbers; a line of vectors"),
        (GLOVE + b"cat 1 2 x\ncow 1 2 3\n", ":4: .*'x'"),
        (GLOVE + b"cat 1 nan 2\ncow 1 2 x\n", ":4: a number is not finite"),
        (GLOVE + b"cat 1 2 inf\n", ":4: a number is not finite"),
        (GLOVE + b"cat 1 2 1e50\n", ":4: a number is not finite"),
        (GLOVE + b"c\xfft 1 2 3\n", ":4: not UTF-8"),
        (gzip.compress(GLOVE * 100, mtime=0)[:-30], "broken gzip data"),
        (gzip.compress(GLOVE, mtime=0)[:10] + b"\xff" * 40, "broken gzip data"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises((ParserError, TreebankError), match=problem) as caught:
        read_vectors(path)
    assert str(caught.value).startswith(f"{path}:")


def test_unseen_words_of_the_file_have_vectors_of_their_own() -> None:
    words, values = read_vectors(io.BytesIO(b"dog 1 -1\ncat -1 1\ncow 0.5 2\n"))
    vocabulary = VOCABULARY.with_vectors(words)
    # Words that are not in training share all but their characters: those are told apart here by
    # a model that knows no character of theirs.
    config = replace(SMALL, lowercase=True)
    blind = vocabulary.with_vectors(words)
    blind.character_numbers.clear()
    scorer = random_scorer(config, vocabulary=vocabulary, vectors=values)

    def inputs(form: str) -> torch.Tensor:
        batch = batch_of([Sentence([form])], config, vocabulary=blind)
        assert batch.words is not None
        return scorer.reader.words(batch.words.words, batch.words.vectors)[1]

    cat, cow, unknown, other = (inputs(form) for form in ("cat", "cow", "emu", "gnu"))
    torch.testing.assert_close(unknown, other)
    for known in (cat, cow):
        assert not torch.allclose(known, unknown)
    assert not torch.allclose(cat, cow)
    torch.testing.assert_close(inputs("Cat"), cat)


@pytest.mark.parametrize("size", [2, 3])
def test_vectors_of_the_size_of_words_are_added_as_they_are(size: int) -> None:
    words, values = read_vectors(io.BytesIO(b"dog 1 -1\ncat -1 1\n"))
    config = replace(SMALL, word_size=size, project_vectors=False)
    vocabulary = VOCABULARY.with_vectors(words)
    scorer = random_scorer(config, vocabulary=vocabulary, vectors=values)
    reader = scorer.reader.words
    assert (reader.projection is None) == (size == 2)  # others are projected all the same
    batch = batch_of([Sentence(["cat"])], config, vocabulary=vocabulary)
    assert batch.words is not None
    word = reader.trained(batch.words.words)[1]
    found = reader(batch.words.words, batch.words.vectors)[1] - word
    vector = values[2].to(found.dtype)
    expected = vector if size == 2 else reader.projection(vector)
    torch.testing.assert_close(found, expected)
