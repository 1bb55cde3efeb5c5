"""Ends of tokens that no network is asked about: around dashes and emoji, and none within one."""

from itertools import pairwise

import numpy as np
import pytest

from treecrf.segment.boundaries import with_certain_ends
from treecrf.segment.characters import OUTSIDE, codes_of


def pieces(text: str, *, everywhere: bool) -> list[str]:
    """The text cut where tokens end, for a network that would end one everywhere, or nowhere."""
    codes = np.append(codes_of(text), np.full(2, OUTSIDE, np.uint32))
    ends = with_certain_ends(codes, np.full(len(text), everywhere), before=codes[:0])
    stops = [0, *(np.flatnonzero(ends[:-1]) + 1).tolist(), len(text)]
    return [text[first:last] for first, last in pairwise(stops)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it—really", ["it", "—", "really"]),
        ("“No—”", ["“No", "—", "”"]),
        ("a——b", ["a", "——", "b"]),
        ("well-known", ["well-known"]),
        ("New York\u2013London", ["New York\u2013London"]),
        ("job👍", ["job", "👍"]),
        ("!😀😀.", ["!", "😀😀", "."]),
        ("I ❤️you", ["I ", "❤️", "you"]),
        ("great⭐.", ["great", "⭐", "."]),
        ("Time⏰now", ["Time", "⏰", "now"]),
        ("a⌚b⬛c", ["a", "⌚", "b", "⬛", "c"]),
        ("play▶on⏸off", ["play", "▶", "on", "⏸", "off"]),
        ("a↔️b", ["a", "↔️", "b"]),
        ("Brand™️.", ["Brand", "™️", "."]),
        ("no1️⃣.", ["no", "1️⃣", "."]),
        ("no1⃣.", ["no", "1⃣", "."]),
        ("5°C €1 © #1* a↔b Brand™ ■a ⓐ ⌂b ▲", ["5°C €1 © #1* a↔b Brand™ ■a ⓐ ⌂b ▲"]),
    ],
)
def test_dashes_and_emoji_are_apart(text: str, expected: list[str]) -> None:
    assert pieces(text, everywhere=False) == expected


@pytest.mark.parametrize("picture", ["❤️", "👍🏽", "👨‍👩‍👧", "1️⃣", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🏳️‍🌈", "🇩🇪"])
def test_a_picture_is_not_cut(picture: str) -> None:
    assert pieces(f"a{picture}b", everywhere=True) == ["a", picture, "b"]


def test_flags_are_apart_from_each_other() -> None:
    assert pieces("🇩🇪🇫🇷🇺", everywhere=True) == ["🇩🇪", "🇫🇷", "🇺"]


@pytest.mark.parametrize("text", ["a dog.", "क्‍ष", "Zürich", ""])
@pytest.mark.parametrize("after", ["", " —", " 😀"])  # whatever else is in the text
def test_all_else_is_the_network_s(text: str, after: str) -> None:
    expected = [f"{text} ", after[-1]] if after else [text]
    assert pieces(text + after, everywhere=False) == expected
    assert pieces(text + after, everywhere=True) == (list(text + after) or [""])
