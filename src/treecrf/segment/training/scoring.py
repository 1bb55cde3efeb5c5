"""How well text is segmented: F1 of tokens, words and sentences, as CoNLL 2018 counts them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from treecrf.treebank import Score, Sentence
from treecrf.treebank.metrics.alignment import Text, align, check_same_text

__all__ = ["Gold", "SegmentationScores"]


@dataclass(frozen=True, slots=True)
class SegmentationScores:
    """What is found of tokens, words and sentences."""

    tokens: Score
    words: Score
    sentences: Score

    @property
    def mean(self) -> float:
        """The mean of the three F1."""
        return (self.tokens.f1 + self.words.f1 + self.sentences.f1) / 3


class Gold:
    """A reference that many segmentations of its text are held to."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.text = Text.of(map(_with_some_tree, sentences))

    def evaluate(self, sentences: Iterable[Sentence]) -> SegmentationScores:
        """The scores of sentences that have the same text."""
        system = Text.of(map(_with_some_tree, sentences))
        check_same_text(self.text, system)
        pairs = align(self.text.words, system.words)
        return SegmentationScores(
            tokens=_span_score(self.text.token_spans, system.token_spans),
            words=Score(len(pairs), len(self.text.words), len(system.words)),
            sentences=_span_score(self.text.sentence_spans, system.sentence_spans),
        )


def _with_some_tree(sentence: Sentence) -> Sentence:
    """The sentence with a chain for a tree: the alignment asks for one, and looks at no head."""
    words = len(sentence)
    return sentence.with_tree(range(words), ["_"] * words)


def _span_score(gold: list[tuple[int, int]], system: list[tuple[int, int]]) -> Score:
    return Score(len(set(gold) & set(system)), len(gold), len(system))
