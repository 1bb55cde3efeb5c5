"""The spaCy component gives spaCy's tokens the library's own trees, and goes where Docs go."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
from spacy import displacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from tests.parser.models import SMALL, VOCABULARY, random_parser
from treecrf.demo import generate_treebank
from treecrf.integrations.spacy import TreeCRFComponent
from treecrf.integrations.spacy.noun_chunks import noun_chunks
from treecrf.parser import Parser, ParserError

TEXT = "Anna saw the garden. The dog that she knows slept in it."


def pipeline(folder: Path, *, sentencizer: bool = True) -> Language:
    nlp = spacy.blank("en")
    if sentencizer:
        nlp.add_pipe("sentencizer")
    nlp.add_pipe("treecrf", config={"model": str(folder), "device": "cpu"})
    return nlp


def trees(doc: Doc) -> list[tuple[list[int], list[str]]]:
    """Heads and relations of each sentence, as the library has them."""
    return [
        (
            [0 if t.head == t else t.head.i - sentence.start + 1 for t in sentence],
            ["root" if t.dep_ == "ROOT" else t.dep_ for t in sentence],
        )
        for sentence in doc.sents
    ]


def test_a_thousand_sentences_have_the_trees_of_the_library(model: Path, wordy: Parser) -> None:
    texts = [sentence.text for sentence in generate_treebank(1000, seed=7)]
    docs = list(pipeline(model).pipe(texts, batch_size=64))
    assert [doc.text for doc in docs] == texts
    sentences = [sentence for doc in docs for sentence in doc.sents]
    assert len(sentences) >= 1000
    parsed = wordy.parse_tokens([[token.text for token in sentence] for sentence in sentences])
    # The root of a sentence is ROOT in spaCy, whatever relation a model gives it.
    expected = [
        (s.heads, [r if h else "root" for h, r in zip(s.heads, s.deprels, strict=True)])
        for s in parsed
    ]
    assert [tree for doc in docs for tree in trees(doc)] == expected
    probs = [token._.head_prob for doc in docs for token in doc]
    assert probs == pytest.approx([prob for s in parsed for prob in s.probs or []], abs=1e-4)


def test_the_component_is_found_without_an_import(model: Path) -> None:
    code = (
        "import spacy\n"
        "nlp = spacy.blank('en')\n"
        "nlp.add_pipe('sentencizer')\n"
        f"nlp.add_pipe('treecrf', config={{'model': {str(model)!r}}})\n"
        "print(nlp('Anna saw the garden.').has_annotation('DEP'))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "True\n", run.stderr


def test_the_segmenter_finds_sentences_where_nothing_else_has(
    full_model: Path, parser: Parser
) -> None:
    doc = pipeline(full_model, sentencizer=False)(TEXT)
    expected = [sentence.text for sentence in parser.parse(TEXT)]
    assert [sentence.text for sentence in doc.sents] == expected
    assert len(expected) == 2


def test_sentences_that_are_there_stay(full_model: Path) -> None:
    nlp = pipeline(full_model, sentencizer=False)
    doc = Doc(nlp.vocab, words=TEXT.split(), sent_starts=[n == 2 for n in range(len(TEXT.split()))])
    starts = [sentence.start for sentence in nlp(doc).sents]
    assert starts == [0, 2]


def test_without_sentences_and_segmenter_it_says_what_to_add(model: Path) -> None:
    with pytest.raises(ParserError, match=r"nlp\.add_pipe\('sentencizer', before='treecrf'\)"):
        pipeline(model, sentencizer=False)(TEXT)


def test_white_space_hangs_on_the_word_before_it(full_model: Path, parser: Parser) -> None:
    nlp = pipeline(full_model, sentencizer=False)
    doc = nlp(" \n Anna  saw the garden.\n\n")
    spaces = [token for token in doc if token.is_space]
    assert len(spaces) == 3
    words = [token for token in doc if not token.is_space]
    assert [space.head for space in spaces] == [words[0], words[0], words[-1]]
    assert {space.dep_ for space in spaces} == {"dep"}
    assert {space._.head_prob for space in spaces} == {None}
    expected = parser.parse_tokens([[word.text for word in words]])[0].heads
    heads = [0 if word.head == word else words.index(word.head) + 1 for word in words]
    assert heads == expected


@pytest.mark.parametrize("text", ["", " ", "\n\n \n", "Anna", "a\tb"])
def test_odd_texts(full_model: Path, text: str) -> None:
    for sentencizer in (True, False):
        doc = pipeline(full_model, sentencizer=sentencizer)(text)
        assert doc.text == text
        assert not len(doc) or doc.has_annotation("DEP")
        assert all(sentence.root.dep_ == "ROOT" for sentence in doc.sents)


def test_a_pipeline_on_disk_has_the_model_in_it(full_model: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    nlp = pipeline(full_model, sentencizer=False)
    expected = trees(nlp(TEXT))
    nlp.get_pipe("treecrf").parser.save(gone)  # type: ignore[attr-defined]
    pipeline(gone, sentencizer=False).to_disk(tmp_path / "pipeline")
    gone.rename(tmp_path / "moved")
    loaded = spacy.load(tmp_path / "pipeline")
    assert loaded.config["components"]["treecrf"]["model"] == str(gone)
    assert trees(loaded(TEXT)) == expected


def test_a_pipeline_on_disk_may_leave_the_model_where_it_is(
    full_model: Path, tmp_path: Path
) -> None:
    nlp = pipeline(full_model)
    nlp.to_disk(tmp_path / "pipeline", exclude=["treecrf"])
    assert not (tmp_path / "pipeline" / "treecrf").exists()
    assert trees(spacy.load(tmp_path / "pipeline")(TEXT)) == trees(nlp(TEXT))


def test_bytes_have_the_model_in_them(full_model: Path) -> None:
    nlp = pipeline(full_model, sentencizer=False)
    other = spacy.blank("en")
    other.add_pipe("treecrf")
    other.from_bytes(nlp.to_bytes())
    assert trees(other(TEXT)) == trees(nlp(TEXT))


def test_docs_keep_their_probabilities(model: Path) -> None:
    nlp = pipeline(model)
    doc = nlp(TEXT)
    (again,) = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    assert trees(again) == trees(doc)
    probs = [token._.head_prob for token in again]
    assert probs == [token._.head_prob for token in doc]
    assert all(0 <= prob <= 1.001 for prob in probs)


def test_displacy_draws_the_trees(model: Path) -> None:
    doc = pipeline(model)("Anna saw the garden.")
    drawn = displacy.render(doc, style="dep", jupyter=False, options={"collapse_punct": False})
    assert drawn.count('class="displacy-arc"') == sum(token.head != token for token in doc)
    assert "garden" in drawn


def test_a_folder_without_a_model_is_refused_at_once(model: Path) -> None:
    with pytest.raises(ParserError, match="not a model folder"):
        pipeline(model.parent)


def test_the_english_model_is_used_by_name_and_not_copied(tmp_path: Path) -> None:
    for config in ({}, {"model": "en"}):
        nlp = spacy.blank("en")
        nlp.add_pipe("treecrf", config=config)
        doc = nlp(TEXT)
        assert [sentence.root.text for sentence in doc.sents] == ["saw", "slept"]
        nlp.to_disk(tmp_path / "pipeline")
        assert not (tmp_path / "pipeline" / "treecrf").exists()
        assert trees(spacy.load(tmp_path / "pipeline")(TEXT)) == trees(doc)
        other = spacy.blank("en")
        other.add_pipe("treecrf", config=config)
        assert trees(other.from_bytes(nlp.to_bytes())(TEXT)) == trees(doc)


def test_tags_are_read_and_given(tmp_path: Path) -> None:
    config = replace(SMALL, tags="upos", predict=("upos",), multiroot=True)
    random_parser(config).save(tmp_path / "model")
    component = TreeCRFComponent(str(tmp_path / "model"), device="cpu")
    vocab = spacy.blank("en").vocab
    with pytest.raises(ParserError, match="add a tagger before it"):
        component(Doc(vocab, words=["a", "dog"], sent_starts=[True, False]))
    tagged = Doc(vocab, words=["a", "dog"], pos=["NOUN", "VERB"], sent_starts=[True, False])
    assert [token.pos_ for token in component(tagged)] == ["NOUN", "VERB"]
    random_parser(replace(config, tags="none")).save(tmp_path / "tagger")
    component = TreeCRFComponent(str(tmp_path / "tagger"), device="cpu")
    doc = component(Doc(vocab, words=["a", "dog", "b", "c"], sent_starts=[True] + 3 * [False]))
    assert {token.pos_ for token in doc} <= set(VOCABULARY.columns["upos"])
    assert len(list(doc.sents)) == 1


CHUNKS = {
    "The big, red dog of my old neighbour saw Anna's cat.": [
        "The big, red dog",
        "my old neighbour",
        "Anna's cat",
    ],
    "She is a doctor, and Peter became a teacher.": ["She", "a doctor", "Peter", "a teacher"],
    "There were two dogs and a cat in the house.": ["two dogs", "a cat", "the house"],
    "Barack Obama spoke to the New York Times.": ["Barack Obama", "the New York Times"],
}


def test_noun_chunks_are_found_by_universal_dependencies() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("treecrf", config={"device": "cpu"})
    docs = list(nlp.pipe(CHUNKS))
    assert [[chunk.text for chunk in doc.noun_chunks] for doc in docs] == list(CHUNKS.values())
    (again,) = DocBin(docs=docs[:1]).get_docs(nlp.vocab)
    assert [chunk.text for chunk in again.noun_chunks] == next(iter(CHUNKS.values()))
    sentence = next(docs[2].sents)
    assert [chunk.text for chunk in sentence.noun_chunks] == list(CHUNKS.values())[2]


def test_noun_chunks_of_a_tree_that_is_given() -> None:
    words = ["la", "maison", "blanche", "de", "Anna", "et", "le", "chien"]
    tags = ["DET", "NOUN", "ADJ", "ADP", "PROPN", "CCONJ", "DET", "NOUN"]
    heads, deps = (
        [1, 1, 1, 4, 1, 7, 7, 1],
        ["det", "ROOT", "amod", "case", "nmod", "cc", "det", "conj"],
    )
    doc = Doc(spacy.blank("fr").vocab, words=words, pos=tags, heads=heads, deps=deps)
    found = [doc[start:end].text for start, end, _ in noun_chunks(doc)]
    assert found == ["la maison blanche", "Anna", "le chien"]
    bare = Doc(doc.vocab, words=words, heads=heads, deps=deps)
    with pytest.raises(ValueError, match=r"noun_chunks need universal tags, .* token\.pos"):
        list(noun_chunks(bare))


def test_the_english_model_is_not_taken_for_another_language() -> None:
    nlp = spacy.blank("de")
    with pytest.raises(ParserError, match=r"for German \(de\), .* for English \(en\): .* 'en'"):
        nlp.add_pipe("treecrf")
    nlp.add_pipe("treecrf", config={"model": "en"})  # which says that it is meant
    assert nlp("Anna slept.").has_annotation("DEP")


def test_a_model_of_ones_own_is_for_any_language(model: Path) -> None:
    nlp = spacy.blank("de")
    nlp.add_pipe("treecrf", config={"model": str(model)})


def test_the_analysis_of_a_pipeline_knows_what_is_set() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("treecrf")
    found = nlp.analyze_pipes()["attrs"]
    for name in ("token.pos", "token.dep", "token.head", "doc.sents", "token.is_sent_start"):
        assert found[name]["assigns"] == ["treecrf"]
