"""The treebank generator: trees, seeds, shares, and words that only a held-out set has."""

import io
from itertools import islice

import pytest

from treecrf.demo import generate_treebank
from treecrf.treebank import Sentence, TreebankError, read_conllu, write_conllu
from treecrf.treebank.statistics import count
from treecrf.treebank.trees import is_projective, is_tree


def treebank(number: int, *, seed: int = 1, crossing: float = 0.0) -> list[Sentence]:
    return list(generate_treebank(number, seed=seed, crossing=crossing))


def is_crossing(sentence: Sentence) -> bool:
    return not is_projective([0, *sentence.heads])


PERSONS = {"man", "woman", "girl", "boy", "king"}
PERSONS |= {"doctor", "farmer", "teacher", "sailor", "painter"}


def is_person(lemma: str) -> bool:
    return lemma in PERSONS or lemma.endswith(("ist", "ner"))


@pytest.fixture(scope="module")
def thousand() -> list[Sentence]:
    return treebank(1000)


def test_every_sentence_is_a_projective_tree_with_one_root(thousand: list[Sentence]) -> None:
    for sentence in thousand:
        assert is_tree([0, *sentence.heads]), sentence
        assert not is_crossing(sentence), sentence
        for token in sentence.tokens:
            assert (token.head == 0) == (token.deprel == "root"), sentence
            assert "_" not in (token.form, token.lemma, token.upos, token.xpos, token.deprel)
            assert list(token.feats) == sorted(token.feats)


def test_sentences_are_short_and_varied(thousand: list[Sentence]) -> None:
    lengths = [len(sentence) for sentence in thousand]
    assert (min(lengths), max(lengths)) == (3, 25)
    assert 9 < sum(lengths) / len(lengths) < 12
    counts = count(thousand)
    assert len(counts.relations) >= 30
    assert {"nsubj:pass", "obl:tmod", "acl:relcl", "iobj", "flat"} <= set(counts.relations)
    assert len({sentence.text for sentence in thousand}) > 950


def test_every_sentence_comes_back_from_a_file(thousand: list[Sentence]) -> None:
    file = io.StringIO()
    write_conllu(thousand, file)
    file.seek(0)
    assert list(read_conllu(file)) == thousand


def test_the_text_is_the_forms_put_together(thousand: list[Sentence]) -> None:
    for number, sentence in enumerate(thousand, 1):
        assert sentence.comments == [
            f"# sent_id = generated-1-{number}",
            f"# text = {Sentence.from_tokens(sentence.tokens).text}",
        ]
        assert not sentence.text[0].islower()
        assert sentence.text[-2].isalnum()
        assert sentence.text[-1] in ".?!"
        assert " ," not in sentence.text


def test_a_sentence_depends_on_the_seed_and_its_number_alone(thousand: list[Sentence]) -> None:
    assert treebank(100) == thousand[:100]
    assert list(islice(generate_treebank(10**9), 10)) == thousand[:10]
    assert not {s.text for s in treebank(100, seed=2)} & {s.text for s in thousand[:100]}
    assert treebank(0) == []


def test_a_second_seed_has_words_that_the_first_has_not(thousand: list[Sentence]) -> None:
    seen = {form for sentence in thousand for form in sentence.forms}
    held_out = [token for item in treebank(300, seed=2) for token in item.tokens]
    unseen = [token for token in held_out if token.form not in seen]
    assert 0.02 < len(unseen) / len(held_out) < 0.15
    assert {"NOUN", "PROPN", "VERB", "ADJ", "ADV"} <= {token.upos for token in unseen}
    for token in unseen:
        assert (token.upos == "PROPN") <= token.form[0].isupper()


def test_a_preposition_is_on_what_its_noun_goes_with() -> None:
    relations: dict[str, set[str]] = {}
    for sentence in generate_treebank(3000):
        for token in sentence.tokens:
            if token.form == "with":
                noun = sentence.tokens[token.head - 1]
                relations.setdefault(noun.lemma, set()).add(noun.deprel)
    assert relations["telescope"] == relations["hammer"] == {"obl"}
    assert relations["beard"] == relations["lid"] == {"nmod"}


def test_a_relative_pronoun_is_on_the_nearest_noun_of_its_sort() -> None:
    far = 0
    for sentence in generate_treebank(3000):
        for token in sentence.tokens:
            if token.xpos in ("WP", "WDT") and token.upos == "PRON" and token.id > 1:
                verb = sentence.tokens[token.head - 1]
                noun = sentence.tokens[verb.head - 1]
                assert verb.deprel == "acl:relcl"
                assert (token.form == "who") == is_person(noun.lemma)
                far += noun.id < token.id - 1
    assert far > 10


def test_siblings_decide() -> None:
    """A verb has one location, and an indirect object only beside a direct one."""
    nested = 0
    for sentence in generate_treebank(3000):
        located = [0] * (len(sentence) + 1)
        objects = {token.head for token in sentence.tokens if token.deprel == "obj"}
        for token in sentence.tokens[3:]:  # a location may stand in front of the clause as well
            noun = sentence.tokens[token.head - 1]
            if token.form in ("near", "behind", "under"):
                located[noun.head] += noun.deprel == "obl"
                nested += noun.deprel == "nmod"
            assert token.deprel != "iobj" or token.head in objects
        assert max(located) <= 1
    assert nested > 50


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_a_share_of_sentences_crosses(share: float, thousand: list[Sentence]) -> None:
    crossing = treebank(1000, crossing=share)
    assert all(is_tree([0, *sentence.heads]) for sentence in crossing)
    assert abs(sum(map(is_crossing, crossing)) / 1000 - share) < 0.05
    for plain, sentence in zip(thousand, crossing, strict=True):
        assert sentence == plain or is_crossing(sentence)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_between_zero_and_one(share: float) -> None:
    with pytest.raises(TreebankError, match="the share of crossing sentences is between 0 and 1"):
        treebank(1, crossing=share)


def test_a_number_is_not_negative() -> None:
    with pytest.raises(TreebankError, match="the number of sentences is at least 0, not -1"):
        treebank(-1)
