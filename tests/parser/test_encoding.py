"""Sentences as arrays, against numbers that are looked up word by word."""

from dataclasses import replace

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.parser.models import SMALL, VOCABULARY, random_parser
from treecrf.parser.batching.encoding import encode, encode_annotation
from treecrf.parser.vocab import ROOT, UNKNOWN, Vocabulary
from treecrf.treebank import Sentence, Token

WITH_VECTORS = VOCABULARY.with_vectors(["a", "Dog", "cat", "dogs", ""])
FORMS = st.text("abcdogDGA?é\0", max_size=9)


def word_number(form: str, vocabulary: Vocabulary, *, lowercase: bool) -> int:
    return vocabulary.word_numbers.get(form.lower() if lowercase else form, UNKNOWN)


def character_numbers(form: str, vocabulary: Vocabulary, most: int) -> list[int]:
    """Of a word that is too long half of the first and half of the last; of none an unknown one."""
    if len(form) > most:
        first = most // 2
        form = form[:first] + form[len(form) - (most - first) :]
    return [vocabulary.character_numbers.get(character, UNKNOWN) for character in form] or [UNKNOWN]


@given(
    st.lists(st.lists(FORMS, max_size=4), max_size=4), st.booleans(), st.integers(2, 7), st.data()
)
def test_every_token_has_its_numbers(
    texts: list[list[str]], lowercase: bool, most: int, data: st.DataObject
) -> None:
    config = replace(SMALL, lowercase=lowercase, max_chars=most, tags="upos")
    tags = [[data.draw(st.sampled_from(["N", "V", "X", "_"])) for _ in text] for text in texts]
    sentences = []
    for text, its_tags in zip(texts, tags, strict=True):
        rows = enumerate(zip(text, its_tags, strict=True), 1)
        sentences.append(
            Sentence.from_tokens([Token(n, form, upos=tag) for n, (form, tag) in rows])
        )
    encoded = encode(sentences, WITH_VECTORS, config)

    assert len(encoded) == len(texts)
    assert encoded.lengths.tolist() == [len(text) for text in texts]
    table = encoded.form_table
    assert table is not None
    assert table.vectors is not None
    assert encoded.tags is not None
    tokens = sum(len(text) + 1 for text in texts)
    assert len(encoded.forms) == len(encoded.tags) == tokens
    for row, (text, its_tags) in enumerate(zip(texts, tags, strict=True)):
        start = encoded.starts[row]
        root = encoded.forms[start]
        assert table.words[root] == encoded.tags[start] == ROOT
        assert table.vectors[root] == 0
        assert table.characters[root, : table.counts[root]].tolist() == [ROOT]
        for place, (form, tag) in enumerate(zip(text, its_tags, strict=True), 1):
            own = encoded.forms[start + place]
            assert table.words[own] == word_number(form, WITH_VECTORS, lowercase=lowercase)
            assert encoded.tags[start + place] == VOCABULARY.tag_numbers.get(tag, UNKNOWN)
            numbers = WITH_VECTORS.vector_numbers
            assert table.vectors[own] == numbers.get(form, numbers.get(form.lower(), 0))
            expected = character_numbers(form, WITH_VECTORS, most)
            assert table.characters[own, : table.counts[own]].tolist() == expected


def test_what_depends_on_the_form_is_kept_once() -> None:
    encoded = encode([Sentence(["a", "b", "a"]), Sentence(["b", "A"])], VOCABULARY, SMALL)
    assert encoded.form_table is not None
    assert len(encoded.form_table.words) == 4  # the root symbol, a, b and A
    assert encoded.forms.tolist() == [0, 1, 2, 1, 0, 2, 3]


def test_no_word_is_the_root_symbol() -> None:
    parser = random_parser(SMALL)
    for word in ("\0", ""):
        sentences = [Sentence(["a", other, "dog"]) for other in (word, "\u2603")]
        odd, unknown = parser.distribution(sentences).marginals
        assert torch.allclose(odd, unknown)


def test_columns_that_no_model_asks_for_are_not_there() -> None:
    encoded = encode([Sentence(["a"])], VOCABULARY, SMALL)
    assert encoded.tags is None
    assert encoded.piece_table is None
    assert encoded.form_table is not None
    assert encoded.form_table.vectors is None
    assert encode_annotation([Sentence(["a"])], VOCABULARY, SMALL).columns == {}


def test_the_vector_of_a_form_is_that_of_its_own_case_first() -> None:
    vocabulary = VOCABULARY.with_vectors(["dog", "Dog", "cat"])
    encoded = encode([Sentence(["Dog", "DOG", "Cat", "cow"])], vocabulary, SMALL)
    assert encoded.form_table is not None
    assert encoded.form_table.vectors is not None
    assert encoded.form_table.vectors[encoded.forms].tolist() == [0, 2, 1, 3, 0]


def test_trees_as_numbers() -> None:
    full = Sentence(["a", "b", "c"], [2, 0, 2], deprels=["x", "z", "unseen"])
    partial = Sentence(["a", "b"], [-1, 0], deprels=["x", "y"])
    partial.tokens[0].upos, partial.tokens[1].upos = "X", "PUNCT"
    annotation = encode_annotation([full, partial], VOCABULARY, replace(SMALL, predict=("upos",)))
    assert annotation.heads.tolist() == [0, 2, 0, 2, 0, -1, 0]
    # What has no head has no relation, whatever the file says; but it may have a tag.
    assert annotation.relations.tolist() == [-1, 0, 2, -1, -1, -1, 1]
    assert annotation.columns["upos"].tolist() == [-1, -1, -1, -1, -1, 2, -1]


def test_nothing_at_all() -> None:
    encoded = encode([], VOCABULARY, replace(SMALL, tags="upos"))
    assert len(encoded) == 0
    assert len(encoded.forms) == 0
    assert encode_annotation([], VOCABULARY, SMALL).heads.dtype == np.int64
