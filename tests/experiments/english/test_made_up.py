"""Made-up documents: templates become tokens, and all slots of all templates can be filled."""

from random import Random

from experiments.english.made_up import Words, made_up_documents, made_up_sentence
from experiments.english.templates import HEADINGS, ITEMS, LETTERS, SENTENCES
from treecrf.demo import generate_treebank
from treecrf.segment import rebuild_text


def test_marks_are_the_joints_of_tokens_and_words() -> None:
    sentence = made_up_sentence("You should¦n't¦'ve called f¬(¬x¬)¬.", after="\n")
    assert rebuild_text([sentence]) == "You shouldn't've called f(x).\n"
    assert sentence.forms == ["You", "should", "n't", "'ve", "called", "f", "(", "x", ")", "."]
    (multiword,) = sentence.multiwords
    assert (multiword.first, multiword.last, multiword.form) == (2, 4, "shouldn't've")


def test_every_template_can_be_filled() -> None:
    words = Words(generate_treebank(20), Random(1))
    for template in (*SENTENCES, *HEADINGS, *ITEMS, *(line for lines in LETTERS for line in lines)):
        filled = words.fill(template)
        assert not set(filled) & set("{}")
        assert rebuild_text([made_up_sentence(filled)]).split()


def test_documents_are_the_same_for_the_same_seed() -> None:
    treebank = list(generate_treebank(20))
    first, again, other = (made_up_documents(treebank, 30, seed=seed) for seed in (1, 1, 2))
    assert rebuild_text(first) == rebuild_text(again) != rebuild_text(other)
    assert sum(sentence.comments == ["# newdoc"] for sentence in first) == 30
    assert "\n- " in rebuild_text(first)
