"""Tokens that are known by their shape are whole, whatever a network says of them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.segment.texts import untrained
from treecrf.segment import Segmenter, SegmentError, rebuild_text
from treecrf.segment.shapes import _ANY_SHAPE, SHAPES, find_spans

EVERYWHERE = untrained(bias=(1000.0, 1000.0, 1000.0))
EVERYWHERE.shapes = tuple(SHAPES)
NOWHERE = untrained(bias=(-1000.0, -1000.0, -1000.0), joins=False)
NOWHERE.shapes = tuple(SHAPES)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see http://a.org/b?c=d&e=%20#f, or", ["http://a.org/b?c=d&e=%20#f"]),
        ("(https://a.org/b_(c)) now", ["https://a.org/b_(c)"]),
        ('"www.a.org." WWW.B.ORG!', ["www.a.org", "WWW.B.ORG"]),
        ("go to ftp://a.de/. Then", ["ftp://a.de/"]),
        ("mailto:a.b@c.de <x.y@z.org>.", ["mailto:a.b@c.de", "x.y@z.org"]),
        ("Hi @anna_b2, @bob: x@y a.@b", ["@anna_b2", "@bob"]),
        ("#fun (#Größe) #1 #2024x C# a#b", ["#fun", "#Größe", "#2024x", "C#"]),
        ("~/a/b.md. /usr/bin, ../x ./y/ C:\\a\\b.txt!", "~/a/b.md /usr/bin ../x ./y/ C:\\a\\b.txt"),
        ("and/or he/she 24/7 1/2/2000 / /s w/o", []),
        ("<b>bold</b><br/> a<b x>y <3 <>", ["<b>", "</b>", "<br/>"]),
        ("a.b(c) foo_1.bar.baz() end.(x) f(x) 1.x(y)", ["a.b", "foo_1.bar.baz"]),
        ("C++, c++ g++. C++17 A+++ 1++ a ++ A++ C#x .NET x.NET", "C++ c++ g++ C++17 .NET"),
        ("I/O TCP/IP. and I/Os, A/I/O he/she I/On", ["I/O", "TCP/IP", "I/Os"]),
        ("Y'all see y\u2019all? y'all's ya'll any'all", ["Y'all", "y\u2019all"]),
        ("Mr. A, Prof. Lee. prof. B the Rep. said Dr. C St. D", ["Mr.", "Prof."]),
    ],
)
def test_shapes(text: str, found: list[str] | str) -> None:
    expected = found.split() if isinstance(found, str) else found
    assert [text[start:stop] for start, stop in find_spans(text, SHAPES)] == expected


@pytest.mark.parametrize("segmenter", [EVERYWHERE, NOWHERE], ids=["everywhere", "nowhere"])
@pytest.mark.parametrize("shape", ["www.abc.de/a_b", "a.b@c.de", "@cab", "~/a/b.c"])
@pytest.mark.parametrize("before", ["", "abc ", "(", "bc " * 2500])
def test_they_are_tokens(segmenter: Segmenter, shape: str, before: str) -> None:
    text = f"{before}{shape}, {shape}."
    words = [word for sentence in segmenter.segment(text) for word in sentence.forms]
    assert words.count(shape) == 2
    [again] = segmenter.segment_texts([text])
    assert [word for sentence in again for word in sentence.forms] == words


def test_no_sentence_ends_before_the_mark_after_one() -> None:
    sentences = [" ".join(s.forms) for s in EVERYWHERE.segment("www.a.org. www.b.org! www.c.org")]
    assert sentences == ["www.a.org .", "www.b.org !", "www.c.org"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Mr. Bc", "Mr. B"),
        ("~/a/b c", "~/a/b c"),
        ("~/a/b\nc", "~/a/b"),
        ("~/a/b C", "~/a/b"),
        ("www.a.de c", "www.a.de"),
        ("a@b.de c", "a@b.de"),
    ],
)
def test_no_sentence_ends_where_it_certainly_goes_on(text: str, first: str) -> None:
    assert " ".join(EVERYWHERE.segment(text)[0].forms) == first


@given(st.text("ab @#/~.:w<>(\n", max_size=200))
def test_no_text_is_lost(text: str) -> None:
    for segmenter in (EVERYWHERE, NOWHERE):
        found = rebuild_text(segmenter.segment(text))
        assert found == (text if text.strip() else "")


def test_they_are_saved(tmp_path: Path) -> None:
    EVERYWHERE.save(tmp_path)
    assert Segmenter.load(tmp_path).shapes == tuple(SHAPES)
    assert Segmenter.ensemble([EVERYWHERE, EVERYWHERE]).shapes == tuple(SHAPES)
    path = tmp_path / "segmenter.json"
    path.write_text(path.read_text().replace('"hashtag"', '"sonnet"'))
    with pytest.raises(SegmentError, match="shapes is"):
        Segmenter.load(tmp_path)


def test_scores_elsewhere_stay() -> None:
    plain = untrained()
    shaped = untrained()
    shaped.shapes = tuple(SHAPES)
    text = "abc é ab.c www.ab.c/a. " * 10
    ((block, before),) = plain.score_stream([text])
    ((_, after),) = shaped.score_stream([text])
    changed = np.flatnonzero((before != after).any(1))
    allowed = {p for a, b in find_spans(block.text, SHAPES) for p in range(a - 1, b)}
    assert set(changed.tolist()) <= allowed


@given(st.text(st.sampled_from("aZx .:/@#<>+\\'\u2019()~-www0C\n"), max_size=30))
@example("mailto:a")
@example("go to www.x now")
@example("say y\u2019all, Mr. X")
def test_texts_that_are_not_looked_at_have_no_shape(text: str) -> None:
    if find_spans(text, SHAPES):
        assert _ANY_SHAPE.search(text)
