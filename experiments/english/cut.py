"""A pretrained BERT without the word pieces that English text has no use for.

    python -m experiments.english.cut FOLDER CUT_FOLDER

writes a copy of a Hugging Face folder whose vocabulary and embeddings lack the pieces in other
scripts and those that BERT has reserved. What is trained from it (`--set transformer=CUT_FOLDER`)
is smaller by as much and reads English text just as before.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from experiments.english.command import run_command
from experiments.errors import ExperimentError
from treecrf.parser.network.pretrained import Pretrained, load_pretrained, read_vocabulary

__all__ = ["cut_encoder", "is_english", "main", "write_description"]

# Code points from the first to before the second: letters with the marks that names of people and
# places have in English text; punctuation, currencies, arrows and other symbols.
_ENGLISH = ((0x0000, 0x0250), (0x2000, 0x2C00))
_EMBEDDINGS = "embeddings.word_embeddings.weight"


def is_english(piece: str) -> bool:
    """Whether English text can have a piece: nothing reserved, no letter of another script."""
    if piece.startswith("[unused"):
        return False
    return all(any(first <= ord(char) < end for first, end in _ENGLISH) for char in piece)


def cut_encoder(source: Path, folder: Path) -> tuple[int, int]:
    """Write a cut copy of a BERT; return the numbers of pieces after and before."""
    pretrained = load_pretrained(source)
    if not pretrained.native:
        raise ExperimentError(f"{source}: only the vocabulary of a BERT with a vocab.txt is cut")
    try:
        weights = load_file(source / "model.safetensors")
        (name,) = [name for name in weights if name.endswith(_EMBEDDINGS)]
    except (OSError, ValueError, SafetensorError) as error:
        raise ExperimentError(f"{source}: not the weights of a BERT: {error}") from None
    kept = write_description(pretrained, folder)
    weights[name] = weights[name][torch.tensor(kept)].contiguous()
    # Predictions of masked words, where a folder has them, are not what a parser reads.
    weights = {key: value for key, value in weights.items() if not key.startswith("cls.")}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return len(weights[name]), int(pretrained.config["vocab_size"])


def write_description(pretrained: Pretrained, folder: Path) -> list[int]:
    """Write the files that describe a BERT with English pieces only; return their old numbers."""
    vocabulary = read_vocabulary(pretrained.folder)
    kept = [number for number, piece in enumerate(vocabulary) if is_english(piece)]
    folder.mkdir(parents=True, exist_ok=True)
    lines = [vocabulary[number] + "\n" for number in kept]
    tokenizer = (pretrained.folder / "tokenizer_config.json").read_bytes()
    padding = vocabulary[int(pretrained.config.get("pad_token_id") or 0)]
    place = lines.index(padding + "\n") if padding + "\n" in lines else 0
    config = pretrained.config | {"vocab_size": len(kept), "pad_token_id": place}
    # All is read before anything is written: the two folders may be one.
    (folder / "vocab.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "tokenizer_config.json").write_bytes(tokenizer)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    return kept


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="FOLDER", help="a BERT of Hugging Face")
    parser.add_argument("folder", type=Path, metavar="CUT_FOLDER", help="where the copy goes")


def _work(given: argparse.Namespace) -> None:
    kept, before = cut_encoder(given.source, given.folder)
    print(f"{given.folder}: {kept:,} of {before:,} word pieces")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("cut", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
