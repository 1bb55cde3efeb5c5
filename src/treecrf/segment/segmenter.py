"""Segmenters: a network, an alphabet and the multiword tokens of a treebank, put to work."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from treecrf.locks import LockedError, locked_folder
from treecrf.nn.blank import blank_weights
from treecrf.nn.compact import restored
from treecrf.segment.assembly import Assembly, Scores
from treecrf.segment.blocks import Block, cut_blocks, cut_windows
from treecrf.segment.characters import Alphabet, CharacterClass, Codes, Joins, as_read, classes_of
from treecrf.segment.config import SegmenterConfig
from treecrf.segment.errors import SegmentError
from treecrf.segment.multiwords import Splitter
from treecrf.segment.network import OUTPUTS, CharacterNetwork, NetworkEnsemble, step_size
from treecrf.storage import StorageError, load_tensors, parse_json, replace_file, save_tensors
from treecrf.threads import run_sized
from treecrf.treebank import Sentence

__all__ = ["FILES", "Segmenter", "has_segmenter"]

Result = TypeVar("Result")

SETTINGS = "segmenter.json"
WEIGHTS = "segmenter.safetensors"
FILES = (SETTINGS, WEIGHTS)
_FORMAT = "treecrf segmenter 1"
_SETTINGS_DIGEST = "settings_sha256"  # in the metadata of the weights

_WINDOWS = 32  # that are read side by side
_GPU_WINDOWS = 512
_MOST_NETWORKS = 64  # of an ensemble


def has_segmenter(folder: Path) -> bool:
    """Whether there is a segmenter in a folder."""
    return (folder / SETTINGS).is_file()


class Segmenter:
    """Cuts raw text into sentences, tokens and multiword tokens; `load` and training make one."""

    def __init__(
        self,
        config: SegmenterConfig,
        network: CharacterNetwork | NetworkEnsemble,
        *,
        alphabet: Alphabet,
        splitter: Splitter,
        joins: Joins,
    ) -> None:
        self.config = config
        self.network = network.eval()
        self.alphabet = alphabet
        self.splitter = splitter
        self.joins = joins  # between which classes of characters a token may have a space

    def segment(self, text: str, *, start: int = 0) -> list[Sentence]:
        """The sentences of a text, without heads; see `segment_stream`."""
        return list(self.segment_stream([text], start=start))

    def segment_stream(self, pieces: Iterable[str], *, start: int = 0) -> Iterator[Sentence]:
        """The sentences of a text that comes in pieces, in bounded memory.

        How the text is cut into pieces makes no difference. `start` is the place of its first
        character, where it is a part of another text.
        """
        assembly = self.assembly()
        for block, scores in self.score_stream(pieces, start=start):
            yield from assembly.add(block, scores)
        yield from assembly.finish()

    def assembly(self) -> Assembly:
        """Make sentences of the blocks of one text and their scores."""
        return Assembly(splitter=self.splitter, joins=self.joins)

    def score_stream(
        self, pieces: Iterable[str], *, start: int = 0
    ) -> Iterator[tuple[Block, Scores]]:
        """Blocks of a text that comes in pieces, with what the network says of their characters."""
        config = self.config
        # A GPU takes as long for a few windows as for many.
        windows = _GPU_WINDOWS if self._on_gpu else _WINDOWS
        size = windows * config.core
        for block in cut_blocks(pieces, size=size, context=config.context, start=start):
            yield block, self._run(partial(self._read, block.codes), windows=_WINDOWS)

    def segment_texts(
        self, texts: Sequence[str], *, starts: Sequence[int] | None = None
    ) -> list[list[Sentence]]:
        """The sentences of each of many texts, which are read side by side.

        How they come together makes no difference to any of them. `starts` has the places of their
        first characters, where they are parts of another text.
        """
        found: list[list[Sentence]] = [[] for _ in texts]
        size, context = _WINDOWS * self.config.core, self.config.context
        short: list[tuple[int, Block]] = []
        for place, (text, start) in enumerate(zip(texts, starts or repeat(0), strict=False)):
            if len(text) > size:
                found[place] = self.segment(text, start=start)
            else:
                blocks = cut_blocks([text], size=size, context=context, start=start)
                short += [(place, block) for block in blocks]
        for first in range(0, len(short), 2 * _WINDOWS):
            group = short[first : first + 2 * _WINDOWS]
            read = partial(self._read_each, [block.codes for _, block in group])
            scores = self._run(read, windows=len(group))
            for (place, block), of_block in zip(group, scores, strict=True):
                assembly = self.assembly()
                found[place] = [*assembly.add(block, of_block), *assembly.finish()]
        return found

    def _run(self, call: Callable[[], Result], *, windows: int) -> Result:
        """The result of a call that reads so many windows side by side."""
        if self._on_gpu:
            return call()
        return run_sized(call, multiply_adds=step_size(self.config, windows))

    @torch.inference_mode()
    def _read_each(self, blocks: Sequence[Codes]) -> list[Scores]:
        """Log odds `[character, output]` of each of many blocks."""
        context, device = self.config.context, self.network.device
        cut = [cut_windows(as_read(b), window=self.config.window, context=context) for b in blocks]
        windows = [window for windows in cut for window in windows]
        read = self.network.read_each(
            [torch.from_numpy(self.alphabet.numbers(w)).to(device) for w in windows],
            [torch.from_numpy(classes_of(w).astype(np.int32)).to(device) for w in windows],
        )
        inner = iter([scores[context:-context].float().cpu().numpy() for scores in read])
        return [
            np.concatenate([next(inner) for _ in windows])[: len(codes) - 2 * context]
            for codes, windows in zip(blocks, cut, strict=True)
        ]

    @property
    def _on_gpu(self) -> bool:
        return self.network.device.type == "cuda"

    @torch.inference_mode()
    def _read(self, codes: Codes) -> Scores:
        """Log odds `[character, output]` of a block."""
        context = self.config.context
        windows = cut_windows(as_read(codes), window=self.config.window, context=context)
        numbers = torch.from_numpy(self.alphabet.numbers(windows))
        classes = torch.from_numpy(classes_of(windows).astype(np.int32))
        device = self.network.device
        scores = self.network(numbers.to(device), classes.to(device), context=context)
        flat: Scores = scores.reshape(-1, OUTPUTS).float().cpu().numpy()
        return flat[: len(codes) - 2 * context]

    @property
    def networks(self) -> list[CharacterNetwork]:
        """Its network, or those of its ensemble."""
        network = self.network
        return network.members if isinstance(network, NetworkEnsemble) else [network]

    def save(self, folder: Path, *, half: bool = False) -> None:
        """Write the segmenter into a folder, which may be that of a parser.

        With `half`, the weights are stored in half precision.
        """
        classes = [[int(before), int(after)] for before, after in np.argwhere(self.joins)]
        settings = {
            "format": _FORMAT,
            "config": self.config.to_dict(),
            "networks": len(self.networks),
            "characters": self.alphabet.characters,
            "spaces_inside": classes,
            "multiwords": self.splitter.to_dict(),
        }
        data = (json.dumps(settings, ensure_ascii=False, indent=1) + "\n").encode()
        # Should only the first of the two be written, `load` must not take it with an old second.
        metadata = {"format": _FORMAT, _SETTINGS_DIGEST: hashlib.sha256(data).hexdigest()}
        weights = self.network.state_dict()
        if half:
            weights = {name: tensor.half() for name, tensor in weights.items()}
        try:
            with locked_folder(folder):
                save_tensors(folder / WEIGHTS, weights, metadata)
                replace_file(folder / SETTINGS, data)
        except LockedError as error:
            raise SegmentError(f"{folder}: {error}") from None

    @classmethod
    def load(cls, folder: Path, *, device: torch.device | str = "cpu") -> "Segmenter":
        """The segmenter of a folder."""
        path = folder / SETTINGS
        if not path.is_file():
            raise SegmentError(f"{folder}: there is no segmenter here: it has no {SETTINGS}")
        try:
            data = path.read_bytes()
            segmenter = cls._from_dict(parse_json(data))
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
            segmenter.network.load_state_dict(restored(weights), assign=True)
        except (StorageError, RuntimeError):  # torch lists what does not fit
            raise SegmentError(
                f"{folder / WEIGHTS}: damaged: these are not the weights that {SETTINGS} tells of"
            ) from None
        segmenter.network.to(device).eval()
        with torch.inference_mode():
            segmenter.network.pack()
        return segmenter

    @classmethod
    def _from_dict(cls, data: Any) -> "Segmenter":
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise SegmentError(f"not a file of this version of treecrf ({_FORMAT})")
        try:
            config = SegmenterConfig().changed(data["config"])
            alphabet = Alphabet(_characters(data["characters"]))
            joins = np.zeros((len(CharacterClass), len(CharacterClass)), np.bool_)
            for before, after in data["spaces_inside"]:
                if type(before) is not int or type(after) is not int:
                    raise SegmentError("classes of characters are whole numbers")
                if min(before, after) <= CharacterClass.LINE_BREAK:
                    raise SegmentError("a token has two spaces side by side")
                joins[CharacterClass(before), CharacterClass(after)] = True
            splitter = Splitter.from_dict(data["multiwords"])
            networks = data.get("networks", 1)  # older files do not have it
            if type(networks) is not int or not 1 <= networks <= _MOST_NETWORKS:
                raise SegmentError(f"networks is {networks!r:.60}: it is 1 to {_MOST_NETWORKS}")
        except (KeyError, TypeError, AttributeError) as error:
            raise SegmentError(f"something is missing or of the wrong kind ({error})") from None
        with blank_weights():  # `load` has them
            members = [CharacterNetwork(len(alphabet), config) for _ in range(networks)]
        return cls(
            config,
            NetworkEnsemble(members) if networks > 1 else members[0],
            alphabet=alphabet,
            splitter=splitter,
            joins=joins,
        )

    @classmethod
    def ensemble(cls, segmenters: Sequence["Segmenter"]) -> "Segmenter":
        """One segmenter whose scores are the means of those of several.

        These were trained on the same text with the same sizes, and different seeds.
        """
        if not segmenters:
            raise SegmentError("an ensemble has one segmenter at least")
        first = segmenters[0]
        networks = [network for segmenter in segmenters for network in segmenter.networks]
        shapes = [{k: v.shape for k, v in n.state_dict().items()} for n in networks]
        alphabets = [segmenter.alphabet.characters for segmenter in segmenters]
        windows = [(segmenter.config.window, segmenter.config.context) for segmenter in segmenters]
        same = (shapes.count(shapes[0]), alphabets.count(alphabets[0]), windows.count(windows[0]))
        if same != (len(shapes), len(alphabets), len(windows)):
            raise SegmentError("an ensemble has networks of one size, alphabet and window")
        return cls(
            first.config,
            NetworkEnsemble(networks),
            alphabet=first.alphabet,
            splitter=first.splitter,
            joins=first.joins,
        )


def _characters(value: object) -> list[str]:
    if not isinstance(value, list) or not all(
        isinstance(character, str) and len(character) == 1 for character in value
    ):
        raise SegmentError("the characters are not a list of single characters")
    if len(set(value)) < len(value):
        raise SegmentError("the characters have one of them twice")
    return value
