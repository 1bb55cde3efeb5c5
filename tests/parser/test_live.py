"""Paragraphs of a text that comes bit by bit: the same however it comes, in linear time."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treecrf.parser.files.live import paragraphs


def found(text: str) -> list[str]:
    """All paragraphs of a text, and the rest as the last."""
    parts: list[str] = []
    for some in paragraphs([text], lambda: False):
        parts += some if isinstance(some, list) else ["".join(some)]
    return parts


@given(st.text(alphabet="ab \n\t", max_size=40))
def test_a_paragraph_ends_with_the_blank_line_after_it(text: str) -> None:
    *whole, rest = found(text)
    expected = [match[0] for match in re.finditer(r"\s*\S.*?\n[ \t\r]*\n", text, re.DOTALL)]
    assert whole == expected
    assert "".join([*whole, rest]) == text


@pytest.mark.parametrize("piece", ["word ", "\n", "word\n", " \n"])
def test_time_is_linear(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        started = time.process_time()
        assert "".join(found(text)) == text
        return time.process_time() - started

    assert seconds(60_000) < 1
