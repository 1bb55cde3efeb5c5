"""A scored text in pieces of whole sentences, from which sentences can be made side by side."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from treecrf.segment.assembly import Assembly, Scores, token_ends
from treecrf.segment.blocks import Block
from treecrf.segment.corpus import Joins
from treecrf.segment.multiwords import Splitter
from treecrf.segment.spaces import has_blank_line
from treecrf.treebank import Sentence

__all__ = ["ScoredText", "assemble", "cut_scored"]

# Where so many times the wanted size has no end of a sentence, it is cut anywhere.
_MOST = 4


@dataclass(frozen=True, slots=True)
class ScoredText:
    """Whole sentences of a text, and what the network says of its characters."""

    block: Block
    scores: Scores
    new_text: bool
    new_paragraph: bool


def assemble(scored: ScoredText, *, splitter: Splitter, joins: Joins) -> list[Sentence]:
    """The sentences of a piece: those that the text as a whole would have there."""
    assembly = Assembly(
        splitter=splitter,
        joins=joins,
        new_text=scored.new_text,
        new_paragraph=scored.new_paragraph,
    )
    return [*assembly.add(scored.block, scored.scores), *assembly.finish()]


def cut_scored(
    blocks: Iterable[tuple[Block, Scores]], *, joins: Joins, size: int
) -> Iterator[ScoredText]:
    """The blocks of a text with their scores as pieces of about this many characters."""
    held: list[tuple[Block, Scores]] = []
    new_text = new_paragraph = True
    for item in blocks:
        held.append(item)
        length = sum(len(block.text) for block, _ in held)
        if length < size:
            continue
        block, scores = _joined(held)
        cut, blank = _last_end(block, scores, joins=joins)
        if not cut and length >= _MOST * size:
            cut = length
        held = [(block, scores)]
        if cut:
            first, rest = _split(block, cut)
            yield ScoredText(first, scores[:cut], new_text, new_paragraph)
            held = [(rest, scores[cut:])]
            new_text, new_paragraph = False, blank
    if held and (last := _joined(held))[0].text:
        yield ScoredText(*last, new_text, new_paragraph)


def _last_end(block: Block, scores: Scores, *, joins: Joins) -> tuple[int, bool]:
    """Where the last sentence starts that the block does not end, 0 for none; whether a blank line
    is before it.
    """
    space, ends = token_ends(block, scores, joins=joins)
    space = space[:-1]
    # The white space after an end belongs to it, so the next token must be there as well.
    after = np.append(space[1:], False)
    candidates = np.flatnonzero(~space & after & ends & (scores[:, 1] > 0))
    starts = np.flatnonzero(space[:-1] & ~space[1:]) + 1
    candidates = candidates[candidates < starts[-1]] if len(starts) else candidates[:0]
    if not len(candidates):
        return 0, False
    end = int(candidates[-1])
    cut = int(starts[np.searchsorted(starts, end, side="right")])
    return cut, has_blank_line(block.text[end + 1 : cut])


def _joined(held: list[tuple[Block, Scores]]) -> tuple[Block, Scores]:
    """Blocks that follow one another as one."""
    first, last = held[0][0], held[-1][0]
    context = (len(first.codes) - len(first.text)) // 2
    inner = [block.codes[context : context + len(block.text)] for block, _ in held]
    codes = np.concatenate([first.codes[:context], *inner, last.codes[len(last.text) + context :]])
    text = "".join(block.text for block, _ in held)
    return Block(text=text, start=first.start, codes=codes), np.concatenate([s for _, s in held])


def _split(block: Block, cut: int) -> tuple[Block, Block]:
    context = (len(block.codes) - len(block.text)) // 2
    first = Block(text=block.text[:cut], start=block.start, codes=block.codes[: cut + 2 * context])
    rest = Block(text=block.text[cut:], start=block.start + cut, codes=block.codes[cut:])
    return first, rest
