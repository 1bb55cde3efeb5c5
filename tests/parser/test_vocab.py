"""Numbers of words, characters, tags and relations: built, extended, kept in a file."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.parser.models import SMALL, VOCABULARY
from treecrf.parser import ParserError
from treecrf.parser.vocab import ROOT, UNKNOWN, Vocabulary, build_vocabulary
from treecrf.treebank import Sentence, Token

SENTENCES = [
    Sentence(["The", "dog", "saw", "the", "cat"], [2, 3, 0, 5, 3], deprels=list("dsrdo")),
    Sentence(["the", "Dog", "ran"], [2, 3, 0], deprels=list("dsr")),
]


def test_words_are_those_that_are_frequent_enough() -> None:
    by_frequency = build_vocabulary(SENTENCES, replace(SMALL, min_freq=1)).words
    assert by_frequency == ["the", "dog", "cat", "ran", "saw"]
    assert build_vocabulary(SENTENCES, replace(SMALL, min_freq=2)).words == ["the", "dog"]
    assert build_vocabulary(SENTENCES, replace(SMALL, min_freq=3)).words == ["the"]
    cased = build_vocabulary(SENTENCES, replace(SMALL, min_freq=2, lowercase=False))
    assert cased.words == ["the"]


def test_characters_keep_their_case() -> None:
    characters = build_vocabulary(SENTENCES, SMALL).characters
    assert set(characters) == set("ThedogsawcatDrn")
    assert characters[0] == "e" or characters[0] == "a"


def test_relations_are_those_of_annotated_words() -> None:
    assert build_vocabulary(SENTENCES, SMALL).relations == ["d", "r", "s", "o"]
    partial = Sentence(["a", "b", "c"], [-1, 0, 2], deprels=["ghost", "r", "_"])
    assert build_vocabulary([partial], SMALL).relations == ["r"]
    assert build_vocabulary([partial], SMALL).words == ["a", "b", "c"]
    assert build_vocabulary([Sentence(["a"], [0])], SMALL).relations == []


def test_tags_are_those_of_the_column_that_is_embedded() -> None:
    tokens = [
        Token(1, "a", upos="N", xpos="NN", head=2, deprel="x"),
        Token(2, "b", upos="V", xpos="VB", head=0, deprel="y"),
    ]
    sentence = Sentence.from_tokens(tokens)
    for tags, expected in (("none", []), ("upos", ["N", "V"]), ("xpos", ["NN", "VB"])):
        config = SMALL.changed({"tags": tags})
        assert build_vocabulary([sentence], config).tags == expected


def test_universal_tags_are_those_that_a_model_gives() -> None:
    tokens = [Token(n, "a", upos=tag, head=0, deprel="x") for n, tag in enumerate("XY_X", 1)]
    sentence = Sentence.from_tokens(tokens)
    assert build_vocabulary([sentence], SMALL).columns["upos"] == []
    tagged = build_vocabulary([sentence], replace(SMALL, predict=("upos",)))
    assert tagged.columns["upos"] == ["X", "Y"]
    assert tagged.column_numbers["upos"] == {"X": 0, "Y": 1}
    assert tagged.sizes["upos"] == 2


def test_numbers_start_after_the_special_ones() -> None:
    vocabulary = build_vocabulary(SENTENCES, SMALL)
    assert {UNKNOWN, ROOT} == {0, 1}
    assert vocabulary.word_numbers["the"] == 2
    assert sorted(vocabulary.word_numbers.values()) == [2, 3, 4, 5, 6]
    assert vocabulary.relation_numbers == {"d": 0, "r": 1, "s": 2, "o": 3}
    assert vocabulary.sizes["words"] == 7
    assert vocabulary.sizes["relations"] == 4
    assert vocabulary.with_vectors(["p", "q"]).vector_numbers == {"p": 1, "q": 2}


def test_a_file_holds_it_all() -> None:
    odd = Vocabulary(
        words=['"', "\\", "é", "\u2028", "\U0001d4b3"],
        characters=["\x00", "\t"],
        tags=[],
        relations=["obl↑nsubj↓"],
        vectors=["a b"],
    )
    for vocabulary in (odd, VOCABULARY, build_vocabulary(SENTENCES, SMALL)):
        back = Vocabulary.from_dict(json.loads(vocabulary.to_json().encode()))
        assert back.to_dict() == vocabulary.to_dict()
        assert back.word_numbers == vocabulary.word_numbers
        assert back.vector_numbers == vocabulary.vector_numbers


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            [],
            "a vocabulary has the keys relations, upos, xpos, feats, lemma, tags, characters",
        ),
        (VOCABULARY.to_dict() | {"lemmas": {"a": 1}}, "lemmas does not map strings"),
        ({"words": []}, "a vocabulary has the keys"),
        (VOCABULARY.to_dict() | {"more": []}, "a vocabulary has the keys"),
        (VOCABULARY.to_dict() | {"words": "abc"}, "words is not a list of strings"),
        (VOCABULARY.to_dict() | {"tags": [1]}, "tags is not a list of strings"),
        (VOCABULARY.to_dict() | {"words": None}, "words is not a list of strings"),
        (VOCABULARY.to_dict() | {"relations": ["x", "x"]}, "relations has an item twice"),
        (VOCABULARY.to_dict() | {"relations": [""]}, "relations has an empty item"),
        (VOCABULARY.to_dict() | {"relations": ["a\nb"]}, r"relations has an item with '\\n'"),
        (VOCABULARY.to_dict() | {"upos": ["a\tb"]}, r"upos has an item with '\\t'"),
        (VOCABULARY.to_dict() | {"lemma": ["=\ud800"]}, r"lemma has an item with '\\ud800'"),
        (VOCABULARY.to_dict() | {"lemmas": {"a\tX": "a\n"}}, r"lemmas has an item with '\\n'"),
        (VOCABULARY.to_dict() | {"lemmas": {"a\tX": ""}}, "lemmas has an empty item"),
    ],
)
def test_damage_is_found(data: Any, problem: str) -> None:
    with pytest.raises(ParserError, match=problem):
        Vocabulary.from_dict(data)


def test_extended_keeps_numbers() -> None:
    ours = build_vocabulary(SENTENCES[1:], SMALL).with_vectors(["p"])
    theirs = build_vocabulary(SENTENCES, SMALL).with_vectors(["q"])
    both = ours.extended(theirs)
    for name in ("words", "characters", "tags", "upos", "relations"):
        mine, joined = ours.to_dict()[name], both.to_dict()[name]
        assert joined[: len(mine)] == mine
        assert set(joined) == {*mine, *theirs.to_dict()[name]}
        assert len(set(joined)) == len(joined)
    assert both.vectors == ["p"]  # vectors come with the weights


def test_vectors_are_beside_the_words() -> None:
    vocabulary = VOCABULARY.with_vectors(["a", "new"])
    assert vocabulary.to_dict() == VOCABULARY.to_dict() | {"vectors": ["a", "new"]}
    assert vocabulary.sizes == VOCABULARY.sizes
    assert VOCABULARY.vectors == []
