"""Multiword tokens are split as training has shown, and unseen ones by its rules."""

import pytest

from treecrf.segment import SegmentError
from treecrf.segment.multiwords import Splitter, learn_splitter

ENGLISH = [
    ("don't", ("do", "n't")),
    ("Don't", ("Do", "n't")),
    ("didn't", ("did", "n't")),
    ("won't", ("wo", "n't")),
    ("isn't", ("is", "n't")),
    ("Bush's", ("Bush", "'s")),
    ("it's", ("it", "'s")),
    ("China's", ("China", "'s")),
    ("we'll", ("we", "'ll")),
    ("they'll", ("they", "'ll")),
    ("cannot", ("can", "not")),
]
HAVE = [("I've", ("I", "'ve")), ("you've", ("you", "'ve"))]
ITALIAN = [
    *[("della", ("di", "la"))] * 3,
    ("della", ("de", "la")),
    ("alla", ("a", "la")),
    ("dalla", ("da", "la")),
    ("nel", ("in", "il")),
    ("darlo", ("dare", "lo")),
    ("dirlo", ("dire", "lo")),
    ("farlo", ("fare", "lo")),
    ("portatolo", ("portato", "lo")),
    ("fattolo", ("fatto", "lo")),
    ("averla", ("avere", "la")),
    ("esserla", ("essere", "la")),
]
HEBREW_LIKE = [("wbayit", ("w", "bayit")), ("wkelev", ("w", "kelev")), ("hyom", ("h", "yom"))]


@pytest.mark.parametrize(
    ("data", "form", "words"),
    [
        (ENGLISH, "don't", ("do", "n't")),
        (ENGLISH, "DON'T", ("DO", "N'T")),
        (ENGLISH, "Cannot", ("Can", "not")),
        (ENGLISH, "wouldn't", ("would", "n't")),  # from here on, unseen ones
        (ENGLISH, "MUSTN'T", ("MUST", "N'T")),
        (ENGLISH, "Obama's", ("Obama", "'s")),
        (ENGLISH, "You'll", ("You", "'ll")),
        (ENGLISH, "n't", ("n't",)),
        (ENGLISH, "banana", ("banana",)),
        ([*ENGLISH, *HAVE], "didn't've", ("did", "n't", "'ve")),
        ([*ENGLISH, *HAVE], "It'll've", ("It'll", "'ve")),
        ([*ENGLISH, *HAVE], "We'll've", ("We", "'ll", "'ve")),
        ([*ENGLISH, *HAVE], "cannot've", ("cannot", "'ve")),
        (ITALIAN, "della", ("di", "la")),
        (ITALIAN, "Della", ("Di", "la")),
        (ITALIAN, "DELLA", ("DI", "LA")),
        (ITALIAN, "Nel", ("In", "il")),
        (ITALIAN, "mandarlo", ("mandare", "lo")),
        (ITALIAN, "cantatolo", ("cantato", "lo")),
        (ITALIAN, "Prenderla", ("Prendere", "la")),
        (HEBREW_LIKE, "wsefer", ("w", "sefer")),
        ([], "don't", ("don't",)),
    ],
)
def test_splits(data: list[tuple[str, tuple[str, ...]]], form: str, words: tuple[str, ...]) -> None:
    splitter = learn_splitter(data)
    assert splitter.split(form) == words
    assert Splitter.from_dict(splitter.to_dict()).split(form) == words


def test_a_split_that_case_does_not_explain_is_kept_for_the_form() -> None:
    splitter = learn_splitter([("im", ("i", "m")), ("IM", ("I", "am"))])
    assert splitter.split("im") == ("i", "m")
    assert splitter.split("Im") == ("I", "m")
    assert splitter.split("IM") == ("I", "am")


def test_a_letter_that_changes_its_length_is_left_alone() -> None:
    assert learn_splitter(ENGLISH).split("İn't") == ("İn't",)


def test_only_short_tokens_are_remembered() -> None:
    splitter = learn_splitter(ENGLISH)
    long = "x" * 16_000 + "n't"
    assert [splitter.split(form) for form in ("mustn't", long)] == [
        ("must", "n't"),
        ("x" * 16_000, "n't"),
    ]
    assert list(splitter._known) == ["mustn't"]


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"splits": {}, "rules": {}},
        {"splits": {"a": "b"}, "rules": {"suffix": {}, "prefix": {}}},
        {"splits": {"a": ["b", ""]}, "rules": {"suffix": {}, "prefix": {}}},
        {"splits": {"a": ["b", "\t"]}, "rules": {"suffix": {}, "prefix": {}}},
        {"splits": {}, "rules": {"suffix": {"": ["a", "b"]}, "prefix": {}}},
        {"splits": {}, "rules": {"suffix": [], "prefix": {}}},
    ],
)
def test_damaged_splits_are_an_error(data: object) -> None:
    with pytest.raises(SegmentError):
        Splitter.from_dict(data)
