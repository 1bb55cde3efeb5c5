"""A pretrained BERT with fewer layers, to start a smaller student from.

    python -m experiments.english.layers E5_FOLDER FOLDER --layers 8

Layers are kept at even distances, the first and the last among them; embeddings stay.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file, save_file

from experiments.english.command import run_command
from experiments.errors import ExperimentError

__all__ = ["keep_layers", "main"]

_LAYER = "encoder.layer."
_DESCRIPTION = ("config.json", "tokenizer_config.json", "vocab.txt")


def keep_layers(encoder: Path, folder: Path, *, layers: int) -> list[int]:
    """Write the smaller encoder; return the numbers of the layers that it keeps."""
    config = json.loads((encoder / "config.json").read_text(encoding="utf-8"))
    present = int(config["num_hidden_layers"])
    if not 2 <= layers <= present:
        raise ExperimentError(f"--layers {layers}: {encoder} has {present}; keep 2 to {present}")
    kept = [round(number * (present - 1) / (layers - 1)) for number in range(layers)]
    weights = {}
    for name, tensor in load_file(encoder / "model.safetensors").items():
        before, layer, after = name.partition(_LAYER)
        if layer:
            number, _, rest = after.partition(".")
            if int(number) not in kept:
                continue
            name = f"{before}{_LAYER}{kept.index(int(number))}.{rest}"
        weights[name] = tensor
    folder.mkdir(parents=True, exist_ok=True)
    for name in _DESCRIPTION:
        if (encoder / name).is_file():
            shutil.copyfile(encoder / name, folder / name)
    described = json.dumps(config | {"num_hidden_layers": layers}, indent=2)
    (folder / "config.json").write_text(described + "\n", encoding="utf-8")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return kept


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("encoder", type=Path, metavar="E5_FOLDER", help="the pretrained encoder")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the smaller one goes")
    parser.add_argument("--layers", type=int, required=True, metavar="N")


def _work(given: argparse.Namespace) -> None:
    kept = keep_layers(given.encoder, given.folder, layers=given.layers)
    print(f"{given.folder}: layers {', '.join(str(number + 1) for number in kept)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("layers", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
