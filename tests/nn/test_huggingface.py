"""Pieces by the tokenizers of Hugging Face: any string is a word, and a word stands for itself."""

import pytest

from tests.parser.encoders import SPECIAL, save_byte_pieces
from treecrf.nn.transformer.huggingface import HuggingFacePieces

transformers = pytest.importorskip("transformers")
pytest.importorskip("tokenizers")


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> HuggingFacePieces:
    """Those of bytes, as RoBERTa has them."""
    folder = tmp_path_factory.mktemp("roberta")
    known = save_byte_pieces(folder, mask_token="<mask>")
    transformers.RobertaConfig(vocab_size=known).save_pretrained(folder)
    return HuggingFacePieces(folder, limit=32, longest=512)


@pytest.mark.parametrize("word", [*SPECIAL, "a</s>b"])
def test_a_word_is_no_special_piece(word: str, pieces: HuggingFacePieces) -> None:
    found = pieces.cut(word)
    assert len(found) == 1 + len(word)  # a byte each, and the space before it
    assert min(found) >= len(SPECIAL)


@pytest.mark.parametrize("word", ["\ud800", "a\udfffb"])
def test_half_of_a_character_is_a_word(word: str, pieces: HuggingFacePieces) -> None:
    assert pieces.cut(word) == pieces.cut(word.replace("\ud800", "?").replace("\udfff", "?"))
