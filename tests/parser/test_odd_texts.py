"""Texts that are hardly text, through the model that comes with treecrf."""

import pytest

import treecrf
from tests.segment.texts import ODD
from treecrf.segment import rebuild_text
from treecrf.treebank.tokens import surfaces
from treecrf.treebank.trees import is_tree


@pytest.fixture(scope="module")
def parser() -> treecrf.Parser:
    return treecrf.load(device="cpu")


@pytest.mark.filterwarnings("ignore::treecrf.LanguageWarning")  # of those in other scripts
@pytest.mark.parametrize("text", [*ODD, "\n\n".join(ODD)])
def test_every_token_is_where_it_says(text: str, parser: treecrf.Parser) -> None:
    sentences = parser.parse(text)
    assert rebuild_text(sentences) == (text if text.strip() else "")
    for sentence in sentences:
        assert is_tree([0, *sentence.heads])
        for token in surfaces(sentence.tokens, sentence.multiwords):
            assert text[token.start : token.end] == token.form == token.form.strip() != ""
