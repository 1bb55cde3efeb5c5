"""Features: mappings that are written as they were read."""

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import pytest

from treecrf.treebank import EmptyNode, Features, Multiword, Sentence, Token, TreebankError


def test_are_a_mapping() -> None:
    features = Token(1, "a", feats="Number=Sing|PronType=Int,Rel").feats
    assert isinstance(features, Mapping)
    assert features["Number"] == "Sing"
    assert features.get("Case") is None
    assert "Numb" not in features
    assert dict(features) == {"Number": "Sing", "PronType": "Int,Rel"}
    assert features == {"PronType": "Int,Rel", "Number": "Sing"}
    assert repr(features) == "Features('Number=Sing|PronType=Int,Rel')"
    assert not Token(1, "a").feats


@pytest.mark.parametrize("text", ["_", "B=1|A=2", "loose", "A=1|A=2", "A==|", "a=b=c"])
def test_are_written_as_they_were(text: str) -> None:
    for item in (Token(1, "a"), Multiword(1, 2, "a"), EmptyNode(0, 1, "a")):
        item.feats = text
        assert str(item.feats) == text
        assert item.feats == text
        assert item.to_conllu().split("\t")[5] == text
        assert pickle.loads(pickle.dumps(item)) == copy.deepcopy(item) == item
        assert hash(item.feats) == hash(Features(text))
    assert Token(1, "a", feats="B=1|A=2") != Token(1, "a", feats="A=2|B=1")


def test_a_mapping_is_written_in_order() -> None:
    sentence = Sentence(["a"])
    token = sentence.tokens[0]
    token.feats = {"b": "1", "Case": "Gen", "A": "2"}
    assert sentence.column("feats") == ["A=2|b=1|Case=Gen"]
    token.feats = {**token.feats, "Case": "Nom"}
    assert token.feats["Case"] == "Nom"
    for nothing in ({}, None):
        token.feats = nothing
        assert sentence.column("feats") == ["_"]
    assert Token(1, "a", feats={"A": "1"}).feats == "A=1"


@pytest.mark.parametrize("wrong", [{"": "1"}, {"A": ""}, {"A": "1|B=2"}, {"A\t": "1"}])
def test_what_is_no_feature_is_named(wrong: Any) -> None:
    with pytest.raises(TreebankError, match="a feature has a name and a value without = and"):
        Token(1, "a").feats = wrong


def test_reprs_have_what_is_known() -> None:
    word = Token(2, "saw", lemma="see", feats="Tense=Past", head=0, deprel="root")
    assert repr(word) == ("Token(2, 'saw', lemma='see', feats='Tense=Past', head=0, deprel='root')")
    assert eval(repr(word)) == word
    assert repr(Multiword(1, 2, "don't", start=3)) == 'Multiword(1, 2, "don\'t")'
    assert repr(EmptyNode(8, 1, "saw")) == "EmptyNode(8, 1, 'saw')"
