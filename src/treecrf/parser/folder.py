"""Model folders and checkpoints on disk: safetensors, TOML and JSON."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from treecrf.descriptions import parse_json, read_description, read_toml
from treecrf.nn.compact import SCALE, restored
from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.parser.folder_writer import (
    CHECKPOINT,
    CONFIG,
    ENCODER,
    FILES,
    LOG,
    SHARDS,
    VECTORS,
    VOCABULARY,
    WEIGHTS,
    check_whole,
    replacing,
    writing_to,
)
from treecrf.parser.network.pretrained import Pretrained, load_pretrained
from treecrf.parser.presets import load_config
from treecrf.parser.vocab import Vocabulary
from treecrf.segment.segmenter import FILES as SEGMENTER_FILES
from treecrf.segment.segmenter import Segmenter
from treecrf.storage import (
    StorageError,
    load_tensors,
    replace_file,
    save_tensors,
)

__all__ = [
    "CHECKPOINT",
    "CONFIG",
    "ENCODER",
    "FILES",
    "LOG",
    "SHARDS",
    "VECTORS",
    "VECTORS_FORM",
    "WEIGHTS",
    "WEIGHTS_FORM",
    "change_settings",
    "check_whole",
    "damaged",
    "has_model",
    "language_of",
    "load_checkpoint",
    "load_settings",
    "load_vectors",
    "load_weights",
    "model_digest",
    "replace_file",
    "save_checkpoint",
    "save_model",
    "save_settings",
    "save_weights",
]

WEIGHTS_FORM = "treecrf model 1"
VECTORS_FORM = "treecrf vectors 1"
_OLD_NAME = re.compile("^tag_scores[.]")  # of models that predict tags alone


def save_settings(
    folder: Path,
    config: Config,
    vocabulary: Vocabulary,
    *,
    vectors: Tensor | None,
    pretrained: Pretrained | None,
    segmenter: Segmenter | None = None,
) -> None:
    """Write all of a model that training does not change, the settings last."""
    folder.mkdir(parents=True, exist_ok=True)
    if segmenter is not None:
        segmenter.save(folder)
    if pretrained is not None and pretrained.folder != folder / ENCODER:
        pretrained.write(folder / ENCODER)
    if vectors is not None:
        save_tensors(folder / VECTORS, {"vectors": vectors}, {"format": VECTORS_FORM})
    replace_file(folder / VOCABULARY, vocabulary.to_json().encode())
    replace_file(folder / CONFIG, config.to_toml().encode())


def change_settings(folder: Path, changes: Mapping[str, Any]) -> None:
    """Change settings that do not affect the weights, such as the temperature."""
    with writing_to(folder):
        config = load_settings(folder)[0].changed(changes)
        replace_file(folder / CONFIG, config.to_toml().encode())


def save_weights(folder: Path, weights: Mapping[str, Tensor]) -> None:
    """Write the weights of a model; older ones are replaced."""
    save_tensors(folder / WEIGHTS, weights, {"format": WEIGHTS_FORM})
    for path in folder.glob(SHARDS):
        path.unlink()


def save_checkpoint(folder: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Write a checkpoint: tensors, and state that JSON can hold."""
    save_tensors(
        folder / CHECKPOINT, tensors, {"format": "treecrf checkpoint 1", "state": json.dumps(state)}
    )


def save_model(
    folder: Path,
    config: Config,
    vocabulary: Vocabulary,
    weights: Mapping[str, Tensor],
    *,
    vectors: Tensor | None,
    pretrained: Pretrained | None,
    segmenter: Segmenter | None,
) -> None:
    """Write a model folder; an older model is replaced when the new one is complete.

    Other files in the folder stay.
    """
    is_there = folder.exists()
    with writing_to(folder):
        if is_there:
            _check_folder(folder)  # nothing but a model is replaced
        with replacing(folder) as new:
            save_weights(new, weights)
            save_settings(
                new,
                config,
                vocabulary,
                vectors=vectors,
                pretrained=pretrained,
                segmenter=segmenter,
            )


def has_model(folder: Path) -> bool:
    """Whether the folder has the files of a model."""
    try:
        _check_folder(folder)
    except ParserError:
        return False
    return True


# Every version writes it at the end: a file without it was cut off.
_LAST_SETTING = "seed"


def load_settings(
    folder: Path, *, weights: bool = True
) -> tuple[Config, Vocabulary, Pretrained | None]:
    """Load settings, vocabulary and transformer; `weights`: whether weights must be there too."""
    if weights:
        _check_folder(folder)
    config = load_config(folder / CONFIG)
    if _LAST_SETTING not in read_toml(folder / CONFIG):
        raise ParserError(f"{folder / CONFIG}: its end is missing; copy the model folder again")
    path = folder / VOCABULARY
    try:
        vocabulary = Vocabulary.from_dict(parse_json(read_description(path)))
    except (OSError, StorageError, ParserError) as error:
        raise ParserError(f"{path}: not a vocabulary that can be read: {error}") from None
    # Early versions have no such setting.
    predict = [name for name in config.predict if vocabulary.columns[name]]
    config = config.changed({"predict": predict})
    pretrained = None
    if config.encoder == "transformer":
        pretrained = load_pretrained(folder / ENCODER)
        vocabulary.pieces = pretrained.pieces
    return config, vocabulary, pretrained


def language_of(folder: Path) -> str:
    """The language that the settings of a folder say; empty where a segmenter is there alone."""
    path = folder / CONFIG
    return load_config(path).language if path.is_file() else ""


def load_weights(folder: Path) -> dict[str, Tensor]:
    """Load the weights of a model, on the host."""
    _check_folder(folder)
    paths = [folder / WEIGHTS]
    if not paths[0].is_file():
        paths = sorted(folder.glob(SHARDS))
        if any(not path.name.endswith(f"-of-{len(paths)}.safetensors") for path in paths):
            raise ParserError(f"{folder}: damaged: some of the files {SHARDS} are missing")
    weights: dict[str, Tensor] = {}
    for path in paths:
        weights |= _load(path, WEIGHTS_FORM)[0]
    try:
        found = restored(weights)
    except StorageError as error:
        raise ParserError(f"{folder}: {error}") from None
    return {_OLD_NAME.sub("column_scores.upos.", name): found[name] for name in found}


def load_vectors(folder: Path, vocabulary: Vocabulary) -> Tensor | None:
    """Load the pretrained vectors of a model that has some."""
    if not vocabulary.vectors:
        return None
    stored = _load(folder / VECTORS, VECTORS_FORM)[0]
    if "vectors" + SCALE in stored:  # bytes
        try:
            stored = {"vectors": restored(stored)["vectors"].half()}
        except StorageError as error:
            raise ParserError(f"{folder / VECTORS}: {error}") from None
    vectors = stored.get("vectors")
    rows = len(vocabulary.vectors) + 1
    if (
        vectors is None
        or vectors.dim() != 2
        or vectors.shape[0] != rows
        or not vectors.is_floating_point()
    ):
        raise ParserError(f"{folder / VECTORS}: damaged: it has not the words of {VOCABULARY}")
    return vectors


def load_checkpoint(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """Load the checkpoint of a training; None if there is none yet."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    tensors, metadata = _load(path, "treecrf checkpoint 1")
    try:
        state = parse_json(metadata["state"])
    except (KeyError, StorageError) as error:
        raise damaged(folder, str(error)) from None
    if not isinstance(state, dict):
        raise damaged(folder, "its state is not a JSON object")
    return tensors, state


def damaged(folder: Path, problem: str) -> ParserError:
    """An error about a damaged checkpoint, to be raised."""
    return ParserError(
        f"{folder / CHECKPOINT}: a damaged checkpoint ({problem}); --overwrite trains anew"
    )


def _check_folder(folder: Path) -> None:
    missing = [name for name in (CONFIG, VOCABULARY, WEIGHTS) if not (folder / name).is_file()]
    if not folder.is_dir():
        problem = "this is a file" if folder.exists() else "no such folder"
        raise ParserError(f"{folder}: {problem}; a model is a folder that `treecrf train` writes")
    check_whole(folder)
    if missing == [WEIGHTS] and any(folder.glob(SHARDS)):
        return
    if missing == [WEIGHTS]:
        raise ParserError(
            f"{folder}: training has not finished its first epoch; go on with --resume"
        )
    if missing:
        raise ParserError(f"{folder}: not a model folder: it has no {' and no '.join(missing)}")


def _load(path: Path, form: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    try:
        return load_tensors(path, form)
    except StorageError as error:
        raise ParserError(str(error)) from None


def model_digest(folder: Path) -> str:
    """A hash of all files of a model; it changes when training improves the model."""
    # More epochs without a new best leave the model as it is.
    config = load_config(folder / CONFIG).changed({"epochs": 0, "patience": 1})
    digest = hashlib.sha256(config.to_toml().encode())
    for pattern in (VOCABULARY, WEIGHTS, SHARDS, VECTORS, f"{ENCODER}/*", *SEGMENTER_FILES):
        for path in sorted(folder.glob(pattern)):
            digest.update(f"{path.name}\n".encode())
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
