"""Sentences made from the scores of characters, block by block."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from treecrf.segment.blocks import Block
from treecrf.segment.boundaries import (
    BOUNDS,
    Bounds,
    bounded_space,
    end_long_tokens,
    long_sentence_stops,
    with_certain_ends,
)
from treecrf.segment.characters import Joins, classes_of, is_space, may_join
from treecrf.segment.multiwords import Splitter
from treecrf.segment.spaces import has_blank_line, misc_of
from treecrf.treebank import Multiword, Sentence, Token
from treecrf.treebank.tokens import Offsets, joined_forms

__all__ = [
    "Assembly",
    "ScoredBlock",
    "ScoredText",
    "Scores",
    "assemble",
    "cut_scored",
    "join_sentences",
    "token_ends",
]

Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float32]
ScoredBlock: TypeAlias = tuple[Block, Scores]

_REST = "\t_" * 7 + "\t"  # what is between FORM and MISC


class Assembly:
    """Makes sentences of the blocks of a text; tokens wait until the space after them is known."""

    def __init__(
        self,
        *,
        splitter: Splitter,
        joins: Joins,
        new_paragraph: bool = True,
        bounds: Bounds = BOUNDS,
    ) -> None:
        self.splitter = splitter
        self.joins = joins
        self.bounds = bounds
        self.forms: list[str] = []
        self.starts: list[int] = []  # of tokens, in the text
        self.spaces: list[str] = []  # before tokens; one more than forms once the next has started
        self.scores: list[float] = []  # log odds that a sentence ends with the token
        self.multiwords: list[bool] = []
        self.held = ""  # the start of a token or of white space that goes on in the next block
        self.is_open = False  # whether it is a token
        self.new_text, self.new_paragraph = True, new_paragraph

    def add(self, block: Block, scores: Scores) -> Iterator[Sentence]:
        """The sentences that are complete with this block; scores are `[character, output]`."""
        places, last = self._find_ends(block, scores)
        starts = places[np.append(not self.is_open, last)[: len(places)]]
        stops = places[last] + 1
        edges = np.sort(np.concatenate((starts, stops))).tolist()
        pieces = [block.text[a:b] for a, b in pairwise([0, *edges, len(block.text)])]
        pieces[0] = self.held + pieces[0]
        self.held = pieces.pop()
        self.forms += pieces[not self.is_open :: 2]
        self.spaces += [bounded_space(s, self.bounds.space) for s in pieces[self.is_open :: 2]]
        self.starts += (starts + block.start).tolist()
        self.scores += scores[stops - 1, 1].tolist()
        self.multiwords += (scores[stops - 1, 2] > 0).tolist()
        if len(last):
            self.is_open = not last[-1]
        if not self.is_open:
            self.held = bounded_space(self.held, self.bounds.space)
        yield from self._take_sentences(final=False)

    def finish(self) -> Iterator[Sentence]:
        """The sentences that are left when there are no more blocks."""
        self.spaces.append(self.held)
        yield from self._take_sentences(final=True)

    def _find_ends(self, block: Block, scores: Scores) -> tuple[Places, Flags]:
        """The places of characters that are no white space, and whether a token ends with each."""
        length = len(block.text)
        space, ends = token_ends(block, scores, joins=self.joins)
        places = np.flatnonzero(~space[:length])
        last = ends[places]
        # A space inside a token may be the first character of the next block.
        held = len(self.held) if self.is_open else 0
        length += bool(space[length])
        end_long_tokens(places, last, length=length, longest=self.bounds.token, held=held)
        return places, last

    def _take_sentences(self, *, final: bool) -> Iterator[Sentence]:
        """Make sentences of the tokens that are here, and forget these."""
        first = 0
        for stop in self._stops(final=final):
            yield self._sentence(first, stop)
            first = stop
        for items in (self.forms, self.starts, self.spaces, self.scores, self.multiwords):
            del items[:first]

    def _stops(self, *, final: bool) -> Iterator[int]:
        """The ends of sentences, counted in tokens."""
        complete = min(len(self.forms), len(self.spaces) - 1)
        tokens = zip(range(1, complete + 1), self.scores, self.spaces[1:], strict=False)
        stops = [place for place, score, space in tokens if score > 0 or has_blank_line(space)]
        if final and complete and complete not in stops[-1:]:
            stops.append(complete)
        within = partial(long_sentence_stops, self.starts, self.scores, bounds=self.bounds)
        for first, stop in pairwise([0, *stops]):
            yield from within(first=first, stop=stop)
            yield stop
        yield from within(first=stops[-1] if stops else 0, stop=complete)

    def _sentence(self, first: int, stop: int) -> Sentence:
        spaces = self.spaces[first + 1 : stop + 1]
        lines: list[str] = []
        words: list[str] = []
        offsets: list[Offsets] = []  # of words
        text: list[str] = []
        before = self.spaces[first] if self.new_text else ""
        forms, starts = self.forms[first:stop], self.starts[first:stop]
        tokens = zip(forms, starts, spaces, self.multiwords[first:stop], strict=True)
        for form, start, space, multiword in tokens:
            text.append(form + " " if space else form)
            end = start + len(form)
            misc = f"{misc_of(space, before=before)}TokenRange={start}:{end}"
            before = ""
            number = len(words) + 1
            if multiword and len(parts := self.splitter.split(form)) > 1:
                lines.append(f"{number}-{len(words) + len(parts)}\t{form}{_REST}{misc}")
                lines += [f"{id}\t{part}{_REST}_" for id, part in enumerate(parts, number)]
                words += parts
                offsets += [(start, end)] * len(parts)
            else:
                lines.append(f"{number}\t{form}{_REST}{misc}")
                words.append(form)
                offsets.append((start, end))
        comments = ["# newpar"] if self.new_paragraph else []
        comments.append("# text = " + "".join(text).rstrip(" "))
        self.new_text, self.new_paragraph = False, has_blank_line(spaces[-1])
        return Sentence.from_lines("\n".join(lines), words, comments=comments, offsets=offsets)


def token_ends(block: Block, scores: Scores, *, joins: Joins) -> tuple[Flags, Flags]:
    """Flags of white space, one more than characters, and of token ends, whatever their length."""
    length = len(block.text)
    context = (len(block.codes) - length) // 2
    codes = block.codes[context : context + length + 2]
    classes = classes_of(codes)
    space = is_space(classes)
    before = block.codes[context % 2 : context]
    ends = with_certain_ends(codes, scores[:, 0] > 0, before=before)
    return space[:-1], ends | (space[1:-1] & ~may_join(classes, joins))


@dataclass(frozen=True, slots=True)
class ScoredText:
    """Whole sentences of a text: blocks of it, and what the network says of their characters."""

    blocks: list[ScoredBlock]
    new_paragraph: bool


def assemble(
    scored: ScoredText, *, splitter: Splitter, joins: Joins, bounds: Bounds = BOUNDS
) -> list[Sentence]:
    """The sentences of a piece: those that the text as a whole would have there."""
    assembly = Assembly(
        splitter=splitter, joins=joins, new_paragraph=scored.new_paragraph, bounds=bounds
    )
    sentences: list[Sentence] = []
    for block, scores in scored.blocks:
        sentences += assembly.add(block, scores)
    return [*sentences, *assembly.finish()]


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


def join_sentences(
    sentences: list[Sentence], *, start: int = 0, new_paragraph: bool = False
) -> Sentence:
    """One sentence of those that a line was cut into; the line starts there in the text."""
    tokens: list[Token] = []
    multiwords: list[Multiword] = []
    for sentence in sentences:
        before = len(tokens)
        for token in sentence.tokens:
            token.id += before
        for multiword in sentence.multiwords:
            multiword.first += before
            multiword.last += before
        tokens += sentence.tokens
        multiwords += sentence.multiwords
    moved: list[Token | Multiword] = [*tokens, *multiwords]
    for item in moved:
        _move(item, start)
    comments = ["# newpar"] if new_paragraph else []
    comments.append("# text = " + joined_forms(tokens, multiwords))
    return Sentence.from_tokens(tokens, multiwords=multiwords, comments=comments)


def _move(token: Token | Multiword, start: int) -> None:
    if token.start is None or token.end is None:
        return
    old = f"TokenRange={token.start}:{token.end}"
    token.start += start
    token.end += start
    token.misc = token.misc.replace(old, f"TokenRange={token.start}:{token.end}")
