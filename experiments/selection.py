"""Selection of what a simulated annotator annotates next: sentences or words."""

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from treecrf.parser import Parser
from treecrf.parser.constraints import NO_CONSTRAINTS, constraints_from
from treecrf.parser.decoding.sentences import Analysis
from treecrf.parser.files.pipeline import windows
from treecrf.treebank import Sentence, read_conllu, write_conllu
from treecrf.treebank.pseudoprojective import project

__all__ = ["Pool", "Strategy", "count_heads"]

Strategy = Literal["random sentences", "random words", "uncertain sentences", "uncertain words"]
"""Li et al. (2016) compare these."""

Annotated = dict[int, set[int]]
"""The words that have been annotated, by the place of their sentence in the pool."""

_NUMBER = re.compile(r"# number = (\d+)$")


class Pool:
    """The training part of a treebank, of which nothing is known until it is asked for.

    A sentence of which a part is annotated gives the heads of its lifted tree, because a partial
    tree cannot be lifted any more.
    """

    def __init__(self, path: Path) -> None:
        self.gold = list(read_conllu(path))
        self.lifted = [project(sentence) for sentence in self.gold]

    @property
    def heads(self) -> int:
        """Number of heads in the pool; a treebank may be partial itself."""
        return sum(len(self._words(place)) for place in range(len(self.gold)))

    def begin(self, sentences: int, *, seed: int) -> Annotated:
        """Draw whole sentences at random."""
        return {place: self._words(place) for place in self._shuffled(seed)[:sentences]}

    def extend(
        self,
        annotated: Annotated,
        heads: int,
        *,
        strategy: Strategy,
        parser: Parser | None,
        seed: int,
    ) -> Annotated:
        """Add at least `heads` heads, or all that are left; only uncertain ones need the parser."""
        chosen = {place: set(words) for place, words in annotated.items()}
        left = heads
        for place, words in self._ranked(annotated, strategy, parser, seed):
            if left <= 0:
                break
            known = chosen.setdefault(place, set())
            left -= len(words - known)
            known |= words
        return chosen

    def _ranked(
        self, annotated: Annotated, strategy: Strategy, parser: Parser | None, seed: int
    ) -> Iterator[tuple[int, set[int]]]:
        """Candidates, a sentence or a word each, the best first."""
        match strategy:
            case "random sentences":
                for place in self._shuffled(seed):
                    yield place, self._words(place)
            case "random words":
                words = [
                    (place, word) for place in range(len(self.gold)) for word in self._words(place)
                ]
                random.Random(f"words {seed}").shuffle(words)
                yield from ((place, {word}) for place, word in words)
            case "uncertain sentences":
                assert parser is not None
                entropies = {
                    place: analysis.entropy / len(self.gold[place])
                    for place, analysis in self._analyses(annotated, parser)
                    if place not in annotated and math.isfinite(analysis.entropy)  # not too long
                }
                for place in sorted(entropies, key=lambda place: -entropies[place]):
                    yield place, self._words(place)
            case "uncertain words":
                assert parser is not None
                probs = {
                    (place, word): prob
                    for place, analysis in self._analyses(annotated, parser)
                    for word, prob in enumerate(analysis.sentence.probs or [], 1)
                    if word in self._words(place) - annotated.get(place, set())
                }
                for place, word in sorted(probs, key=lambda item: probs[item]):
                    yield place, {word}

    def _analyses(self, annotated: Annotated, parser: Parser) -> Iterator[tuple[int, Analysis]]:
        """Analyse each sentence under the constraints of its annotated heads."""
        places = range(len(self.gold))
        for window in windows(places, size=lambda place: len(self.gold[place])):
            constraints = [
                constraints_from(self.partial(place, annotated[place]))
                if place in annotated
                else NO_CONSTRAINTS
                for place in window
            ]
            analyses = parser.analyse([self.gold[place] for place in window], constraints)
            yield from zip(window, analyses, strict=True)

    def _words(self, place: int) -> set[int]:
        heads = self.gold[place].heads
        return {word for word, head in enumerate(heads, 1) if head >= 0}

    def _shuffled(self, seed: int) -> list[int]:
        places = list(range(len(self.gold)))
        random.Random(f"sentences {seed}").shuffle(places)
        return places

    def partial(self, place: int, words: set[int]) -> Sentence:
        """A sentence with the heads of these words; the tree itself if that is all of them."""
        if words >= self._words(place):
            return self.gold[place].copy()
        sentence = self.lifted[place].copy()
        for token in sentence.tokens:
            if token.id not in words:
                token.head = -1
                token.deprel = token.deps = "_"
        return sentence

    def write(self, annotated: Mapping[int, set[int]], path: Path) -> None:
        """The annotated sentences as training takes them, each with its place in the pool."""
        sentences = []
        for place, words in sorted(annotated.items()):
            sentence = self.partial(place, words)
            sentence.comments.append(f"# number = {place}")
            sentences.append(sentence)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_conllu(sentences, path)

    @staticmethod
    def read(path: Path) -> Annotated:
        """Read a file of `write`."""
        annotated: Annotated = {}
        for sentence in read_conllu(path):
            match = _NUMBER.match(sentence.comments[-1])
            assert match is not None
            heads: Sequence[int] = sentence.heads
            annotated[int(match[1])] = {word for word, head in enumerate(heads, 1) if head >= 0}
        return annotated


def count_heads(annotated: Mapping[int, set[int]]) -> int:
    """Number of heads that were annotated."""
    return sum(map(len, annotated.values()))
