"""Emoji have the same tag wherever they are."""

import pytest

import treecrf
from treecrf.parser import Parser
from treecrf.segment.boundaries import is_emoji
from treecrf.treebank import Sentence

TEXTS = (
    "I love this song 😍",
    "😍 I love this song",
    "The food was cold 😡 and the staff were rude.",
    "Great job 👏 everyone!",
    "🎉🎉🎉 We won! 🎉🎉🎉",
    "Running late, sorry 🙏🏽",
    "no way 😂😂😂 i can't stop laughing",
    "She said yes 💍❤️",
    "Coffee ☕ first, then work.",
    "👍",
    "Our flag 🇬🇧 was at the back",
    "The family 👨‍👩‍👧 came too.",
    "Lunch today: 🍔 🍟 🥤",
    "Not sure 🤷‍♀️ but maybe",
    "I 💙 NY",
)


@pytest.fixture(scope="module")
def parser() -> Parser:
    return treecrf.load("en", device="cpu")


@pytest.mark.parametrize("text", TEXTS)
def test_emoji_are_symbols(text: str, parser: Parser) -> None:
    tokens = [token for sentence in parser.parse(text) for token in sentence.tokens]
    found = [token for token in tokens if is_emoji(token.form)]
    assert found
    assert {token.upos for token in found} == {"SYM"}
    assert "punct" not in {token.deprel for token in found}


def test_other_words_are_no_emoji() -> None:
    words = ["©", "2", "—", "…", "日本", "😂x", "\u2192", "", ":)", "€"]
    assert not any(map(is_emoji, words))


def test_a_relation_that_was_given_stays(parser: Parser) -> None:
    given = Sentence(["Nice", "👏"], heads=[0, 1], deprels=["root", "punct"])
    [kept] = parser.parse_stream([given], keep_heads=True)
    assert kept.deprels == ["root", "punct"]
    assert kept.tokens[1].upos == "SYM"
