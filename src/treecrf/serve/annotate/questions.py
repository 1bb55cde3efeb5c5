"""Questions to an annotator: the sentences, their order, and the words."""

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from treecrf.parser import Parser
from treecrf.parser.decoding.sentences import Analysis
from treecrf.parser.files.pipeline import windows
from treecrf.serve.annotate.decisions import Annotations
from treecrf.serve.annotate.store import SentenceStore
from treecrf.treebank import Sentence

__all__ = ["About", "Asking", "Order", "Queue", "collect", "make_queues"]

About: TypeAlias = Literal["heads", "relations", "both"]
Order: TypeAlias = Literal["entropy", "least-certain", "corpus"]


@dataclass(frozen=True, slots=True)
class Asking:
    """Words to ask about: those below a threshold, or a share of the least sure; one is None."""

    threshold: float | None = 0.8
    share: float | None = None
    about: About = "both"

    def words(self, probs: Sequence[float]) -> list[int]:
        """The numbers of such words, given how sure the parser is of each."""
        if self.share is None:
            assert self.threshold is not None
            return [word for word, prob in enumerate(probs, 1) if prob < self.threshold]
        count = math.ceil(self.share * len(probs))
        return sorted(sorted(range(1, len(probs) + 1), key=lambda word: probs[word - 1])[:count])

    def sureness(self, heads: Sequence[float], relations: Sequence[float]) -> list[float]:
        """Confidence in each word: that of its head or relation, or the smaller one for `both`."""
        if self.about == "both":
            return list(map(min, heads, relations))
        return list(heads if self.about == "heads" else relations)

    def questions(
        self, heads: Sequence[float], relations: Sequence[float]
    ) -> tuple[list[int], list[int]]:
        """Words whose head is asked about, and words whose relation is."""
        sureness = self.sureness(heads, relations)
        asked = self.words(sureness)

        def unsure(probs: Sequence[float]) -> list[int]:
            if self.threshold is not None:
                return [word for word in asked if probs[word - 1] < self.threshold]
            return [word for word in asked if probs[word - 1] == sureness[word - 1]]

        of_heads = [] if self.about == "relations" else unsure(heads)
        return of_heads, [] if self.about == "heads" else unsure(relations)

    def entropy(self, analysis: Analysis) -> float:
        """The entropy of what is asked about, in nats."""
        if self.about == "heads":
            return analysis.entropy
        assert analysis.relation_probs is not None
        probs = analysis.relation_probs.clip(1e-12, 1)
        relations = -float((probs * np.log(probs)).sum())
        return relations if self.about == "relations" else analysis.entropy + relations


@dataclass(frozen=True, slots=True)
class Queue:
    """The numbers of sentences in the order they are asked about, and those that are left out."""

    numbers: "array[int]"
    too_long: int
    sure: int  # without a word that is worth asking about


def collect(
    sentences: Iterable[Sentence], corpus: SentenceStore, annotations: Sequence[Annotations]
) -> Iterator[Sentence]:
    """Yield the sentences; add each to the corpus and check it against the annotations."""
    for sentence in sentences:
        number = corpus.add(sentence)
        for each in annotations:
            each.check(number, sentence)
        yield sentence
    for each in annotations:
        each.check_all_found()


def make_queues(
    sentences: Iterable[Sentence],
    parser: Parser,
    *,
    annotations: Sequence[Annotations],
    order: Order,
    asking: Asking,
    longest: int,
) -> list[Queue]:
    """Make the queue of each annotator, all of the same sentences.

    Those that the annotator has begun come first, then those that others have begun, then the most
    informative ones.
    """
    begun = list(dict.fromkeys(number for each in annotations for number in each))
    known = set(begun)
    numbers, scores = array("q"), array("d")
    too_long = sure = 0
    for window in windows(enumerate(sentences, 1), size=lambda pair: len(pair[1])):
        new = [pair for pair in window if pair[0] not in known]
        short = [pair for pair in new if len(pair[1]) <= longest]
        too_long += len(new) - len(short)
        if order == "corpus":
            numbers.extend(number for number, _ in short)
            scores.extend([0.0] * len(short))
            continue
        analyses = parser.analyse([sentence for _, sentence in short])
        for (number, _), analysis in zip(short, analyses, strict=True):
            sentence = analysis.sentence
            sureness = asking.sureness(sentence.probs or (), sentence.deprel_probs or ())
            if asking.words(sureness):
                numbers.append(number)
                # How much it teaches.
                scores.append(asking.entropy(analysis) if order == "entropy" else 1 - min(sureness))
            else:
                sure += 1
    ranked = sorted(range(len(numbers)), key=lambda place: -scores[place])
    rest = array("q", [numbers[place] for place in ranked])
    return [
        Queue(array("q", dict.fromkeys([*own, *begun])) + rest, too_long=too_long, sure=sure)
        for own in annotations
    ]
