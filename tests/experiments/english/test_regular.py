"""The lemmas of regular forms of known words."""

import pytest

from experiments.english.regular import regular_lemmas

WORDS = {
    "VERB": "dig interpret hope hop panic die free carry play model fix lower",
    "NOUN": "ache box city echo day car Box",
    "ADJ": "close hot happy low lower beautiful big",
}
KNOWN = {f"{word}\t{tag}": word for tag, words in WORDS.items() for word in words.split()}
LEMMAS = regular_lemmas(KNOWN)


@pytest.mark.parametrize(
    ("base", "tag", "forms"),
    [
        ("dig", "VERB", "digged digging"),
        ("interpret", "VERB", "interpreted interpreting interpretted"),
        ("hope", "VERB", "hoped hoping hopes"),
        ("hop", "VERB", "hopped hopping"),
        ("panic", "VERB", "panicked panicking"),
        ("die", "VERB", "died dying dies"),
        ("free", "VERB", "freed freeing frees"),
        ("carry", "VERB", "carried carrying carries"),
        ("play", "VERB", "played playing"),
        ("model", "VERB", "modelled modeled modelling modeling"),
        ("fix", "VERB", "fixed fixing fixes"),
        ("ache", "NOUN", "aches"),
        ("city", "NOUN", "cities"),
        ("echo", "NOUN", "echoes"),
        ("close", "ADJ", "closer closest"),
        ("hot", "ADJ", "hotter hottest"),
        ("happy", "ADJ", "happier happiest"),
        ("low", "ADJ", "lowest"),  # "lower" is a word of its own
    ],
)
def test_forms(base: str, tag: str, forms: str) -> None:
    assert {form: LEMMAS.get(f"{form}\t{tag}") for form in forms.split()} == dict.fromkeys(
        forms.split(), base
    )


def test_forms_that_are_left_to_the_network() -> None:
    for key in ("days\tNOUN", "cars\tNOUN", "beautifuller\tADJ", "lower\tADJ", "digging\tNOUN"):
        assert key not in LEMMAS
    assert "hoping\tVERB" not in regular_lemmas({"a\tVERB": "hope", "b\tVERB": "hoping"})


def test_forms_of_two_words_are_left_out() -> None:
    found = regular_lemmas({"a\tVERB": "bus", "b\tVERB": "buss"})
    assert found == {"buses\tVERB": "bus", "busses\tVERB": "buss"}  # not "bussing"
