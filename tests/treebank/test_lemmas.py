"""Lemma rules: what makes a lemma of a form, and makes it again of other forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treecrf.treebank.lemmas import IDENTITY, apply_rule, find_rule, letter_case


@pytest.mark.parametrize(
    ("form", "lemma", "rule"),
    [
        ("dog", "dog", "lower|0|0"),
        ("Dogs", "dog", "lower|0|1"),
        ("Paris", "Paris", "same|0|0"),
        ("PARIS", "Paris", "title|0|0"),
        ("usa", "USA", "upper|0|0"),
        ("flies", "fly", "lower|0|3y"),
        ("gegangen", "gehen", "lower|0|6hen"),
        ("is", "be", "=be"),
        ("1,000", "1000", "digits|0|0"),
    ],
)
def test_rules(form: str, lemma: str, rule: str) -> None:
    assert find_rule(form, lemma) == rule
    assert apply_rule(form, rule) == lemma


def test_a_rule_is_for_other_forms_too() -> None:
    assert apply_rule("Tries", find_rule("flies", "fly")) == "try"
    assert apply_rule("Cats", find_rule("dogs", "dog")) == "cat"
    assert apply_rule("Word", IDENTITY) == "Word"


@pytest.mark.parametrize("rule", ["lower|0|3y", "same|2|1", "lower", "lower|x|0", ""])
def test_a_rule_that_does_not_fit_has_no_lemma(rule: str) -> None:
    assert apply_rule("ab", rule) is None


@pytest.mark.parametrize(
    ("word", "case"),
    [
        ("dog", "lower"),
        ("Dog", "title"),
        ("A", "letter"),
        ("US", "upper"),
        ("iPad", "mixed"),
        ("3", "lower"),
        ("", "lower"),
    ],
)
def test_how_a_word_is_written(word: str, case: str) -> None:
    assert letter_case(word) == case


TEXT = st.text(min_size=1, max_size=12) | st.sampled_from(["İ", "ß", "ﬁn", "a|b", "3a", "x" * 300])


@given(TEXT, TEXT)
def test_every_lemma_has_a_rule_that_makes_it(form: str, lemma: str) -> None:
    assert apply_rule(form, find_rule(form, lemma)) == lemma


@pytest.mark.parametrize("rule", ["", "x", "=", "same|0", "other|0|0", f"same|{'9' * 5000}|0"])
def test_a_rule_that_is_none_makes_no_lemma(rule: str) -> None:
    assert not apply_rule("dogs", rule)
