"""Sentences made from the scores of characters, block by block."""

from collections.abc import Iterator
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
    "CutText",
    "ScoredBlock",
    "Scores",
    "join_sentences",
    "sentences_of",
    "token_ends",
]

Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float32]
ScoredBlock: TypeAlias = tuple[Block, Scores]

_NO_PLACES: Places = np.zeros(0, np.int64)
_REST = "\t_" * 7 + "\t"  # what is between FORM and MISC


@dataclass(frozen=True, slots=True)
class CutText:
    """Whole sentences of a text: the places of their tokens in a part of it."""

    text: str  # from the white space before the first token to the end of that after the last
    starts: Places  # [token + 1], the last one is the end of `text`
    stops: Places  # [token]
    places: Places  # [token], of their starts in the text as a whole
    multiwords: Flags  # [token]
    ends: list[int]  # [sentence], how many tokens come before its end
    new_paragraphs: list[bool]  # [sentence], whether it begins one
    new_text: bool  # whether the first sentence is that of the text


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
        self.new_text, self.new_paragraph = True, new_paragraph
        self.text = ""  # from the white space before the tokens that wait
        self.starts = self.stops = self.places = _NO_PLACES  # as in `CutText`; a token may be open
        self.scores: Scores = np.zeros(0, np.float32)  # log odds that a sentence ends there
        self.multiwords: Flags = np.zeros(0, np.bool_)

    @property
    def is_open(self) -> bool:
        """Whether the last token goes on in the next block."""
        return len(self.starts) > len(self.stops)

    def add(self, block: Block, scores: Scores) -> Iterator[Sentence]:
        """The sentences that are complete with this block; scores are `[character, output]`."""
        return sentences_of(self.cut(block, scores), self.splitter)

    def finish(self) -> Iterator[Sentence]:
        """The sentences that are left when there are no more blocks."""
        return sentences_of(self.cut_rest(), self.splitter)

    def cut(self, block: Block, scores: Scores) -> CutText:
        """The places of the sentences that are complete with this block."""
        places, last = self._find_ends(block, scores)
        starts = places[np.append(not self.is_open, last)[: len(places)]]
        ends = places[last]
        before = len(self.text)
        self.text += block.text
        self.starts = np.concatenate((self.starts, starts + before))
        self.stops = np.concatenate((self.stops, ends + (1 + before)))
        self.places = np.concatenate((self.places, starts + block.start))
        self.scores = np.concatenate((self.scores, scores[ends, 1]))
        self.multiwords = np.concatenate((self.multiwords, scores[ends, 2] > 0))
        self._shorten_spaces()
        return self._take(max(len(self.starts) - 1, 0), final=False)

    def cut_rest(self) -> CutText:
        """The places of the sentences that are left when there are no more blocks."""
        return self._take(len(self.stops), final=True)

    def _find_ends(self, block: Block, scores: Scores) -> tuple[Places, Flags]:
        """The places of characters that are no white space, and whether a token ends with each."""
        length = len(block.text)
        space, ends = token_ends(block, scores, joins=self.joins)
        places = np.flatnonzero(~space[:length])
        last = ends[places]
        # A space inside a token may be the first character of the next block.
        held = len(self.text) - int(self.starts[-1]) if self.is_open else 0
        length += bool(space[length])
        end_long_tokens(places, last, length=length, longest=self.bounds.token, held=held)
        return places, last

    def _shorten_spaces(self) -> None:
        """Remove the middle of long white space, around tokens that wait."""
        lefts = np.append(0, self.stops)
        rights = self.starts if self.is_open else np.append(self.starts, len(self.text))
        for number in np.flatnonzero(rights - lefts > self.bounds.space)[::-1].tolist():
            left, right = int(lefts[number]), int(rights[number])
            space = bounded_space(self.text[left:right], self.bounds.space)
            self.text = self.text[:left] + space + self.text[right:]
            self.starts[number:] -= right - left - len(space)
            self.stops[number:] -= right - left - len(space)

    def _take(self, complete: int, *, final: bool) -> CutText:
        """Take the sentences among the tokens that are complete; the other tokens wait."""
        starts = np.append(self.starts, len(self.text))[: complete + 1]
        blank = np.zeros(complete, np.bool_)  # whether a blank line follows
        for token in np.flatnonzero(starts[1:] - self.stops[:complete] > 1).tolist():
            blank[token] = has_blank_line(self.text[self.stops[token] : starts[token + 1]])
        sure = np.flatnonzero((self.scores[:complete] > 0) | blank) + 1
        ends = list(self._ends(sure.tolist(), complete=complete, final=final))
        count = ends[-1] if ends else 0
        after = [bool(blank[end - 1]) for end in ends]
        found = CutText(
            text=self.text[: starts[count]] if ends else "",
            starts=starts[: count + 1],
            stops=self.stops[:count],
            places=self.places[:count],
            multiwords=self.multiwords[:count],
            ends=ends,
            new_paragraphs=[self.new_paragraph, *after[:-1]][: len(ends)],
            new_text=self.new_text,
        )
        if ends:
            self.new_text, self.new_paragraph = False, after[-1]
            taken = int(self.stops[count - 1])
            self.text = self.text[taken:]
            self.starts, self.stops = self.starts[count:] - taken, self.stops[count:] - taken
            self.places, self.scores = self.places[count:], self.scores[count:]
            self.multiwords = self.multiwords[count:]
        return found

    def _ends(self, sure: list[int], *, complete: int, final: bool) -> Iterator[int]:
        """The ends of sentences, counted in tokens: those that are sure, and of long ones more."""
        if final and complete and complete not in sure[-1:]:
            sure = [*sure, complete]
        places, scores = self.places.tolist(), self.scores.tolist()
        within = partial(long_sentence_stops, places, scores, bounds=self.bounds)
        for first, stop in pairwise([0, *sure]):
            yield from within(first=first, stop=stop)
            yield stop
        yield from within(first=sure[-1] if sure else 0, stop=complete)


def sentences_of(cut: CutText, splitter: Splitter) -> Iterator[Sentence]:
    """The sentences of a text that was cut."""
    starts, stops, places = cut.starts.tolist(), cut.stops.tolist(), cut.places.tolist()
    multiwords = cut.multiwords.tolist()
    before = cut.text[: starts[0]] if cut.new_text and cut.ends else ""
    for first, stop, new in zip([0, *cut.ends], cut.ends, cut.new_paragraphs, strict=False):
        lines: list[str] = []
        words: list[str] = []
        offsets: list[Offsets] = []  # of words
        text: list[str] = []
        for token in range(first, stop):
            form = cut.text[starts[token] : stops[token]]
            space = cut.text[stops[token] : starts[token + 1]]
            text.append(form + " " if space else form)
            start, end = places[token], places[token] + len(form)
            misc = f"{misc_of(space, before=before)}TokenRange={start}:{end}"
            before = ""
            number = len(words) + 1
            if multiwords[token] and len(parts := splitter.split(form)) > 1:
                lines.append(f"{number}-{len(words) + len(parts)}\t{form}{_REST}{misc}")
                lines += [f"{id}\t{part}{_REST}_" for id, part in enumerate(parts, number)]
                words += parts
                offsets += [(start, end)] * len(parts)
            else:
                lines.append(f"{number}\t{form}{_REST}{misc}")
                words.append(form)
                offsets.append((start, end))
        comments = ["# newpar"] if new else []
        comments.append("# text = " + "".join(text).rstrip(" "))
        yield Sentence.from_lines("\n".join(lines), words, comments=comments, offsets=offsets)


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
