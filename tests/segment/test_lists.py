"""A sentence ends before each item of a list, whatever a network says of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.segment.texts import untrained
from treecrf.segment import Segmenter, SegmenterConfig, rebuild_text
from treecrf.segment.characters import Alphabet
from treecrf.segment.network import CharacterNetwork

EVERYWHERE = untrained(bias=(-1000.0, 1000.0, -1000.0), joins=False)
NOWHERE = untrained(bias=(-1000.0, -1000.0, -1000.0), joins=False)


def wide(bias: float) -> Segmenter:
    """A segmenter with the usual context, which ends a sentence everywhere or nowhere."""
    config = SegmenterConfig(lstm_layers=1, lstm_size=4)
    alphabet = Alphabet("ab\n")
    network = CharacterNetwork(len(alphabet), config)
    network.output.bias.data[0] = -1000.0
    network.output.bias.data[1] = bias
    made = untrained()
    return Segmenter(
        config, network, alphabet=alphabet, splitter=made.splitter, joins=NOWHERE.joins
    )


def cut(text: str, bias: float = -1000.0) -> list[str]:
    return [" ".join(sentence.forms) for sentence in wide(bias).segment(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("a b\n- a\n- b a\n", ["a b", "- a", "- b a"]),
        ("- a\r\n- b\r\n", ["- a", "- b"]),
        ("* a\nb b\n* a", ["* a b b", "* a"]),
        ("  + a\n\t+ b", ["+ a", "+ b"]),
        ("1. a\n2. b\nb\n3. a", ["1. a", "2. b b", "3. a"]),
        ("a:\n9) a\n10) b", ["a:", "9) a", "10) b"]),
        ("- a\n• b\n- b", ["- a", "• b", "- b"]),
        ("a\n• b", ["a", "• b"]),
        # No lists.
        ("a\n- b", ["a - b"]),
        ("a\n- b\n\n- a", ["a - b", "- a"]),
        ("a\n* b\n- b", ["a * b - b"]),
        ("a\n2. b\n2. b", ["a 2. b 2. b"]),
        ("a\n2. b\n3) b", ["a 2. b 3) b"]),
        ("a - b\nb - a", ["a - b b - a"]),
        ("a\n-b\n-a", ["a -b -a"]),
        ("a\n-\n- b", ["a - - b"]),
        ("a\n1990. b\n1991. b", ["a 1990. b 1991. b"]),
    ],
)
def test_items_are_sentences(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


def test_no_sentence_ends_after_the_mark_of_an_item() -> None:
    assert cut("a\n1. b\n2. a a", bias=1000.0) == ["a", "1. b", "2. a", "a"]
    assert cut("- a\n- b", bias=1000.0) == ["- a", "- b"]
    assert cut("- a", bias=1000.0) == ["-", "a"]


def test_long_lists_are_cut_as_short_ones_are() -> None:
    items = [f"- {'ab ' * (number % 9 + 1)}".strip() for number in range(3000)]
    assert cut("\n".join(items)) == items


@given(st.text("a1.)-* \n\r\u2022", max_size=100))
def test_no_text_is_lost(text: str) -> None:
    for segmenter in (EVERYWHERE, NOWHERE):
        found = rebuild_text(segmenter.segment(text))
        assert found == (text if text.strip() else "")
