"""Segmenters: a network, an alphabet and the multiword tokens of a treebank, put to work."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from treecrf.segment.assembly import Assembly, CutText, ScoredBlock, Scores, sentences_of
from treecrf.segment.blocks import Block, cut_blocks, cut_windows
from treecrf.segment.characters import Alphabet, Codes, Joins, as_read, classes_of
from treecrf.segment.config import SegmenterConfig
from treecrf.segment.errors import SegmentError
from treecrf.segment.folder import FILES, Parts, has_segmenter, load_parts, save_parts
from treecrf.segment.lists import end_before_items
from treecrf.segment.multiwords import Splitter
from treecrf.segment.network import OUTPUTS, CharacterNetwork, NetworkEnsemble, step_size
from treecrf.segment.sentence_ends import EndScorer, WordReader, rescore
from treecrf.segment.shapes import keep_whole
from treecrf.threads import run_sized
from treecrf.treebank import Sentence

__all__ = ["FILES", "Segmenter", "has_segmenter"]

Result = TypeVar("Result")

_WINDOWS = 32  # that are read side by side
_GPU_WINDOWS = 512


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
        shapes: Sequence[str] = (),
    ) -> None:
        self.config = config
        self.network = network.eval()
        self.alphabet = alphabet
        self.splitter = splitter
        self.joins = joins  # between which classes of characters a token may have a space
        self.shapes = tuple(shapes)  # names of `SHAPES` that are tokens wherever they are
        self.end_scorer: EndScorer | None = None
        self.read_words: WordReader | None = None  # by the encoder that `end_scorer` is for

    def segment(self, text: str, *, start: int = 0) -> list[Sentence]:
        """The sentences of a text, without heads; see `segment_stream`."""
        return list(self.segment_stream([text], start=start))

    def segment_stream(self, pieces: Iterable[str], *, start: int = 0) -> Iterator[Sentence]:
        """The sentences of a text that comes in pieces, in bounded memory.

        How the text is cut into pieces makes no difference. `start` is the place of its first
        character, where it is a part of another text.
        """
        for cut in self.cut_stream(pieces, start=start):
            yield from sentences_of(cut, self.splitter)

    def cut_stream(self, pieces: Iterable[str], *, start: int = 0) -> Iterator[CutText]:
        """The places of the sentences that `segment_stream` makes."""
        assembly = self.assembly()
        for block, scores in self.score_stream(pieces, start=start):
            yield assembly.cut(block, scores)
        yield assembly.cut_rest()

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
            scores = self._run(partial(self._read, block.codes), windows=_WINDOWS)
            self._ask_again([(block, scores)])
            yield block, scores

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
        for group in self._groups(short):
            read = partial(self._read_each, [block.codes for _, block in group])
            scores = self._run(read, windows=len(group))
            self._ask_again([(b, s) for (_, b), s in zip(group, scores, strict=True)])
            for (place, block), of_block in zip(group, scores, strict=True):
                assembly = self.assembly()
                found[place] = [*assembly.add(block, of_block), *assembly.finish()]
        return found

    def _groups(self, blocks: list[tuple[int, Block]]) -> Iterator[list[tuple[int, Block]]]:
        """Cut a list of blocks into groups that the network reads at once."""
        group: list[tuple[int, Block]] = []
        most = _GPU_WINDOWS if self._on_gpu else 2 * _WINDOWS
        windows = 0
        for item in blocks:
            group.append(item)
            windows += 1 + len(item[1].text) // self.config.core
            if windows >= most:
                yield group
                group, windows = [], 0
        if group:
            yield group

    def _ask_again(self, blocks: list[ScoredBlock]) -> None:
        """Improve the scores of unsure sentence ends, where there is an encoder to ask."""
        if self.end_scorer is not None and self.read_words is not None:
            rescore(
                blocks,
                self.end_scorer,
                read=self.read_words,
                splitter=self.splitter,
                joins=self.joins,
            )

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
            self._with_rules(np.concatenate([next(inner) for _ in windows]), codes)
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
        return self._with_rules(scores.reshape(-1, OUTPUTS).float().cpu().numpy(), codes)

    def _with_rules(self, scores: Scores, codes: Codes) -> Scores:
        """The scores of the text of a block, changed where shapes or lists decide."""
        context = self.config.context
        scores = scores[: len(codes) - 2 * context]
        if self.shapes:
            keep_whole(scores, codes, names=self.shapes, context=context)
        end_before_items(scores, codes, context=context)
        return scores

    @property
    def networks(self) -> list[CharacterNetwork]:
        """Its network, or those of its ensemble."""
        network = self.network
        return network.members if isinstance(network, NetworkEnsemble) else [network]

    def save(self, folder: Path, *, half: bool = False) -> None:
        """Write the segmenter into a folder, which may be that of a parser.

        With `half`, the weights are stored in half precision.
        """
        parts = Parts(
            config=self.config,
            network=self.network,
            alphabet=self.alphabet,
            splitter=self.splitter,
            joins=self.joins,
            shapes=self.shapes,
            end_scorer=self.end_scorer,
        )
        save_parts(parts, folder, half=half)

    @classmethod
    def load(cls, folder: Path, *, device: torch.device | str = "cpu") -> "Segmenter":
        """The segmenter of a folder; it does without a second opinion on sentence ends."""
        parts = load_parts(folder)
        segmenter = cls(
            parts.config,
            parts.network.to(device),
            alphabet=parts.alphabet,
            splitter=parts.splitter,
            joins=parts.joins,
            shapes=parts.shapes,
        )
        if parts.end_scorer is not None:
            segmenter.end_scorer = parts.end_scorer.to(device).eval()
        with torch.inference_mode():
            segmenter.network.pack()
        return segmenter

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
            shapes=first.shapes,
        )
