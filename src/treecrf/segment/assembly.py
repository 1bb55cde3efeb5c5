"""Sentences made from the scores of characters, block by block."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from treecrf.segment.blocks import Block
from treecrf.segment.boundaries import (
    bounded_space,
    end_long_tokens,
    long_sentence_stops,
    with_certain_ends,
)
from treecrf.segment.characters import Joins, classes_of, is_space, may_join
from treecrf.segment.multiwords import Splitter
from treecrf.segment.spaces import has_blank_line, misc_of
from treecrf.treebank import Sentence
from treecrf.treebank.tokens import Offsets

__all__ = ["Assembly", "Scores", "token_ends"]

Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float32]

_REST = "\t_" * 7 + "\t"  # what is between FORM and MISC


class Assembly:
    """Takes the blocks of one text with their scores, and gives its sentences.

    Tokens wait here until their sentence is complete and the white space after it is known.
    """

    def __init__(
        self,
        *,
        splitter: Splitter,
        joins: Joins,
        new_paragraph: bool = True,
    ) -> None:
        self.splitter = splitter
        self.joins = joins
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
        starts, stops = self._starts(places, last), places[last] + 1
        edges = np.sort(np.concatenate((starts, stops))).tolist()
        pieces = [block.text[a:b] for a, b in pairwise([0, *edges, len(block.text)])]
        pieces[0] = self.held + pieces[0]
        self.held = pieces.pop()
        self.forms += pieces[not self.is_open :: 2]
        self.spaces += map(bounded_space, pieces[self.is_open :: 2])
        self.starts += (starts + block.start).tolist()
        self.scores += scores[stops - 1, 1].tolist()
        self.multiwords += (scores[stops - 1, 2] > 0).tolist()
        if len(last):
            self.is_open = not last[-1]
        if not self.is_open:
            self.held = bounded_space(self.held)
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
        end_long_tokens(places, last, length=length + bool(space[length]), held=held)
        return places, last

    def _starts(self, places: Places, last: Flags) -> Places:
        """The places where tokens start: after the last character of another."""
        return places[np.append(not self.is_open, last)[: len(places)]]

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
        stops = [
            place
            for place, score, space in zip(
                range(1, complete + 1), self.scores, self.spaces[1:], strict=False
            )
            if score > 0 or has_blank_line(space)
        ]
        if final and complete and complete not in stops[-1:]:
            stops.append(complete)
        first = 0
        for stop in stops:
            yield from self._stops_between(first, stop)
            yield stop
            first = stop
        yield from self._stops_between(first, complete)  # of one that goes on

    def _stops_between(self, first: int, stop: int) -> Iterator[int]:
        return long_sentence_stops(self.starts, self.scores, first=first, stop=stop)

    def _sentence(self, first: int, stop: int) -> Sentence:
        spaces = self.spaces[first + 1 : stop + 1]
        lines: list[str] = []
        words: list[str] = []
        offsets: list[Offsets] = []  # of words
        text: list[str] = []
        before = self.spaces[first] if self.new_text else ""
        for form, start, space, multiword in zip(
            self.forms[first:stop],
            self.starts[first:stop],
            spaces,
            self.multiwords[first:stop],
            strict=True,
        ):
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
    """Whether each character and the next of the last is white space; whether a token ends with
    each, were it not for its length.
    """
    length = len(block.text)
    context = (len(block.codes) - length) // 2
    codes = block.codes[context : context + length + 2]
    classes = classes_of(codes)
    space = is_space(classes)
    before = block.codes[context % 2 : context]
    ends = with_certain_ends(codes, scores[:, 0] > 0, before=before)
    return space[:-1], ends | (space[1:-1] & ~may_join(classes, joins))
