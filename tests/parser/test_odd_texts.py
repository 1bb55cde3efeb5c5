"""Texts that are hardly text, through the model that comes with treecrf."""

import pytest

import treecrf
from tests.segment.texts import ODD
from treecrf.segment import rebuild_text
from treecrf.segment.spaces import surfaces
from treecrf.treebank.tokens import token_range
from treecrf.treebank.trees import is_tree


@pytest.fixture(scope="module")
def parser() -> treecrf.Parser:
    return treecrf.load(device="cpu")


@pytest.mark.parametrize("text", [*ODD, "\n\n".join(ODD)])
def test_every_token_is_where_it_says(text: str, parser: treecrf.Parser) -> None:
    sentences = parser.parse(text)
    assert rebuild_text(sentences) == (text if text.strip() else "")
    for sentence in sentences:
        assert is_tree([0, *sentence.heads])
        for token in surfaces(sentence):
            place = token_range(token.misc)
            assert place is not None
            assert text[slice(*place)] == token.form == token.form.strip() != ""
