"""Which sentences to ask a person about, in which order, and which of their words."""

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from treecrf.parser import Parser
from treecrf.parser.files.pipeline import windows
from treecrf.serve.annotate.decisions import Annotations
from treecrf.serve.annotate.store import SentenceStore
from treecrf.treebank import Sentence

__all__ = ["Asking", "Order", "Queue", "collect", "make_queue"]

Order: TypeAlias = Literal["entropy", "least-certain", "corpus"]


@dataclass(frozen=True, slots=True)
class Asking:
    """Words to ask about: those below a threshold, or a share of the least sure; one is None."""

    threshold: float | None = 0.8
    share: float | None = None

    def words(self, probs: Sequence[float]) -> list[int]:
        """The numbers of such words, given how probable the head of each is."""
        if self.share is None:
            assert self.threshold is not None
            return [word for word, prob in enumerate(probs, 1) if prob < self.threshold]
        count = math.ceil(self.share * len(probs))
        return sorted(sorted(range(1, len(probs) + 1), key=lambda word: probs[word - 1])[:count])


@dataclass(frozen=True, slots=True)
class Queue:
    """The numbers of sentences in the order they are asked about, and those that are left out."""

    numbers: "array[int]"
    too_long: int
    sure: int  # without a word that is worth asking about


def collect(
    sentences: Iterable[Sentence], corpus: SentenceStore, annotations: Annotations
) -> Iterator[Sentence]:
    """The sentences, as they are put into the corpus and found to be those of the annotations."""
    for sentence in sentences:
        annotations.check(corpus.add(sentence), sentence)
        yield sentence
    annotations.check_all_found()


def make_queue(
    sentences: Iterable[Sentence],
    parser: Parser,
    *,
    annotations: Annotations,
    order: Order,
    asking: Asking,
    longest: int,
) -> Queue:
    """The queue of a corpus: sentences that were begun, then those that teach most."""
    numbers, scores = array("q"), array("d")
    too_long = sure = 0
    for window in windows(enumerate(sentences, 1), size=lambda pair: len(pair[1])):
        new = [pair for pair in window if pair[0] not in annotations]
        short = [pair for pair in new if len(pair[1]) <= longest]
        too_long += len(new) - len(short)
        if order == "corpus":
            numbers.extend(number for number, _ in short)
            scores.extend([0.0] * len(short))
            continue
        analyses = parser.analyse([sentence for _, sentence in short])
        for (number, _), analysis in zip(short, analyses, strict=True):
            probs = analysis.sentence.probs or []
            if asking.words(probs):
                numbers.append(number)
                # How much it teaches.
                scores.append(analysis.entropy if order == "entropy" else 1 - min(probs))
            else:
                sure += 1
    ranked = sorted(range(len(numbers)), key=lambda place: -scores[place])
    queue = array("q", [*annotations, *(numbers[place] for place in ranked)])
    return Queue(queue, too_long=too_long, sure=sure)
