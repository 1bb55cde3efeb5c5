"""What a caller gives by mistake is an error that says what to give."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import treecrf
from tests.parser.models import SMALL, random_parser, with_loss
from treecrf.parser import ParserError
from treecrf.treebank import Sentence

PARSER = random_parser(with_loss("crf"))

METHODS: list[Callable[[Any], object]] = [
    PARSER.parse_tokens,
    PARSER.distribution,
    lambda sentences: list(PARSER.parse_stream(sentences)),
    lambda sentences: list(PARSER.parse_best(sentences, 2)),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("a dog", "give a list of sentences, each of them a list of words, and not .* type str"),
        (Sentence(["a", "dog"]), "give a list of sentences"),
        (3, "give a list of sentences"),
        (None, "and not None; `parse` takes raw text"),
        (["a", "dog"], "a sentence is a list of words, and this is one string; split it first"),
        ([3], "a sentence is a list of words, and not something of type int"),
        ([["a", ""]], "column FORM of word 2 is empty; _ stands for nothing"),
        ([["c\td"]], "column FORM of word 1 holds a tab or a line break"),
        ([["a", 3]], "a word is a string, and not something of type int: 3"),
        ([[["a", "dog"]]], r"a word is a string, and not something of type list: \['a', 'dog'\]"),
    ],
)
def test_sentences_are_lists_of_words(
    method: Callable[[Any], object], given: object, problem: str
) -> None:
    with pytest.raises(ParserError, match=problem):
        method(given)


@pytest.mark.parametrize("words", [("a", "dog"), iter(["a", "dog"]), Sentence(["a", "dog"])])
def test_words_may_be_any_sequence(words: Any) -> None:
    assert PARSER.parse_tokens([words])[0].forms == ["a", "dog"]


@pytest.mark.parametrize("text", [["a", "b"], b"a b", None])
def test_raw_text_is_a_string(text: Any) -> None:
    with pytest.raises(ParserError, match="raw text is one string, and not "):
        PARSER.parse(text)


@pytest.mark.parametrize("pieces", [None, 3, b"a", ["a", None], [b"a"], [["a"]]])
def test_pieces_of_raw_text_are_strings(pieces: Any) -> None:
    parser = treecrf.load(device="cpu")
    with pytest.raises(ParserError, match="raw text is one string, and not "):
        list(parser.parse_text(pieces))


@pytest.mark.parametrize("k", [0, -1, "2", 2.0, 2**21 + 1])
def test_the_best_trees_are_one_or_more(k: Any) -> None:
    with pytest.raises(ParserError, match=r"it is how many trees to list, 1 to 2,097,152"):
        list(PARSER.parse_best([["a"]], k))


def test_a_model_that_reads_tags_needs_some() -> None:
    parser = random_parser(replace(SMALL, tags="xpos"))
    sentences = [Sentence(["b", "c"]), Sentence(["a"], comments=["# sent_id = s1"])]
    sentences[0].tokens[0].xpos = "NN"  # which is enough
    for parse in (
        lambda: parser.parse_tokens(sentences),
        lambda: list(parser.parse_stream(sentences)),
        lambda: list(parser.parse_best(sentences, 2)),
        lambda: parser.analyse(sentences),
        lambda: parser.distribution(sentences),
    ):
        with pytest.raises(ParserError, match=r"s1: the model reads tags \(xpos\), and there are"):
            parse()
    assert parser.parse_tokens(sentences[:1])


@pytest.mark.parametrize("model", [3, ["model"]])
def test_a_model_is_a_folder(model: Any) -> None:
    with pytest.raises(ParserError, match="a model is the path of its folder, or a name, and not"):
        treecrf.load(model)
