"""Pretrained transformers: where they come from, and what a model folder keeps of them."""

import json
import shutil
from pathlib import Path
from typing import Any, TypeAlias

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from treecrf.extras import needs_extra
from treecrf.nn.huggingface import HuggingFaceEncoder, HuggingFacePieces
from treecrf.nn.transformer import BertEncoder, BertShape, bert_weights
from treecrf.nn.wordpiece import WordPieces
from treecrf.parser.errors import ParserError

__all__ = [
    "Pieces",
    "Pretrained",
    "copy_description",
    "fetch",
    "load_pretrained",
    "read_vocabulary",
]

Pieces: TypeAlias = WordPieces | HuggingFacePieces

# The most pieces of a word that are read: a longer one is no word of a language.
_MOST_PIECES = 32
_WORDPIECE_FILES = ("config.json", "vocab.txt", "tokenizer_config.json")


class Pretrained:
    """The description of a transformer in a folder: its sizes and how it cuts words."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = _read_json(folder / "config.json")
        self.native = _is_bert(folder, self.config)
        self.pieces: Pieces = self._read_pieces()

    @property
    def size(self) -> int:
        """Features of a state."""
        return int(self.config.get("hidden_size") or self.config["dim"])

    @property
    def longest(self) -> int:
        """The most pieces of a text, its start and end among them."""
        positions = int(self.config.get("max_position_embeddings", 512))
        # RoBERTa and its kin count positions from past their padding.
        return positions if self.native else positions - 2

    def make(self, *, dropout: float) -> nn.Module:
        """The encoder, with weights at random."""
        if self.native:
            return BertEncoder(BertShape.from_transformers(self.config), dropout=dropout)
        return HuggingFaceEncoder(self.folder)

    def _read_pieces(self) -> Pieces:
        if not self.native:
            return HuggingFacePieces(self.folder, limit=_MOST_PIECES, longest=self.longest)
        tokenizer = _read_json(self.folder / "tokenizer_config.json")
        vocabulary, size = read_vocabulary(self.folder), int(self.config["vocab_size"])
        if len(vocabulary) > size:  # an encoder may have spare places, but no fewer than pieces
            raise ParserError(
                f"vocab.txt has {len(vocabulary):,} pieces where config.json has a vocab_size of "
                f"{size:,}; take both files from one encoder"
            )
        lowercase = bool(tokenizer.get("do_lower_case", True))
        return WordPieces(vocabulary, lowercase=lowercase, limit=_MOST_PIECES, longest=self.longest)


def read_vocabulary(folder: Path) -> list[str]:
    """The pieces in the `vocab.txt` of a BERT, in the order of their numbers."""
    text = (folder / "vocab.txt").read_text(encoding="utf-8")
    return text.removesuffix("\n").split("\n")  # other separators of lines may be pieces


def load_pretrained(folder: Path) -> Pretrained:
    """What a folder says of a transformer; an error says what is wrong with it."""
    try:
        with needs_extra("transformers", f"the encoder {folder}"):
            return Pretrained(folder)
    except (OSError, ValueError, KeyError) as error:
        raise ParserError(f"{folder}: not an encoder that can be read: {error}") from None


def fetch(name: str, description: Path) -> dict[str, Tensor]:
    """The weights of a transformer by folder or name; its description goes into a folder.

    The names of the weights are those of the module that `Pretrained.make` gives.
    """
    source = Path(name)
    if source.is_dir() and _is_bert(source, _read_json(source / "config.json")):
        path = source / "model.safetensors"
        try:
            weights = bert_weights(load_file(path))
        except (OSError, SafetensorError, KeyError) as error:
            raise ParserError(f"{path}: not the weights of a BERT: {error}") from None
        copy_description(source, description)
        return weights
    with needs_extra("transformers", f"the encoder {name}"):
        from transformers import AutoModel, AutoTokenizer
    try:
        model = AutoModel.from_pretrained(name)
        description.mkdir(parents=True, exist_ok=True)
        model.config.save_pretrained(description)
        AutoTokenizer.from_pretrained(name).save_pretrained(description)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ParserError(f"no encoder is to be had by the name {name}: {reason}") from None
    weights = model.state_dict()
    if _is_bert(description, _read_json(description / "config.json")):
        return bert_weights(weights)
    return {f"model.{key}": value for key, value in weights.items() if "pooler" not in key}


def copy_description(source: Path, folder: Path) -> None:
    """Copy what describes a transformer from one folder to another."""
    folder.mkdir(parents=True, exist_ok=True)
    if _is_bert(source, _read_json(source / "config.json")):
        for name in _WORDPIECE_FILES:
            shutil.copyfile(source / name, folder / name)
    else:
        for path in source.iterdir():
            if path.is_file() and path.suffix in (".json", ".txt", ".model"):
                shutil.copyfile(path, folder / path.name)


def _is_bert(folder: Path, config: dict[str, Any]) -> bool:
    """Whether our own encoder computes it, without the package transformers."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and all((folder / name).is_file() for name in _WORDPIECE_FILES)
        and _cuts_as_bert(_read_json(folder / "tokenizer_config.json"))
    )


def _cuts_as_bert(tokenizer: dict[str, Any]) -> bool:
    """Whether our own pieces of words are those of a tokenizer with these settings."""
    strip_accents = tokenizer.get("strip_accents")
    kind = tokenizer.get("tokenizer_class") or "BertTokenizer"
    return (
        kind in ("BertTokenizer", "BertTokenizerFast")
        and tokenizer.get("tokenize_chinese_chars") is not False
        and (strip_accents is None or strip_accents == tokenizer.get("do_lower_case", True))
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ParserError(f"{path}: not a JSON file that can be read: {error}") from None
    if not isinstance(content, dict):
        raise ParserError(f"{path}: not a JSON object")
    return content
