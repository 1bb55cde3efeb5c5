"""Small encoders with weights at random, in the files that Hugging Face has, and their settings."""

import json
from pathlib import Path

import torch

from treecrf.parser.config import Config
from treecrf.parser.presets import PRESETS

SIZES = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2}
SIZES |= {"intermediate_size": 24, "max_position_embeddings": 24}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]  # pieces of a RoBERTa


def make_bert(folder: Path, **sizes: int) -> Path:
    """A BERT, into a new folder or an empty one."""
    import transformers

    letters = "abcdefghijklmnopqrstuvwxyz.,'"
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    pieces = [*special, "the", "man", *letters, *(f"##{c}" for c in letters)]
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    torch.manual_seed(1)
    config = transformers.BertConfig(vocab_size=len(pieces), **SIZES | sizes)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def save_byte_pieces(folder: Path, **special: str) -> int:
    """A tokenizer of bytes, as RoBERTa has it; how many pieces it knows."""
    import tokenizers
    import transformers

    letters = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    pieces = {piece: number for number, piece in enumerate([*SPECIAL, *sorted(letters)])}
    model = tokenizers.models.BPE(vocab=pieces, merges=[], unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)
    names = {"cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names | special)
    made.save_pretrained(folder)
    return len(pieces)


KINDS = ("Roberta", "MPNet", "DebertaV2", "ModernBert")
"""Encoders that are read through transformers."""
# What they have in common with the models that people use.
_SETTINGS = {
    "DebertaV2": {"relative_attention": True, "position_buckets": 4, "norm_rel_ebd": "layer_norm"},
    "ModernBert": {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    | {"cls_token_id": 0, "sep_token_id": 2},
}


def make_encoder(
    folder: Path, kind: str, *, stored: torch.dtype = torch.float32, **settings: object
) -> Path:
    """An encoder of `KINDS` whose pieces are bytes, with its weights stored in this precision."""
    import transformers

    pieces = save_byte_pieces(folder)
    torch.manual_seed(1)
    make_config = getattr(transformers, f"{kind}Config")
    config = make_config(vocab_size=pieces, **SIZES | _SETTINGS.get(kind, {}) | settings)
    model = getattr(transformers, f"{kind}Model")(config)
    model.to(stored).save_pretrained(folder)
    return folder


def make_roberta(folder: Path) -> Path:
    """A RoBERTa, whose pieces are bytes and whose positions begin at 2."""
    return make_encoder(folder, "Roberta")


def config_for(encoder: Path, **changes: object) -> Config:
    settings = {
        "encoder": "transformer",
        "transformer": str(encoder),
        "epochs": 1,
        "lstm_layers": 0,
        "predict": [],
    }
    return PRESETS["tiny"].changed(settings | changes)
