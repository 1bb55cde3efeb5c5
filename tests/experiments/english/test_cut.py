"""The vocabulary of a BERT without what English text has no use for."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from experiments.english.cut import cut_encoder, is_english, main
from treecrf.nn.transformer.bert import BertEncoder, BertShape, bert_weights
from treecrf.parser.network.pretrained import load_pretrained

PIECES = [
    "[PAD]",
    "[unused0]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "ж",
    "the",
    "##s",
    "本",
    "##ع",
    "€",
    "café",
]
KEPT = [0, 2, 3, 4, 6, 7, 10, 11]
CONFIG = {
    "model_type": "bert",
    "vocab_size": len(PIECES),
    "hidden_size": 4,
    "num_hidden_layers": 0,
    "num_attention_heads": 2,
    "intermediate_size": 4,
    "max_position_embeddings": 6,
    "pad_token_id": 0,
}


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    folder = tmp_path / "bert"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    (folder / "config.json").write_text(json.dumps(CONFIG))
    generator = torch.Generator().manual_seed(1)
    shapes = {"word_embeddings.weight": (len(PIECES), 4), "position_embeddings.weight": (6, 4)}
    shapes |= {"token_type_embeddings.weight": (2, 4)}
    shapes |= {"LayerNorm.weight": (4,), "LayerNorm.bias": (4,)}
    weights = {
        f"bert.embeddings.{name}": torch.randn(shape, generator=generator)
        for name, shape in shapes.items()
    }
    save_file(weights | {"cls.predictions.bias": torch.zeros(1)}, folder / "model.safetensors")
    return folder


def states_of(folder: Path, words: list[str]) -> torch.Tensor:
    pretrained = load_pretrained(folder)
    encoder = BertEncoder(BertShape.from_transformers(pretrained.config), dropout=0)
    encoder.load_state_dict(bert_weights(load_file(folder / "model.safetensors")))
    pieces = torch.tensor([[piece for word in words for piece in pretrained.pieces.cut(word)]])
    states: torch.Tensor = encoder.eval()(pieces, torch.tensor([pieces.shape[1]]))[-1]
    return states


def test_pieces_of_other_scripts_go() -> None:
    assert [number for number, piece in enumerate(PIECES) if is_english(piece)] == KEPT


def test_english_text_is_read_as_before(bert: Path, tmp_path: Path) -> None:
    assert cut_encoder(bert, tmp_path / "cut") == (len(KEPT), len(PIECES))
    for words in (["the", "thes"], ["€", "unheard"]):
        before, after = states_of(bert, words), states_of(tmp_path / "cut", words)
        torch.testing.assert_close(after, before, rtol=0, atol=0)
    weights = load_file(tmp_path / "cut" / "model.safetensors")
    assert "cls.predictions.bias" not in weights


def test_a_folder_is_cut_in_place(bert: Path) -> None:
    cut_encoder(bert, bert)
    assert load_pretrained(bert).config["vocab_size"] == len(KEPT)


def test_the_command_says_how_many_are_left(
    bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(bert), str(tmp_path / "cut")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'cut'}: 8 of 12 word pieces\n"
    assert main([str(tmp_path / "none"), str(tmp_path / "cut")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("experiments.english.cut: ")
    assert "config.json" in error
