"""Encoders of Hugging Face other than BERT, by the package transformers."""

import reprlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from treecrf.nn.transformer.bert import MOST_LAYERS

CODE_FILES = ("config.json", "tokenizer_config.json", "adapter_config.json")
"""Files that may name Python code for transformers to run, or another model."""
_MOST_LABELS = 1_000_000
_MOST = 1 << 40
_PLAIN = (None, "", "eager", "sdpa", "flex_attention", "grouped_mm", "batched_mm")
# Any other name of an implementation may be a kernel that transformers downloads and runs.


class HuggingFaceEncoder(nn.Module):
    """Any encoder that `transformers` can make from a `config.json`."""

    def __init__(self, folder: Path, *, dropout: float) -> None:
        super().__init__()
        from transformers import AutoConfig, AutoModel

        never_ask()
        config: Any = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        for name, value in config.to_dict().items():
            # Names differ by family: hidden_dropout_prob, attention_dropout, ... A rate of 0 stays:
            # the encoder was trained without it.
            if "dropout" in name and isinstance(value, float) and value:
                setattr(config, name, dropout)
        # The file may name a stored precision that cannot be trained in: Adam's squared gradients
        # would be 0.
        self.model: Any = AutoModel.from_config(
            config, dtype=torch.float32, trust_remote_code=False
        ).float()
        if hasattr(self.model, "pooler"):
            self.model.pooler = None  # for whole texts; it would never be trained

    @torch.no_grad()
    def try_out(self, pieces: "HuggingFacePieces") -> None:
        """Raise an error if it cannot read these pieces: its settings may be anything."""
        rows = getattr(self.model.config, "vocab_size", None)  # encoders of characters have none
        largest = max(pieces.tokenizer.get_vocab().values(), default=0)
        if rows is not None and largest >= rows:
            raise ValueError(
                f"its tokenizer has a piece {largest:,}, and its vocab_size is {rows:,}"
            )
        training = self.training
        self.eval()
        one = torch.tensor([[pieces.start, pieces.unknown, pieces.end]])
        self(one, torch.tensor([3]))
        self.train(training)

    def forward(self, pieces: Tensor, lengths: Tensor) -> list[Tensor]:
        """States `[window, piece, feature]` before the first layer and after each one."""
        seen = torch.arange(pieces.shape[1], device=pieces.device) < lengths[:, None]
        output = self.model(input_ids=pieces, attention_mask=seen.long(), output_hidden_states=True)
        return list(output.hidden_states)


class HuggingFacePieces:
    """Wordpieces of the encoder's own tokenizer, by number."""

    def __init__(self, folder: Path, *, limit: int, longest: int) -> None:
        from transformers import AutoTokenizer

        never_ask()
        # Words stand inside a text: their first piece follows a space, and a word that looks like a
        # special piece is not one.
        self.tokenizer: Any = AutoTokenizer.from_pretrained(
            folder,
            add_prefix_space=True,
            split_special_tokens=True,
            trust_remote_code=False,
            model_max_length=_MOST,  # texts are cut by `longest`; a length here is for warnings
        )
        self.limit = limit
        self.longest = longest
        self.start = _first(self.tokenizer.cls_token_id, self.tokenizer.bos_token_id)
        self.end = _first(self.tokenizer.sep_token_id, self.tokenizer.eos_token_id)
        self.unknown = _first(self.tokenizer.unk_token_id, self.end)
        self.cut("a")  # damaged settings show here rather than in the first sentence

    def cut(self, word: str) -> list[int]:
        """Numbers of the pieces of a word, at least one."""
        word = word.encode(errors="replace").decode()  # lone surrogates would be refused
        pieces: list[int] = self.tokenizer(
            [word], is_split_into_words=True, add_special_tokens=False
        )["input_ids"]
        return pieces[: self.limit] or [self.unknown]


def never_ask() -> None:
    """Let transformers refuse an encoder's code where it would ask on standard input.

    It loads some parts, such as RAG's tokenizers in subfolders, without our `trust_remote_code`.
    """
    from transformers import dynamic_module_utils, integrations

    dynamic_module_utils.TIME_OUT_REMOTE_CODE = 0
    # Some families, such as YOSO on a GPU, download kernels and run them without being told to.
    hub_kernels: Any = integrations.hub_kernels
    hub_kernels.is_kernels_available = lambda: False


def code_setting(description: object) -> str | None:
    """The setting in `CODE_FILES` that makes transformers run code from elsewhere, at any depth."""
    return next((name for name, value in _settings(description) if _runs_code(name, value)), None)


def _runs_code(name: str, value: object) -> bool:
    if name.removesuffix("_internal").endswith("_implementation"):
        return isinstance(value, dict | list) or value not in _PLAIN
    if "kernel" in name:  # conv_kernel_size and its like are numbers
        return value is True or (isinstance(value, dict | str) and bool(value))
    if name in ("architecture", "backbone"):  # another model, which is looked for on the internet
        return isinstance(value, str) and bool(value)
    # Quantised weights bring kernels, other configuration files would not be checked, and an
    # adapter of the package peft names another encoder, and modules to import.
    names = ("auto_map", "configuration_files", "peft_type", "quantization_config")
    return name in names and bool(value)


def absurd_number(description: object) -> str | None:
    """Name and value of a size that is too large to be made; None if all are sane."""
    for name, value in _settings(description):
        # Tokenizers without a limit have a huge number here.
        if type(value) is not int or name == "model_max_length":
            continue
        most = MOST_LAYERS if "layer" in name else _MOST_LABELS if "label" in name else _MOST
        if abs(value) > most:
            return f"{name} is {reprlib.repr(value)}"
    return None


def _settings(description: object) -> Iterator[tuple[str, object]]:
    """Names and values of a JSON object, at any depth."""
    left = [description]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            yield from item.items()
            left += item.values()
        elif isinstance(item, list):
            left += item


def _first(*numbers: int | None) -> int:
    return next((number for number in numbers if number is not None), 0)
