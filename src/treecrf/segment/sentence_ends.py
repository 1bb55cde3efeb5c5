"""A second opinion on sentence ends that the characters do not decide: by the encoder of a parser.

In `Thanks John` the characters hardly say whether a sentence ends after the first word. The states
of an encoder at both words say more. It reads only the text around such places.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from treecrf.segment.assembly import ScoredBlock, token_ends
from treecrf.segment.boundaries import BOUNDS, Bounds, long_sentence_stops
from treecrf.segment.characters import Joins
from treecrf.segment.multiwords import Splitter
from treecrf.segment.spaces import has_blank_line

__all__ = ["EndScorer", "Stretch", "WordReader", "find_stretches", "rescore"]

WordReader = Callable[[Sequence[Sequence[str]]], list[Tensor]]
"""States `[word, feature]` of the words of texts, each text read by itself."""

_UNSURE = 4.0  # log odds: from 2% to 98%
_LONGEST = Bounds(sentence=128, width=BOUNDS.width)  # tokens that are read at once


class EndScorer(nn.Module):
    """Log odds that a sentence ends between two words, from an encoder's states at both.

    They are a sum with a share of the log odds that the characters give.
    """

    def __init__(self, features: int, size: int) -> None:
        super().__init__()
        self.features, self.size = features, size
        self.hidden = nn.Linear(2 * features, size)
        self.output = nn.Linear(size, 1)
        self.share = nn.Parameter(torch.zeros(()))

    def forward(self, before: Tensor, after: Tensor, *, odds: Tensor) -> Tensor:
        """Log odds `[place]` from states `[place, feature]` and those of the characters `[place]`.

        `share` times `odds` is added to what the states give.
        """
        hidden = self.hidden(torch.cat((before, after), 1)).relu()
        scores: Tensor = self.output(hidden).squeeze(1) + self.share * odds
        return scores


@dataclass(frozen=True, slots=True)
class Stretch:
    """Words between two sure sentence ends, with places that may be ends as well."""

    words: list[str]
    after: list[int]  # counts of words before these places
    places: list[int]  # last characters before them, in the block


def find_stretches(
    scored: ScoredBlock, *, splitter: Splitter, joins: Joins, unsure: float = _UNSURE
) -> Iterator[Stretch]:
    """The stretches of a block that have a place to decide.

    At line breaks none is decided: an encoder of words does not see the layout.
    """
    block, scores = scored
    space, flags = token_ends(block, scores, joins=joins)
    characters = np.flatnonzero(~space[:-1])
    last = flags[characters]
    starts = characters[np.append(True, last)[: len(characters)]]
    ends = characters[last]
    odds = scores[ends, 1]
    if not np.any(np.abs(odds) < unsure):
        return
    edges = zip(ends, [*starts[1 : len(ends)], len(block.text)], strict=True)
    spaces = [block.text[end + 1 : start] for end, start in edges]
    asked = np.array([len(f"{s}.".splitlines()) == 1 for s in spaces]) & (np.abs(odds) < unsure)
    sure = np.array([has_blank_line(s) for s in spaces]) | (odds >= unsure)
    sure[-1] = True
    tokens = starts.tolist(), odds.tolist()
    first = 0
    for stop in (np.flatnonzero(sure) + 1).tolist():
        cuts = long_sentence_stops(*tokens, first=first, stop=stop, bounds=_LONGEST)
        for cut in (*cuts, stop):
            if asked[first : cut - 1].any():
                words: list[str] = []
                counts: list[int] = []
                for start, end in zip(starts[first:cut], ends[first:cut], strict=True):
                    form = block.text[start : end + 1]
                    words += splitter.split(form) if scores[end, 2] > 0 else (form,)
                    counts.append(len(words))
                inside = np.flatnonzero(asked[first : cut - 1])
                places = ends[first + inside].tolist()
                yield Stretch(words, [counts[token] for token in inside], places)
            first = cut


def rescore(
    blocks: Sequence[ScoredBlock],
    scorer: EndScorer,
    *,
    read: WordReader,
    splitter: Splitter,
    joins: Joins,
) -> None:
    """Replace the scores of unsure sentence ends by those of the second opinion."""
    found = [
        (scores, stretch)
        for block, scores in blocks
        for stretch in find_stretches((block, scores), splitter=splitter, joins=joins)
    ]
    if not found:
        return
    odds = np.concatenate([scores[stretch.places, 1] for scores, stretch in found])
    with torch.inference_mode():
        states = read([stretch.words for _, stretch in found])
        before = [s[[n - 1 for n in one.after]] for s, (_, one) in zip(states, found, strict=True)]
        after = [s[one.after] for s, (_, one) in zip(states, found, strict=True)]
        given = torch.from_numpy(odds).to(states[0].device)
        decided = scorer(torch.cat(before), torch.cat(after), odds=given).float().cpu().numpy()
    first = 0
    for scores, stretch in found:
        stop = first + len(stretch.places)
        scores[stretch.places, 1] = decided[first:stop]
        first = stop
