"""What is right in one sentence: the counts that the metrics and the comparator add up."""

from operator import add
from typing import Literal, NamedTuple

from treecrf.treebank.scores import Score
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.trees import adjacent_siblings

__all__ = ["ScoredWord", "SentenceCounts", "Subtypes", "Totals", "count_sentence", "scored_words"]

Subtypes = Literal["keep", "cut"]

ROOT_DISTANCE = 0
NO_DISTANCE = -1


class ScoredWord(NamedTuple):
    """How a word was parsed; words alike in all of this need not be told apart."""

    gold_relation: str
    system_relation: str
    gold_distance: int
    """From dependent to head in words; 0 for the root, -1 where the system gives no head."""
    system_distance: int
    right_head: bool


class SentenceCounts(NamedTuple):
    """What there is to score in a sentence, and how much of it is right."""

    words: int
    right_heads: int
    right_relations: int
    right_arcs: int
    """Words with the right head and the right relation."""
    gold_siblings: int
    system_siblings: int
    right_siblings: int
    open_words: int
    """Words that would be scored if the reference had a head for them."""
    annotated: bool
    """Whether the reference has any head at all."""


def scored_words(
    gold: Sentence, system: Sentence, *, ignored: list[bool], subtypes: Subtypes
) -> list[ScoredWord]:
    """The words that the reference has a head for and that are not ignored."""
    rows = zip(
        gold.heads,
        system.heads,
        _relations(gold, subtypes),
        _relations(system, subtypes),
        ignored,
        strict=True,
    )
    return [
        ScoredWord(
            gold_relation,
            system_relation,
            _distance(word, gold_head),
            _distance(word, system_head),
            gold_head == system_head,
        )
        for word, (gold_head, system_head, gold_relation, system_relation, skip) in enumerate(
            rows, 1
        )
        if gold_head >= 0 and not skip
    ]


def count_sentence(
    gold: Sentence, system: Sentence, words: list[ScoredWord], *, ignored: list[bool]
) -> SentenceCounts:
    """The counts of a sentence whose scored words are these."""
    gold_siblings = _siblings(gold.heads, ignored)
    system_siblings = _siblings(system.heads, ignored)
    return SentenceCounts(
        words=len(words),
        right_heads=sum(word.right_head for word in words),
        right_relations=sum(word.gold_relation == word.system_relation for word in words),
        right_arcs=sum(
            word.right_head and word.gold_relation == word.system_relation for word in words
        ),
        gold_siblings=len(gold_siblings),
        system_siblings=len(system_siblings),
        right_siblings=len(gold_siblings & system_siblings),
        open_words=len(gold) - sum(ignored) - len(words),
        annotated=any(head >= 0 for head in gold.heads),
    )


def _relations(sentence: Sentence, subtypes: Subtypes) -> list[str]:
    if subtypes == "keep":
        return sentence.deprels
    if subtypes == "cut":
        return [relation.partition(":")[0] for relation in sentence.deprels]
    raise ValueError(f"subtypes is 'keep' or 'cut', not {subtypes!r}")


def _distance(word: int, head: int) -> int:
    if head <= 0:
        return ROOT_DISTANCE if head == 0 else NO_DISTANCE
    return abs(word - head)


def _siblings(heads: list[int], ignored: list[bool]) -> set[tuple[int, int, int]]:
    """The adjacent siblings of the tree without the ignored words: a comma hides no sibling."""
    kept = [-1 if skip else head for head, skip in zip(heads, ignored, strict=True)]
    return set(adjacent_siblings([0, *kept]))


class Totals:
    """The counts of several sentences, and the metrics that follow from them."""

    def __init__(self) -> None:
        self.sums = SentenceCounts(0, 0, 0, 0, 0, 0, 0, 0, False)
        self.sentences = 0
        self.matched = 0
        self.matched_with_relations = 0

    def add(self, counts: SentenceCounts) -> None:
        self.sums = SentenceCounts(*map(add, self.sums, counts))
        # A sentence without a head in the reference cannot be matched or missed.
        if counts.annotated:
            self.sentences += 1
            self.matched += counts.right_heads == counts.words
            self.matched_with_relations += counts.right_arcs == counts.words

    def scores(self) -> dict[str, Score]:
        """The metrics by name, without SIB where the reference is partial."""
        sums = self.sums
        scores = {
            "UAS": Score(sums.right_heads, sums.words, sums.words),
            "LAS": Score(sums.right_arcs, sums.words, sums.words),
            "LA": Score(sums.right_relations, sums.words, sums.words),
            "UCM": Score(self.matched, self.sentences, self.sentences),
            "LCM": Score(self.matched_with_relations, self.sentences, self.sentences),
        }
        if not sums.open_words:
            scores["SIB"] = Score(sums.right_siblings, sums.gold_siblings, sums.system_siblings)
        return scores
