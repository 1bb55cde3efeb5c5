"""Pretrained transformers: their description in a model folder, and their weights."""

import reprlib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from treecrf.descriptions import read_json
from treecrf.extras import MissingExtraError, needs_extra
from treecrf.nn.blank import TooLargeError
from treecrf.nn.transformer.bert import BertEncoder, BertShape, bert_weights
from treecrf.nn.transformer.huggingface import (
    CODE_FILES,
    HuggingFaceEncoder,
    HuggingFacePieces,
    absurd_number,
    code_setting,
    never_ask,
)
from treecrf.nn.transformer.wordpieces import END, START, UNKNOWN, WordPieces
from treecrf.parser.errors import ParserError
from treecrf.parser.estimates import make_blank
from treecrf.storage import StorageError, is_finite, replace_file

__all__ = [
    "Pieces",
    "Pretrained",
    "fetch",
    "load_pretrained",
    "read_vocabulary",
    "take_encoder_weights",
]

Pieces: TypeAlias = WordPieces | HuggingFacePieces

_MOST_PIECES = 32  # read of a word; a longer one is no word of a language
_WORDPIECE_FILES = ("config.json", "vocab.txt", "tokenizer_config.json")
_DESCRIPTION = (".json", ".txt", ".model", ".jinja")
_SIZES = ("hidden_size", "dim", "d_model", "n_embd")  # names in different families of encoders
_LONGEST = 512  # pieces, where an encoder names no limit


class Pretrained:
    """The description of a transformer in a folder: its sizes and its tokenizer.

    All files are read at once: another model may take the folder's place before `write`.
    """

    def __init__(self, folder: Path, *, name: str | None = None) -> None:
        self.folder = folder
        self.name = name or str(folder)  # in errors
        _check_description(folder, self.name)
        self.config = _read_json(folder / "config.json")
        self.native = _is_bert(folder, self.config)
        self.files = {path.name: path.read_bytes() for path in self._described()}
        self.shape = BertShape.from_transformers(self.config) if self.native else None
        self.size = self._read_size()  # features of a state
        self.pieces: Pieces = self._read_pieces()

    @property
    def longest(self) -> int:
        """The most pieces of a text, start and end included."""
        positions = self.config.get("max_position_embeddings") or 0
        if type(positions) is not int:
            raise ValueError(f"max_position_embeddings is {reprlib.repr(positions)}")
        if positions < 1:  # some encoders say -1 where they have none
            return _LONGEST
        longest = positions
        if not self.native:
            # RoBERTa and its kin number positions after that of padding, which is 1 nearly always.
            padding: Any = self.config.get("pad_token_id")
            is_position = type(padding) is int and 1 < padding < positions
            longest -= 1 + (padding if is_position else 1)
        if longest < 3:
            raise ValueError(f"max_position_embeddings is {positions}, too few for any word")
        return longest

    def make(self, *, dropout: float) -> nn.Module:
        """The encoder, with random weights."""
        if self.shape is not None:
            # As in other encoders, dropout that is 0 in the description stays 0.
            names = "hidden_dropout_prob", "attention_probs_dropout_prob"
            own, attention = (dropout if self.config.get(name, 1) else 0.0 for name in names)
            return BertEncoder(self.shape, dropout=own, attention_dropout=attention)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "config.json").write_bytes(self.files["config.json"])
            with _by_transformers(self.name, "transformers makes no encoder of it", folder):
                encoder = HuggingFaceEncoder(Path(folder), dropout=dropout)
                assert isinstance(self.pieces, HuggingFacePieces)
                if not next(encoder.parameters()).is_meta:
                    encoder.try_out(self.pieces)
                return encoder

    def write(self, folder: Path) -> None:
        """Write the description into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            replace_file(folder / name, content)

    def _described(self) -> list[Path]:
        if self.native:
            return [self.folder / name for name in _WORDPIECE_FILES]
        files = filter(Path.is_file, sorted(self.folder.iterdir()))
        return [path for path in files if path.suffix in _DESCRIPTION]

    def _read_size(self) -> int:
        size = next((self.config[name] for name in _SIZES if self.config.get(name)), None)
        if size is None:
            raise ParserError(
                f"{Path(self.name) / 'config.json'}: the size of a state is not among what it says "
                f"({', '.join(_SIZES)}); take another encoder"
            )
        if type(size) is not int or size < 1:
            raise ValueError(f"the size of a state is {reprlib.repr(size)}")
        return size

    def _read_pieces(self) -> Pieces:
        if not self.native:
            return HuggingFacePieces(self.folder, limit=_MOST_PIECES, longest=self.longest)
        tokenizer = _read_json(self.folder / "tokenizer_config.json")
        vocabulary, size = read_vocabulary(self.folder), self.config["vocab_size"]
        if len(vocabulary) > size:  # fewer pieces are fine: an encoder may have spare rows
            raise ParserError(
                f"{self.name}: vocab.txt has {len(vocabulary):,} pieces where config.json has a "
                f"vocab_size of {size:,}; take both files from one encoder"
            )
        if missing := {UNKNOWN, START, END} - set(vocabulary):
            raise ParserError(f"{self.name}: vocab.txt has no piece {min(missing)}")
        lowercase = bool(tokenizer.get("do_lower_case", True))
        return WordPieces(vocabulary, lowercase=lowercase, limit=_MOST_PIECES, longest=self.longest)


def read_vocabulary(folder: Path) -> list[str]:
    """The pieces in the `vocab.txt` of a BERT, in the order of their numbers."""
    text = (folder / "vocab.txt").read_text(encoding="utf-8")
    return text.removesuffix("\n").split("\n")  # other separators of lines may be pieces


def load_pretrained(folder: Path, *, name: str | None = None) -> Pretrained:
    """Read the description of a transformer; an error says what is wrong with it, by its name."""
    with (
        _by_transformers(name or str(folder), "not an encoder that can be read", str(folder)),
        needs_extra("transformers", f"the encoder {name or folder}"),
    ):
        return Pretrained(folder, name=name)


def fetch(name: str) -> tuple[Pretrained, dict[str, Tensor]]:
    """The description and the weights of a transformer, by folder or name; writes nothing.

    The weights have the names of the module that `Pretrained.make` gives.
    """
    source = Path(name)
    if source.is_dir():
        _check_description(source, name)
    if source.is_dir() and _is_bert(source, _read_json(source / "config.json")):
        path = source / "model.safetensors"
        try:
            weights = bert_weights(load_file(path))
        # Tensors of other shapes or types do not go together.
        except (OSError, SafetensorError, KeyError, IndexError, RuntimeError) as error:
            problem = str(error).splitlines()[0]
            raise ParserError(f"{path}: not the weights of a BERT: {problem}") from None
        return load_pretrained(source), weights
    with needs_extra("transformers", f"the encoder {name}"):
        from transformers import AutoConfig, AutoModel, AutoTokenizer

        never_ask()
    with (
        _by_transformers(name, "no encoder can be loaded by this name"),
        tempfile.TemporaryDirectory() as folder,
    ):
        if not source.is_dir():
            _check_description(_description(name), name)
        for kind in (AutoConfig, AutoTokenizer):
            kind.from_pretrained(name, trust_remote_code=False).save_pretrained(folder)
        pretrained = load_pretrained(Path(folder), name=name)
        make_blank(partial(pretrained.make, dropout=0.0), f"{name}: ")
        model, found = AutoModel.from_pretrained(
            name,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            trust_remote_code=False,
        )
    # Missing and misshapen weights are random in the model.
    missing = {*found["missing_keys"], *(key for key, *_ in found.get("mismatched_keys", ()))}
    weights = {key: value for key, value in model.state_dict().items() if key not in missing}
    if pretrained.native:
        try:
            return pretrained, bert_weights(weights)
        except KeyError as error:
            raise ParserError(f"{name}: its weights have no {error.args[0]}") from None
    return pretrained, {
        f"model.{key}": value for key, value in weights.items() if "pooler" not in key
    }


@torch.no_grad()
def take_encoder_weights(encoder: nn.Module, weights: Mapping[str, Tensor], name: str) -> None:
    """Give an encoder the weights that `fetch` found; an error if one is missing."""
    for key, own in encoder.state_dict().items():
        value = weights.get(key)
        if value is None or value.shape != own.shape:
            found = "none such" if value is None else f"the shape {(*value.shape,)}"
            raise ParserError(
                f"{name}: its config.json asks for {key} in the shape {(*own.shape,)}, and the "
                f"weights have {found}; take both files from one encoder"
            )
        if not is_finite(value):
            raise ParserError(f"{name}: damaged: {key} has numbers that are not finite")
        own.copy_(value)


@contextmanager
def _by_transformers(name: str, problem: str, folder: str | None = None) -> Iterator[None]:
    """Turn errors of transformers about its files into one line; they may name their folder."""
    try:
        yield
    except (ParserError, TooLargeError, MissingExtraError):
        raise
    except BaseException as error:
        # A panic in Rust, which tokenizers is written in, is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        lines = str(error).split("\n")
        reason = next((line.strip() for line in lines if line.strip()), type(error).__name__)
        if folder is not None:
            reason = reason.replace(folder, name)
        raise ParserError(f"{name}: {problem}: {reason:.300}") from None


def _description(name: str) -> Path:
    """The folder with the files of an encoder by this name, after a download."""
    from transformers.utils.hub import cached_file

    config, *others = CODE_FILES
    path = cached_file(name, config)
    assert path is not None  # else it raises an error
    for file in others:
        with suppress(OSError):  # an encoder may do without
            cached_file(name, file)
    return Path(path).parent


def _check_description(folder: Path, name: str) -> None:
    """Raise an error if an encoder needs code of its own, or has absurd sizes."""
    for file in filter(Path.is_file, map(folder.joinpath, CODE_FILES)):
        described = _read_json(file)
        if absurd := absurd_number(described):
            raise ParserError(f"{name}: damaged: {absurd} in {file.name}")
        longest = described.get("model_max_length")
        if isinstance(longest, bool) or not isinstance(longest, int | float | None):
            problem = f"model_max_length is {reprlib.repr(longest)}"
            raise ParserError(f"{name}: damaged: {problem} in {file.name}")
        if setting := code_setting(described):
            raise ParserError(
                f"{name}: this encoder needs code of its own ({setting} in {file.name}), which "
                "treecrf does not run; take another encoder"
            )


def _is_bert(folder: Path, config: dict[str, Any]) -> bool:
    """Whether our own encoder can compute it, without transformers."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and all((folder / name).is_file() for name in _WORDPIECE_FILES)
        and _cuts_as_bert(_read_json(folder / "tokenizer_config.json"))
    )


def _cuts_as_bert(tokenizer: dict[str, Any]) -> bool:
    """Whether our own wordpieces are those of a tokenizer with these settings."""
    strip_accents = tokenizer.get("strip_accents")
    kind = tokenizer.get("tokenizer_class") or "BertTokenizer"
    return (
        kind in ("BertTokenizer", "BertTokenizerFast")
        and tokenizer.get("tokenize_chinese_chars") is not False
        and (strip_accents is None or strip_accents == tokenizer.get("do_lower_case", True))
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path)
    except StorageError as error:
        raise ParserError(str(error)) from None
    if not isinstance(content, dict):
        raise ParserError(f"{path}: not a JSON object")
    return content
