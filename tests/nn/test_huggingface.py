"""Pieces by the tokenizers of Hugging Face: any string is a word, and a word stands for itself."""

import pytest

from treecrf.nn.huggingface import HuggingFacePieces

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> HuggingFacePieces:
    """Those of bytes, as RoBERTa has them."""
    folder = tmp_path_factory.mktemp("roberta")
    letters = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    numbers = {piece: number for number, piece in enumerate([*SPECIAL, *sorted(letters)])}
    model = tokenizers.models.BPE(vocab=numbers, merges=[], unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)
    names = {"cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    names |= {"mask_token": "<mask>"}
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    made.save_pretrained(folder)
    transformers.RobertaConfig(vocab_size=len(numbers)).save_pretrained(folder)
    return HuggingFacePieces(folder, limit=32, longest=512)


@pytest.mark.parametrize("word", [*SPECIAL, "a</s>b"])
def test_a_word_is_no_special_piece(word: str, pieces: HuggingFacePieces) -> None:
    found = pieces.cut(word)
    assert len(found) == 1 + len(word)  # a byte each, and the space before it
    assert min(found) >= len(SPECIAL)


@pytest.mark.parametrize("word", ["\ud800", "a\udfffb"])
def test_half_of_a_character_is_a_word(word: str, pieces: HuggingFacePieces) -> None:
    assert pieces.cut(word) == pieces.cut(word.replace("\ud800", "?").replace("\udfff", "?"))
