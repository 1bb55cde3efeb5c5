"""Sentences made by hand: what they hold, how they are written, what they refuse."""

import copy
import json
import pickle
from pathlib import Path

import pytest

from treecrf.treebank import EmptyNode, Multiword, Sentence, Token, TreebankError, read_conllu

GOLDEN = Path(__file__).parent / "data" / "golden.conllu"


def test_is_made_from_forms_heads_and_labels() -> None:
    sentence = Sentence(["I", "saw", "her"], [2, 0, -1], deprels=["nsubj", "root", "_"])
    assert len(sentence) == 3
    assert sentence.text == "I saw her"
    assert sentence.to_conllu() == (
        "1\tI\t_\t_\t_\t_\t2\tnsubj\t_\t_\n"
        "2\tsaw\t_\t_\t_\t_\t0\troot\t_\t_\n"
        "3\ther\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )
    assert repr(sentence) == "<Sentence: I saw her>"
    assert Sentence(["I"]).heads == [-1]


def test_is_made_from_tokens() -> None:
    sentence = Sentence.from_tokens(
        [Token(1, "a", head=2), Token(2, "el", head=0)],
        multiwords=[Multiword(1, 2, "al")],
        empty_nodes=[EmptyNode(1, 1, "e")],
        comments=["# sent_id = x"],
    )
    lines = sentence.to_conllu().split("\n")
    assert [line.split("\t")[0] for line in lines] == [
        "# sent_id = x",
        "1-2",
        "1",
        "1.1",
        "2",
        "",
        "",
    ]
    assert (sentence.sent_id, sentence.text) == ("x", "al")


@pytest.mark.parametrize(
    ("heads", "problem"),
    [
        ([0], "1 heads for 2 words"),
        ([0, 3], r"word 2 has head 3, outside 0 to 2 \(or -1\)"),
        ([-2, 0], r"word 1 has head -2, outside 0 to 2 \(or -1\)"),
    ],
)
def test_refuses_heads_that_cannot_be(heads: list[int], problem: str) -> None:
    with pytest.raises(TreebankError, match=f"^{problem}$"):
        Sentence(["a", "b"], heads)
    sentence = next(read_conllu(GOLDEN))
    with pytest.raises(TreebankError, match=r"^.*golden\.conllu:1: 1 deprels for 12 words$"):
        sentence.deprels = ["x"]


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        (Sentence(["a\nb"]), "a column holds a tab or a line break"),
        (Sentence(["a"], comments=["no hash"]), "a comment is one line that starts with #"),
        (Sentence(["a"], comments=["# two\nlines"]), "a comment is one line that starts with #"),
        (Sentence([""]), "column FORM of word 1 is empty"),
        (Sentence([]), "a sentence without words"),
        (Sentence.from_tokens([Token(2, "a")]), "word 1 has the id 2"),
        (Sentence.from_tokens([Token(1, "a", head=2)]), "word 1 has head 2, outside the sentence"),
        (
            Sentence.from_tokens([Token(1, "a")], multiwords=[Multiword(2, 3, "b")]),
            "a multiword token or an empty node is outside the sentence",
        ),
        (
            Sentence.from_tokens([Token(1, "a")], empty_nodes=[EmptyNode(2, 1, "b")]),
            "a multiword token or an empty node is outside the sentence",
        ),
    ],
)
def test_what_would_not_be_read_is_not_written(sentence: Sentence, problem: str) -> None:
    with pytest.raises(TreebankError, match=f"^{problem}"):
        sentence.to_conllu()


def test_lists_are_copies() -> None:
    sentence = next(read_conllu(GOLDEN))
    sentence.heads.clear()
    sentence.forms.clear()
    sentence.deprels.clear()
    assert len(sentence.heads) == len(sentence.forms) == len(sentence.deprels) == 12


def test_a_copy_is_independent() -> None:
    original = next(read_conllu(GOLDEN))
    before = original.to_conllu()
    other = original.copy()
    assert other == original
    other.tokens[0].head = 5
    third = other.copy()
    third.tokens[0].head = 6
    third.multiwords.clear()
    third.comments.clear()
    assert (original.heads[0], other.heads[0], third.heads[0]) == (3, 5, 6)
    assert original.to_conllu() == before
    assert other != original


def test_columns_are_the_same_before_and_after_tokens_are_made() -> None:
    for sentence in read_conllu(GOLDEN):
        before = {name: sentence.column(name) for name in ("id", "upos", "head", "misc")}
        sentence = sentence.copy()  # which keeps less of the file at hand
        assert {name: sentence.column(name) for name in before} == before
        assert sentence.tokens
        assert {name: sentence.column(name) for name in before} == before


def test_text_without_a_comment_is_put_together() -> None:
    texts = []
    for sentence in read_conllu(GOLDEN):
        sentence.comments.clear()
        texts.append(sentence.text)
    assert texts == [
        "Don't hear a hearing today, please — schedule it.",
        "A hearing is scheduled on the issue today",
        "vámonos al mar",
        "New York",
    ]


def test_becomes_json() -> None:
    sentence = list(read_conllu(GOLDEN))[2]
    sentence.probs = [0.5] * 5
    value = json.loads(json.dumps(sentence.to_dict()))
    assert value["sent_id"] == "golden-3"
    assert value["tokens"][1]["head"] is None
    assert value["tokens"][2] == {
        "id": 3,
        "form": "a",
        "lemma": "a",
        "upos": "ADP",
        "xpos": None,
        "feats": None,
        "head": 5,
        "deprel": "case",
        "deps": "5:case",
        "misc": None,
        "start": None,
        "end": None,
        "prob": 0.5,
    }
    assert value["multiwords"][0]["form"] == "vámonos"
    assert value["multiwords"][0]["id"] == "1-2"
    assert value["empty_nodes"][0]["after"] == 0
    assert value["empty_nodes"][0]["id"] == "0.1"


def test_an_underscore_can_be_a_word_in_json() -> None:
    words = [Token(1, "_", lemma="_"), Token(2, "a", feats="Case=Nom|X")]
    first, second = Sentence.from_tokens(words).to_dict()["tokens"]
    assert (first["form"], first["lemma"], first["upos"]) == ("_", "_", None)
    assert (second["lemma"], second["feats"]) == (None, {"Case": "Nom", "X": ""})


def test_tokens_know_what_depends_on_them() -> None:
    sentence = list(read_conllu(GOLDEN))[1]  # crossing arcs: "A hearing is scheduled on ..."
    for token in sentence.tokens:
        heads = [0, *sentence.heads]
        below = [id for id in range(1, len(heads)) if token.id in ancestors(heads, id)]
        assert [word.id for word in token.subtree] == below
        assert [word.id for word in token.children] == [id for id in below if heads[id] == token.id]
    assert sentence.tokens[0].subtree[0] is sentence.tokens[0]
    sentence.tokens[0].head = sentence.tokens[0].id  # a cycle
    assert sentence.tokens[0].subtree == sentence.tokens[:1]
    copied = sentence.copy().tokens[1]
    assert copied.children[0] is not sentence.tokens[1].children[0]
    with pytest.raises(TreebankError, match=r"Token\(1, 'a'\) is in no sentence"):
        Token(1, "a").children  # noqa: B018


def ancestors(heads: list[int], word: int) -> set[int]:
    """The word and what it depends on."""
    found: set[int] = set()
    while word not in found:
        found.add(word)
        word = heads[word]
    return found


def test_goes_to_another_process() -> None:
    for sentence in read_conllu(GOLDEN):
        assert pickle.loads(pickle.dumps(sentence)) == sentence
        assert copy.deepcopy(sentence).to_conllu() == sentence.to_conllu()
    error = TreebankError("bad", source="f", line=3)
    assert str(pickle.loads(pickle.dumps(error))) == "f:3: bad"
