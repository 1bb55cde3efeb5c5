"""Documents: lists of sentences with an id, in CoNLL-U, as dictionaries and in notebooks."""

import copy
import json
import pickle
from pathlib import Path
from xml.etree import ElementTree

import treecrf
from treecrf import Document, Sentence
from treecrf.treebank import read_conllu

GOLDEN = Path(__file__).parent / "data" / "golden.conllu"
SVG = "{http://www.w3.org/2000/svg}"


def two() -> Document:
    sentences = [Sentence(["Hi", "!"], [0, 1], comments=["# newpar"]), Sentence(["Bye"], [0])]
    return Document(sentences, text="Hi ! Bye", id="a  b", meta={"year": 2021})


def test_is_a_list_of_sentences() -> None:
    document = two()
    first, second = document
    assert document == [first, second]
    assert [first, second] == document
    assert document[0] is document.sentences[0] is first
    assert document[1:] == [second]
    assert [*document, second] == document + [second]  # noqa: RUF005
    assert not Document()
    document.sentences.append(first)
    assert len(document) == 3


def test_goes_to_another_process() -> None:
    document = two()
    for other in (pickle.loads(pickle.dumps(document)), copy.deepcopy(document)):
        assert (other, other.id, other.meta, other.text) == (
            document,
            "a  b",
            {"year": 2021},
            "Hi ! Bye",
        )


def test_is_written_with_its_id() -> None:
    document = two()
    lines = document.to_conllu().splitlines()
    assert lines[:3] == ["# newdoc id = a b", "# newpar", "# sent_id = a_b-1"]
    assert document[0].comments == ["# newpar"]
    document.id = None
    assert document.to_conllu().startswith("# newdoc\n# newpar\n# sent_id = 1\n")
    assert document.to_conllu().endswith("\n# sent_id = 2\n" + document[1].to_conllu())
    assert Document().to_conllu() == ""
    golden = Document(list(read_conllu(GOLDEN))[:3])  # which have ids
    assert GOLDEN.read_text(encoding="utf-8").startswith(golden.to_conllu())
    golden.id = "new"
    assert golden.to_conllu().splitlines()[0] == "# newdoc id = new"
    assert golden.to_conllu().count("# newdoc") == 1


def test_becomes_json() -> None:
    document = two()
    value = json.loads(json.dumps(document.to_dict()))
    assert {key: value[key] for key in ("id", "text", "meta")} == {
        "id": "a  b",
        "text": "Hi ! Bye",
        "meta": {"year": 2021},
    }
    assert [sentence["sent_id"] for sentence in value["sentences"]] == ["a_b-1", "a_b-2"]
    tokens = [sentence.to_dict()["tokens"] for sentence in document]
    assert [sentence["tokens"] for sentence in value["sentences"]] == tokens
    assert Document(document).text == "Hi ! Bye"


def test_says_what_it_is() -> None:
    document = two()
    assert repr(document) == "<Document 'a  b': 2 sentences, 3 words: Hi ! Bye>"
    assert repr(Document(document[1:])) == "<Document: 1 sentence, 1 word: Bye>"
    long = Document([Sentence(["word"] * 100)])
    assert len(repr(long)) < 130
    assert len(repr(long[0])) < 100


def test_notebooks_draw_trees() -> None:
    document = two()
    for drawn, trees in ((document, 2), (document[0], 0)):
        picture = ElementTree.fromstring(drawn._repr_svg_())
        assert len(picture.findall(f"{SVG}svg")) == trees
        assert drawn._repr_svg_() in drawn._repr_html_()
    many = Document(document[:1] * 60)
    assert many._repr_html_().endswith("<p>and 10 more sentences</p>")
    assert len(ElementTree.fromstring(many._repr_svg_()).findall(f"{SVG}svg")) == 50


def test_names_are_explained() -> None:
    for name, meaning in {
        "nsubj": "nominal subject",
        "nsubj:pass": "passive nominal subject",
        "nsubj:caus": "nominal subject (caus)",
        "NOUN": "noun",
        "Case": "case",
        "case": "case marker, such as a preposition",
        "Case=Gen": "case: genitive",
        "Number[psor]=Plur": "number: plural",
        "PronType=Int,Rel": "type of pronoun: interrogative or relative",
        "Foreign=Yes": "foreign word",
        "Case=Own": "case: Own",
        "something": None,
        "some:thing": None,
        "Some=Thing": None,
        "NOUN:x": None,
    }.items():
        assert treecrf.explain(name) == meaning, name


def test_every_relation_and_tag_of_universal_dependencies_is_explained() -> None:
    relations = (
        "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det "
        "discourse dislocated expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl "
        "orphan parataxis punct reparandum root vocative xcomp"
    )
    tags = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
    assert all(map(treecrf.explain, relations.split() + tags.split()))
