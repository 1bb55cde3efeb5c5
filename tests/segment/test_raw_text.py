"""The text of a treebank is what its comments and MISC say, and windows of it carry its labels."""

import numpy as np

from tests.segment.texts import TINY, sentence_of, treebank
from treecrf.segment.characters import OUTSIDE, CharacterClass, classes_of, codes_of
from treecrf.segment.shapes import SHAPES
from treecrf.segment.training.conventions import find_joins, find_shapes, multiwords_of
from treecrf.segment.training.raw_text import (
    MULTIWORD,
    SENTENCE,
    TOKEN,
    cut_runs,
    draw_windows,
    raw_sentences,
    raw_text,
)
from treecrf.treebank import Sentence, Token


def test_paragraphs_are_separated_by_a_blank_line() -> None:
    sentences = [sentence_of(text) for text in ("One~ .", "Two~ .~", "Three", "Four", "Five~ !")]
    sentences[3].comments = ["# newpar id = x"]
    sentences[4].comments = ["#newdoc"]
    text = raw_text(raw_sentences(sentences))
    assert text == "One. Two.Three\n\nFour\n\nFive! "


def test_spaces_are_those_of_misc() -> None:
    tokens = [
        Token(1, "a", misc="SpacesBefore=\\t|SpacesAfter=\\s\\n"),
        Token(2, "b|", misc="X=y|SpacesAfter=\\r\\n\\\\\\p\\q"),
        Token(3, "c", misc="SpacesAfter=\\u00A0\\u2003"),
        Token(4, "d", misc="SpacesAfter=\\u0041\\uD800"),  # neither is white space
    ]
    expected = "\ta \nb|\r\n\\|\\qc\xa0\u2003d\\u0041\\uD800"
    assert raw_text(raw_sentences([Sentence.from_tokens(tokens)])) == expected


def test_the_comment_is_the_text_where_the_tokens_are_in_it() -> None:
    for comment, text in [("# text = one,  two", "one,  two"), ("# text = else", "one , two")]:
        sentence = Sentence(["one", ",", "two"], comments=[comment])
        (raw,) = raw_sentences([sentence])
        assert raw.text == text
        assert [raw.text[end] for end in np.flatnonzero(raw.labels & TOKEN)] == ["e", ",", "o"]


def test_labels() -> None:
    (raw,) = raw_sentences([sentence_of("I~ don't 1_000~ .", **{"don't": ["do", "n't"]})])
    assert raw.text == "Idon't 1 000."
    ends = {TOKEN: [0, 5, 11, 12], MULTIWORD: [5], SENTENCE: [12]}
    for label, places in ends.items():
        assert np.flatnonzero(raw.labels & label).tolist() == places
    joins = find_joins([raw])
    assert np.argwhere(joins).tolist() == [[CharacterClass.DIGIT, CharacterClass.DIGIT]]
    sentence = sentence_of("we'll", **{"we'll": ["we", "'ll"]})
    assert list(multiwords_of([sentence])) == [("we'll", ("we", "'ll"))]


def test_windows_hold_the_whole_text_with_its_labels() -> None:
    raw = raw_sentences(treebank(60))
    plain = TINY.changed({"line_breaks": 0.0, "text_ends": 0.0})
    random = np.random.default_rng(1)
    windows = draw_windows(cut_runs(raw), plain, joins=find_joins(raw), random=random)
    inside = windows.codes != OUTSIDE
    text = "".join(map(chr, windows.codes[inside]))
    letters = "".join(sentence.text for sentence in raw)
    assert sorted(text.replace("\n", "").replace(" ", "")) == sorted(letters.replace(" ", ""))
    for output, label in enumerate((TOKEN, SENTENCE, MULTIWORD)):
        expected = sum(int((sentence.labels & label > 0).sum()) for sentence in raw)
        assert windows.targets[..., output].sum() == expected
    space = windows.classes <= CharacterClass.LINE_BREAK
    assert not windows.targets[space].any()
    assert not windows.asked[space].any()


def test_layouts_add_line_breaks_and_text_ends_but_no_sentence_ends() -> None:
    raw = raw_sentences(treebank(200))
    changed = TINY.changed({"line_breaks": 0.99, "text_ends": 0.5})
    random = np.random.default_rng(1)
    windows = draw_windows(cut_runs(raw), changed, joins=find_joins(raw), random=random)
    rows = ["".join(map(chr, row)) for row in np.where(windows.codes == OUTSIDE, 0, windows.codes)]
    assert sum("\n" in row for row in rows) > len(rows) / 2
    cut = [row for row in rows if row.startswith("\0") != row.endswith("\0")]
    assert len(cut) > len(rows) / 4
    ends = windows.targets[:, :-1, 1]
    following = windows.classes[:, 1:]
    assert (following[ends] <= CharacterClass.LINE_BREAK).all()


def test_classes_know_characters_that_training_never_saw() -> None:
    classes = classes_of(codes_of("Éñ語\u0308٣(»—!€\u200d \t\n"))
    assert [CharacterClass(number).name for number in classes] == [
        "UPPER",
        "LOWER",
        "LETTER",
        "MARK",
        "DIGIT",
        "OPENING",
        "CLOSING",
        "DASH",
        "PUNCTUATION",
        "SYMBOL",
        "OTHER",
        "SPACE",
        "CONTROL_SPACE",
        "LINE_BREAK",
    ]


def test_some_text_changes_its_case_and_loses_its_stops() -> None:
    raw = raw_sentences([sentence_of("Peter saw İt~ ."), *treebank(100)])
    plain = TINY.changed({"line_breaks": 0.0, "text_ends": 0.0})
    changed = plain.changed({"letter_case": 0.5, "lost_stops": 0.5})
    texts = []
    for config in (plain, changed):
        random = np.random.default_rng(1)
        runs = [[sentence] for sentence in raw]
        windows = draw_windows(runs, config, joins=find_joins(raw), random=random)
        ends = windows.targets[..., 1].sum()
        assert ends == len(raw)
        texts.append("".join(map(chr, windows.codes[windows.codes != OUTSIDE])))
    before, after = texts
    assert "PETER" not in before
    assert "PETER" in after
    assert after.count("peter") > before.count("peter")
    assert 0.3 < after.count(".") / before.count(".") < 0.7


def test_shapes_that_the_treebank_splits_are_not_kept_whole() -> None:
    whole = raw_sentences([sentence_of("see www.a.org/b~ , @ann and me@b.com")])
    split = raw_sentences([sentence_of("see @~ ann and #~ tag~ .")])
    assert find_shapes(whole) == list(SHAPES)
    assert find_shapes([*whole, *split]) == [n for n in SHAPES if n not in ("handle", "hashtag")]
