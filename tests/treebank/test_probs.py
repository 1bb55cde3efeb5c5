"""How sure a parser was: read from what it set, or from what it wrote."""

import math

import pytest

from treecrf.treebank import Sentence, Token
from treecrf.treebank.probs import certainty, head_probs, heading, log_prob


def with_misc(*cells: str) -> Sentence:
    return Sentence.from_tokens(
        Token(number, "a", head=number - 1, misc=misc) for number, misc in enumerate(cells, 1)
    )


@pytest.mark.parametrize(
    ("misc", "prob"),
    [
        ("_", None),
        ("HeadProb=0.25", 0.25),
        ("SpaceAfter=No|HeadProb=1.0000", 1.0),
        ("HeadProb=0.5|x=HeadProb", 0.5),
        ("NotHeadProb=0.5", None),
        ("HeadProb=", None),
        ("HeadProb=nan", None),
        ("HeadProb=inf", None),
        ("HeadProb=87", None),
        ("HeadProb=-0.1", None),
        ("HeadProb=much", None),
    ],
)
def test_a_probability_in_misc(misc: str, prob: float | None) -> None:
    assert head_probs(with_misc(misc)) == [prob]


def test_what_a_parser_set_comes_first() -> None:
    sentence = with_misc("HeadProb=0.25", "HeadProb=0.25", "_")
    sentence.probs = [0.75, 1 + 1e-7, math.nan]
    assert head_probs(sentence) == [0.75, 1.0, None]


def test_a_word_without_a_head_has_no_probability() -> None:
    sentence = with_misc("HeadProb=0.25", "HeadProb=0.5")
    sentence.heads = [-1, 1]
    assert head_probs(sentence) == [None, 0.5]


@pytest.mark.parametrize(
    ("comment", "value"),
    [("# log_prob = -1.5", -1.5), ("#log_prob=-1e-3", -0.001), ("# log_prob = -inf", None)],
)
def test_the_log_probability_of_a_tree(comment: str, value: float | None) -> None:
    assert log_prob(Sentence(["a"], [0], comments=["# log_probable = 7", comment])) == value
    assert log_prob(Sentence(["a"], [0])) is None


def test_a_heading_says_which_tree_this_is() -> None:
    comments = ["# log_prob = -0.5", "# sent_id = s-1", "# rank = 2"]
    assert heading(Sentence(["a"], [0], comments=comments)) == "s-1, rank 2, log_prob -0.5"
    assert heading(Sentence(["a"], [0])) == ""


def test_certainty_falls_with_probability() -> None:
    probs = [1.0, 0.95, 0.9499, 0.7, 0.5, 0.0, None]
    names = ["sure", "sure", "likely", "unsure", "doubtful", "unlikely", "unknown"]
    assert [certainty(prob) for prob in probs] == names
