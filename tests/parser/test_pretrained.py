"""Encoders that we read ourselves cut words as BERT's own tokenizer does; others are left to it."""

import json
from pathlib import Path

import pytest

from treecrf.parser.errors import ParserError
from treecrf.parser.network.pretrained import Pretrained, load_pretrained

transformers = pytest.importorskip("transformers")

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LINES = ["\u2028", "\u0085", "\x1c"]  # lines end at these for `str.splitlines`
LETTERS = ["m", "u", "ü", "l", "日", "本"]
PIECES = [*SPECIAL, *LINES, *LETTERS, "M", *(f"##{letter}" for letter in LETTERS)]
WORDS = ["Müll", "müll", "mu\u0308ll", "mull", "日本", "m日", "Mu"]


def encoder(folder: Path, *, pieces: int = len(PIECES), **tokenizer: object) -> Path:
    """The description of a BERT, without weights."""
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = transformers.BertConfig(vocab_size=pieces, **sizes).to_dict()
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "bert"}))
    return folder


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [None, True, False])
@pytest.mark.parametrize("ideographs", [None, True, False])
def test_pieces_are_those_of_berts_tokenizer(
    lowercase: bool, strip_accents: bool | None, ideographs: bool | None, tmp_path: Path
) -> None:
    settings = {"do_lower_case": lowercase, "strip_accents": strip_accents}
    if ideographs is not None:
        settings["tokenize_chinese_chars"] = ideographs
    folder = encoder(tmp_path, **settings)
    ours, theirs = Pretrained(folder), transformers.BertTokenizer.from_pretrained(folder)
    for word in WORDS:
        expected = theirs([word], is_split_into_words=True, add_special_tokens=False)["input_ids"]
        assert ours.pieces.cut(word) == expected
    assert ours.native == (strip_accents in (None, lowercase) and ideographs is not False)


@pytest.mark.parametrize(
    ("kind", "native"),
    [("BertTokenizer", True), ("BertTokenizerFast", True), ("MPNetTokenizer", False)],
)
def test_only_berts_own_tokenizer_is_ours(kind: str, native: bool, tmp_path: Path) -> None:
    assert Pretrained(encoder(tmp_path, tokenizer_class=kind)).native == native


def test_a_vocabulary_of_another_encoder_is_refused(tmp_path: Path) -> None:
    pieces = len(PIECES) - 1
    found = f"vocab.txt has {len(PIECES)} pieces where config.json has a vocab_size of {pieces};"
    with pytest.raises(ParserError, match=found):
        load_pretrained(encoder(tmp_path, pieces=pieces))


def test_an_encoder_may_have_spare_places(tmp_path: Path) -> None:
    assert load_pretrained(encoder(tmp_path, pieces=len(PIECES) + 1)).native
