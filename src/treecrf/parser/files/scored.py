"""Pieces of a raw text for workers: whole sentences, as the scores of characters cut them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from treecrf.segment.assembly import Assembly, CutText, ScoredBlock, token_ends
from treecrf.segment.blocks import Block
from treecrf.segment.boundaries import (
    BOUNDS,
    Bounds,
    bounded_space,
    end_long_tokens,
    long_sentence_stops,
)
from treecrf.segment.characters import Joins
from treecrf.segment.multiwords import Splitter
from treecrf.segment.spaces import has_blank_line

__all__ = ["ScoredText", "assemble", "cut_scored"]


@dataclass(frozen=True, slots=True)
class ScoredText:
    """Whole sentences of a text: blocks of it, and what the network says of their characters."""

    blocks: list[ScoredBlock]
    new_paragraph: bool


def assemble(
    scored: ScoredText, *, splitter: Splitter, joins: Joins, bounds: Bounds = BOUNDS
) -> Iterator[CutText]:
    """The sentences of a piece: those that the text as a whole would have there."""
    assembly = Assembly(
        splitter=splitter, joins=joins, new_paragraph=scored.new_paragraph, bounds=bounds
    )
    for block, scores in scored.blocks:
        yield assembly.cut(block, scores)
    yield assembly.cut_rest()


def cut_scored(
    blocks: Iterable[ScoredBlock], *, joins: Joins, size: int, bounds: Bounds = BOUNDS
) -> Iterator[ScoredText]:
    """The blocks of a text as pieces of about this many characters, or of one longer sentence."""
    held: list[ScoredBlock] = []
    new_paragraph = True
    for item in blocks:
        _append(held, item, bounds)
        if sum(len(block.text) for block, _ in held) < size:
            continue
        cut, blank = _last_start(held, joins=joins, bounds=bounds)
        if cut:
            first, held = _split(held, cut)
            yield ScoredText(first, new_paragraph)
            new_paragraph = blank
    if held:
        yield ScoredText(held, new_paragraph)


def _append(held: list[ScoredBlock], item: ScoredBlock, bounds: Bounds) -> None:
    """Hold one more block; of white space, which goes on in it, no more than will be kept."""
    block, scores = item
    if not (held and held[-1][0].text.isspace() and block.text.isspace()):
        held.append(item)
        return
    before = held[-1][0]
    text = bounded_space(before.text + block.text, bounds.space)
    around = len(block.codes) - len(block.text)
    codes = np.full(len(text) + around, ord(" "), np.uint32)  # nobody asks which space
    shape = len(text), scores.shape[1]
    held[-1] = Block(text=text, start=before.start, codes=codes), np.zeros(shape, np.float32)


def _last_start(held: list[ScoredBlock], *, joins: Joins, bounds: Bounds) -> tuple[int, bool]:
    """The start of the last sentence, 0 if it is the first; whether a blank line precedes it."""
    text = "".join(block.text for block, _ in held)
    found = [token_ends(block, scores, joins=joins) for block, scores in held]
    places = np.flatnonzero(~np.concatenate([space[:-1] for space, _ in found]))
    last = np.concatenate([ends for _, ends in found])[places]
    end_long_tokens(places, last, length=len(text), longest=bounds.token)
    starts, ends = places[np.append(True, last)[: len(places)]], places[last]
    scores = np.concatenate([scores[:, 1] for _, scores in held])[ends]
    for number in range(len(starts) - 1, 0, -1):
        blank = has_blank_line(text[ends[number - 1] + 1 : starts[number]])
        if blank or scores[number - 1] > 0:
            return int(starts[number]), blank
    in_text = np.concatenate([block.start + np.arange(len(block.text)) for block, _ in held])
    places, odds = in_text[starts].tolist(), scores.tolist()
    stops = long_sentence_stops(places, odds, first=0, stop=len(starts) - 1, bounds=bounds)
    *_, stop = 0, *stops
    return int(starts[stop]) if stop else 0, False


def _split(held: list[ScoredBlock], cut: int) -> tuple[list[ScoredBlock], list[ScoredBlock]]:
    first: list[ScoredBlock] = []
    rest: list[ScoredBlock] = []
    for block, scores in held:
        here = min(max(cut, 0), len(block.text))
        if here:
            first.append((_part(block, 0, here), scores[:here]))
        if here < len(block.text):
            rest.append((_part(block, here, len(block.text)), scores[here:]))
        cut -= len(block.text)
    return first, rest


def _part(block: Block, start: int, stop: int) -> Block:
    around = len(block.codes) - len(block.text)
    codes = block.codes[start : stop + around]
    return Block(text=block.text[start:stop], start=block.start + start, codes=codes)
