"""Segmenters on disk: `segmenter.json` has the settings, `segmenter.safetensors` the weights."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from treecrf.descriptions import parse_json, read_description
from treecrf.locks import LockedError, locked_folder
from treecrf.nn.blank import blank_weights
from treecrf.nn.compact import restored
from treecrf.segment.characters import Alphabet, CharacterClass, Joins
from treecrf.segment.config import SegmenterConfig
from treecrf.segment.errors import SegmentError
from treecrf.segment.multiwords import Splitter
from treecrf.segment.network import CharacterNetwork, NetworkEnsemble
from treecrf.segment.sentence_ends import EndScorer
from treecrf.segment.shapes import SHAPES
from treecrf.storage import (
    StorageError,
    load_tensors,
    replace_file,
    save_tensors,
)

__all__ = ["FILES", "Parts", "has_segmenter", "load_parts", "save_parts"]

SETTINGS = "segmenter.json"
WEIGHTS = "segmenter.safetensors"
FILES = (SETTINGS, WEIGHTS)
_FORMAT = "treecrf segmenter 1"
_SETTINGS_DIGEST = "settings_sha256"  # in the metadata of the weights
_MOST_NETWORKS = 64  # of an ensemble
_MOST_FEATURES = 1 << 14  # of an encoder, and of the layer over it
_ENDS = "sentence_ends."  # before the names of weights of the second opinion


@dataclass(frozen=True, slots=True)
class Parts:
    """All that a segmenter is made of."""

    config: SegmenterConfig
    network: CharacterNetwork | NetworkEnsemble
    alphabet: Alphabet
    splitter: Splitter
    joins: Joins
    shapes: Sequence[str]
    end_scorer: EndScorer | None


def has_segmenter(folder: Path) -> bool:
    """Whether there is a segmenter in a folder."""
    return (folder / SETTINGS).is_file()


def save_parts(parts: Parts, folder: Path, *, half: bool) -> None:
    """Write both files; with `half`, the weights in half precision."""
    network, scorer = parts.network, parts.end_scorer
    networks = len(network.members) if isinstance(network, NetworkEnsemble) else 1
    settings = {
        "format": _FORMAT,
        "config": parts.config.to_dict(),
        "networks": networks,
        "characters": parts.alphabet.characters,
        "spaces_inside": [[int(before), int(after)] for before, after in np.argwhere(parts.joins)],
        "shapes": list(parts.shapes),
        "sentence_ends": None if scorer is None else [scorer.features, scorer.size],
        "multiwords": parts.splitter.to_dict(),
    }
    data = (json.dumps(settings, ensure_ascii=False, indent=1) + "\n").encode()
    # Should only the first of the two be written, `load_parts` must not take it with an old second.
    metadata = {"format": _FORMAT, _SETTINGS_DIGEST: hashlib.sha256(data).hexdigest()}
    weights = dict(network.state_dict())
    if scorer is not None:
        weights |= {_ENDS + name: tensor for name, tensor in scorer.state_dict().items()}
    if half:
        weights = {name: tensor.half() for name, tensor in weights.items()}
    try:
        with locked_folder(folder):
            save_tensors(folder / WEIGHTS, weights, metadata)
            replace_file(folder / SETTINGS, data)
    except LockedError as error:
        raise SegmentError(f"{folder}: {error}") from None


def load_parts(folder: Path) -> Parts:
    """The parts of the segmenter of a folder, with its weights."""
    path = folder / SETTINGS
    if not path.is_file():
        raise SegmentError(f"{folder}: there is no segmenter here: it has no {SETTINGS}")
    try:
        data = read_description(path)
        parts = _parts(parse_json(data))
    except (OSError, ValueError) as error:
        raise SegmentError(f"{path}: damaged, or not a segmenter: {error}") from None
    try:
        weights, metadata = load_tensors(folder / WEIGHTS, _FORMAT)
    except StorageError as error:
        raise SegmentError(str(error)) from None
    digest = hashlib.sha256(data).hexdigest()
    if metadata.get(_SETTINGS_DIGEST, digest) != digest:  # older files do not have it
        raise SegmentError(
            f"{folder}: {SETTINGS} is not of the same segmenter as {WEIGHTS}, or was "
            "changed; save the segmenter again, or copy both files from one place"
        )
    try:
        _assign(parts, restored(weights))
    except (StorageError, RuntimeError):  # torch lists what does not fit
        raise SegmentError(
            f"{folder / WEIGHTS}: damaged: these are not the weights that {SETTINGS} tells of"
        ) from None
    return parts


def _assign(parts: Parts, weights: Mapping[str, Tensor]) -> None:
    modules: dict[str, nn.Module] = {"": parts.network}
    if parts.end_scorer is not None:
        modules[_ENDS] = parts.end_scorer
    for prefix, module in modules.items():
        own = {
            name.removeprefix(prefix): tensor
            for name, tensor in weights.items()
            if name.startswith(_ENDS) == (prefix == _ENDS)
        }
        module.load_state_dict(own, assign=True)


def _parts(data: Any) -> Parts:
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise SegmentError(f"not a file of this version of treecrf ({_FORMAT})")
    try:
        config = SegmenterConfig().changed(data["config"])
        alphabet = Alphabet(_characters(data["characters"]))
        joins = _joins(data["spaces_inside"])
        splitter = Splitter.from_dict(data["multiwords"])
        # Older files have none of these.
        networks = data.get("networks", 1)
        if type(networks) is not int or not 1 <= networks <= _MOST_NETWORKS:
            raise SegmentError(f"networks is {networks!r:.60}: it is 1 to {_MOST_NETWORKS}")
        shapes = data.get("shapes", [])
        if not (isinstance(shapes, list) and set(shapes) <= SHAPES.keys()):
            raise SegmentError(f"shapes is {shapes!r:.60}: it has names of {', '.join(SHAPES)}")
        sizes = _sizes(data.get("sentence_ends"))
    except (KeyError, TypeError, AttributeError) as error:
        raise SegmentError(f"something is missing or of the wrong kind ({error})") from None
    with blank_weights():  # `load_parts` has them
        members = [CharacterNetwork(len(alphabet), config) for _ in range(networks)]
        return Parts(
            config=config,
            network=NetworkEnsemble(members) if networks > 1 else members[0],
            alphabet=alphabet,
            splitter=splitter,
            joins=joins,
            shapes=shapes,
            end_scorer=None if sizes is None else EndScorer(*sizes),
        )


def _characters(value: object) -> list[str]:
    if not isinstance(value, list) or not all(
        isinstance(character, str) and len(character) == 1 for character in value
    ):
        raise SegmentError("the characters are not a list of single characters")
    if len(set(value)) < len(value):
        raise SegmentError("the characters have one of them twice")
    return value


def _joins(pairs: Any) -> Joins:
    joins = np.zeros((len(CharacterClass), len(CharacterClass)), np.bool_)
    for before, after in pairs:
        if type(before) is not int or type(after) is not int:
            raise SegmentError("classes of characters are whole numbers")
        if min(before, after) <= CharacterClass.LINE_BREAK:
            raise SegmentError("a token has two spaces side by side")
        joins[CharacterClass(before), CharacterClass(after)] = True
    return joins


def _sizes(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    features, size = value
    if not all(type(n) is int and 0 < n <= _MOST_FEATURES for n in (features, size)):
        raise SegmentError(f"sentence_ends is {value!r:.60}: it has two sizes, or is null")
    return features, size
